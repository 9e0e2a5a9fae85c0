#include "frames.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
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

namespace {

void append(std::string& out, const std::string& text) {
    const bool plain = std::all_of(text.begin(), text.end(), [](char each) {
        return each >= ' ' && each <= '~' && each != '"' && each != '\\';
    });
    if (plain) {
        out.append(1, '"').append(text).append(1, '"');
    } else {
        out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
}

template <class Number>
void append_number(std::string& out, Number number) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Appends the text that nlohmann's own writer would, which calls a virtual function for every few characters.
void append(std::string& out, const Json& json) {
    const char* comma = "";
    switch (json.type()) {
        case Json::value_t::object:
            out += '{';
            for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
                append(out += comma, name);
                append(out += ':', value);
                comma = ",";
            }
            out += '}';
            break;
        case Json::value_t::array:
            out += '[';
            for (const auto& value : json.get_ref<const Json::array_t&>()) {
                append(out += comma, value);
                comma = ",";
            }
            out += ']';
            break;
        case Json::value_t::string:
            append(out, json.get_ref<const std::string&>());
            break;
        case Json::value_t::number_integer:
            append_number(out, json.get<std::int64_t>());
            break;
        case Json::value_t::number_unsigned:
            append_number(out, json.get<std::uint64_t>());
            break;
        default:
            out += json.dump();
    }
}

}  // namespace

// nlohmann's MessagePack writer lets bad text and NaN through, so it is given what the JSON text says.
std::string encode(const Json& frame, Encoding encoding) {
    std::string text;
    append(text, frame);
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
