// Frames of the wire: bytes to JSON values and back.

#pragma once

#include <referee/json.hpp>

namespace referee {

enum class Encoding { json, msgpack };

// Cuts a stream of MessagePack values without decoding them: counts the values still to come, so that a frame that
// arrives in many pieces is looked at once.
class MessagePackCutter {
   public:
    // Looks at `data`, the bytes from the frame's start that are there. The frame's length, or 0: not all there yet.
    std::size_t cut(const unsigned char* data, std::size_t size) {
        while (values_ > 0 && at_ < size) {
            const unsigned char type = data[at_];
            std::uint64_t bytes = 0, inside = 0;
            if (type >= 0xc0 && type <= 0xdf) {
                const Head head = heads[type - 0xc0];
                if (size - at_ <= head.width) return 0;
                std::uint64_t length = 0;
                for (unsigned i = 1; i <= head.width; ++i) length = length << 8 | data[at_ + i];
                bytes = head.width + head.bytes + (head.inside == 0 ? length : 0);
                inside = head.inside * length;
            } else if (type >= 0xa0 && type < 0xc0) {
                bytes = type & 0x1f;
            } else if (type >= 0x90 && type < 0xa0) {
                inside = type & 0x0f;
            } else if (type >= 0x80 && type < 0x90) {
                inside = 2u * (type & 0x0f);
            }
            at_ += 1 + bytes;
            values_ += inside - 1;
        }
        if (values_ > 0 || at_ > size) return 0;
        const std::size_t length = at_;
        *this = MessagePackCutter();
        return length;
    }

   private:
    // What follows a type byte: a length of `width` bytes, `bytes` more, and per unit of length `inside` values
    // (1 array, 2 map) or, where that is 0, one byte each.
    struct Head {
        unsigned char width, bytes, inside;
    };
    static constexpr Head heads[32] = {
        {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0},             // c0 nil, c1 never used, c2 false, c3 true
        {1, 0, 0}, {2, 0, 0}, {4, 0, 0},                        // c4 bin
        {1, 1, 0}, {2, 1, 0}, {4, 1, 0},                        // c7 ext
        {0, 4, 0}, {0, 8, 0},                                   // ca float
        {0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0},             // cc uint
        {0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0},             // d0 int
        {0, 2, 0}, {0, 3, 0}, {0, 5, 0}, {0, 9, 0}, {0, 17, 0},  // d4 fixext
        {1, 0, 0}, {2, 0, 0}, {4, 0, 0},                        // d9 str
        {2, 0, 1}, {4, 0, 1},                                   // dc array
        {2, 0, 2}, {4, 0, 2},                                   // de map
    };
    std::size_t at_ = 0;
    std::uint64_t values_ = 1;
};

// The referee's messages, one frame at a time.
class Reader {
   public:
    explicit Reader(int fd) : fd_(fd), buffer_(1 << 16) {}

    // Waits for a frame. Empty at the end of the stream. Throws a Json::parse_error for bytes that are no frame.
    std::optional<Json> next(Encoding encoding);

   private:
    std::size_t cut(Encoding encoding);
    bool fill();

    int fd_;
    std::vector<unsigned char> buffer_;
    std::size_t start_ = 0, end_ = 0;  // the bytes not yet given out
    std::size_t seen_ = 0;  // how many of them hold no line feed
    MessagePackCutter cutter_;
};

// The bytes of a frame. Invalid UTF-8 is replaced, and a number that is none (NaN) becomes null, in both
// encodings.
std::string encode(const Json& frame, Encoding encoding);

// Writes a whole frame; false when the referee is gone.
bool write_all(int fd, const std::string& bytes);

}  // namespace referee
