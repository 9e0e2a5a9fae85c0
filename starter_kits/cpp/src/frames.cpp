#include "frames.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace referee {

std::optional<std::string> Anything::text() const {
    if (!value_ || !value_->is_string()) return std::nullopt;
    return value_->get<std::string>();
}

std::optional<Json> Reader::next(Encoding encoding) {
    for (;;) {
        if (const std::size_t length = cut(encoding)) {
            const char* frame = reinterpret_cast<const char*>(buffer_.data() + start_);
            start_ += length;
            if (encoding == Encoding::msgpack) return Json::from_msgpack(frame, frame + length);
            if (frame[0] == '\n' || frame[0] == '\r') continue;
            return Json::parse(frame, frame + length);
        }
        if (!fill()) return std::nullopt;
    }
}

// The length of the frame at `start_`, its line feed included; 0: not all there yet.
std::size_t Reader::cut(Encoding encoding) {
    const unsigned char* data = buffer_.data() + start_;
    const std::size_t size = end_ - start_;
    if (encoding == Encoding::msgpack) return cutter_.cut(data, size);
    const void* feed = std::memchr(data + seen_, '\n', size - seen_);
    seen_ = feed ? 0 : size;
    return feed ? static_cast<std::size_t>(static_cast<const unsigned char*>(feed) - data) + 1 : 0;
}

// Reads what is there, at least a byte; false at the end of the stream.
bool Reader::fill() {
    std::memmove(buffer_.data(), buffer_.data() + start_, end_ - start_);
    end_ -= start_;
    start_ = 0;
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    ssize_t count;
    do {
        count = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    } while (count < 0 && errno == EINTR);
    if (count > 0) end_ += static_cast<std::size_t>(count);
    return count > 0;
}

// nlohmann's MessagePack writer lets bad text and NaN through, so it is given what the JSON text says.
std::string encode(const Json& frame, Encoding encoding) {
    std::string text = frame.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (encoding == Encoding::json) return text + "\n";
    std::string bytes;
    Json::to_msgpack(Json::parse(text), bytes);
    return bytes;
}

bool write_all(int fd, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

}  // namespace referee
