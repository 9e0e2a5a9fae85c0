// What the instant bots share: frames found by their shape, without decoding, and answered with one write. They measure
// the referee, so they do no more than it takes, and rely on what only its frames promise: the members come in the
// order jsonrpc, id, method, params, and JSON has no spaces.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace instant {

using std::string_view;
using namespace std::literals;

// A frame's parts, as bytes of the encoding in force.
struct Frame {
    string_view id;  // empty: a notification
    string_view method;
    string_view rest;  // params, from behind the method's name
};

[[noreturn]] inline void fail(string_view what) {
    const std::string line = std::string(what) + "\n";
    [[maybe_unused]] const auto count = write(2, line.data(), line.size());
    std::exit(1);
}

// The length of the MessagePack value at the beginning of `data`; 0: not all there yet.
inline std::size_t length_of(string_view data) {
    std::size_t at = 0, values = 1;
    while (values > 0) {
        if (at >= data.size()) return 0;
        const auto type = static_cast<unsigned char>(data[at++]);
        --values;
        if (type < 0x80 || type >= 0xe0) continue;
        const auto number = [&](int width) {
            std::size_t value = 0;
            for (; width > 0 && at < data.size(); --width) value = value << 8 | static_cast<unsigned char>(data[at++]);
            return value;
        };
        if (type < 0x90) {
            values += 2u * (type & 15);
        } else if (type < 0xa0) {
            values += type & 15;
        } else if (type < 0xc0) {
            at += type & 31;
        } else {
            switch (type) {
                case 0xc0: case 0xc2: case 0xc3: break;
                case 0xcc: case 0xd0: at += 1; break;
                case 0xcd: case 0xd1: at += 2; break;
                case 0xca: case 0xce: case 0xd2: at += 4; break;
                case 0xcb: case 0xcf: case 0xd3: at += 8; break;
                case 0xd9: case 0xda: case 0xdb: {
                    const auto size = number(1 << (type - 0xd9));
                    at += size;
                    break;
                }
                case 0xdc: case 0xdd: values += number(2 << (type - 0xdc)); break;
                case 0xde: case 0xdf: values += 2 * number(2 << (type - 0xde)); break;
                default: fail("the referee never sends MessagePack of this type");
            }
        }
    }
    return at <= data.size() ? at : 0;
}

inline Frame json_frame(string_view line) {
    constexpr auto HEAD = R"({"jsonrpc":"2.0",)"sv, ID = R"("id":)"sv, METHOD = R"("method":")"sv;
    if (line.substr(0, HEAD.size()) != HEAD) fail("not a frame of the referee");
    line.remove_prefix(HEAD.size());
    Frame frame;
    if (line.substr(0, ID.size()) == ID) {
        line.remove_prefix(ID.size());
        frame.id = line.substr(0, line.find(','));
        line.remove_prefix(frame.id.size() + 1);
    }
    line.remove_prefix(METHOD.size());
    frame.method = line.substr(0, line.find('"'));
    frame.rest = line.substr(frame.method.size());
    return frame;
}

inline Frame msgpack_frame(string_view bytes) {
    constexpr auto HEAD = "\xa7jsonrpc\xa3" "2.0"sv, ID = "\xa2id"sv, METHOD = "\xa6method"sv;
    if (bytes.substr(1, HEAD.size()) != HEAD) fail("not a frame of the referee");
    bytes.remove_prefix(1 + HEAD.size());
    Frame frame;
    if (bytes.substr(0, ID.size()) == ID) {
        bytes.remove_prefix(ID.size());
        frame.id = bytes.substr(0, length_of(bytes.substr(0, 9)));
        bytes.remove_prefix(frame.id.size());
    }
    bytes.remove_prefix(METHOD.size());
    frame.method = bytes.substr(1, bytes[0] & 31);
    frame.rest = bytes.substr(1 + frame.method.size());
    return frame;
}

// Serves until the end of input. `bot.answer(frame, msgpack)` gives the encoded result of a call, `bot.notice(frame)`
// hears a notification, `bot.start()` begins a match.
template <class Bot>
int serve(Bot bot) {
    static char buffer[1 << 20];
    std::size_t start = 0, end = 0;
    bool msgpack = false, greeted = false;
    std::string out;
    for (;;) {
        const string_view data(buffer + start, end - start);
        std::size_t length;
        if (msgpack) {
            length = length_of(data);
        } else {
            const void* feed = std::memchr(data.data(), '\n', data.size());
            length = feed ? static_cast<std::size_t>(static_cast<const char*>(feed) - data.data()) + 1 : 0;
        }
        if (length == 0) {
            std::memmove(buffer, buffer + start, end - start);
            end -= start;
            start = 0;
            if (end == sizeof buffer) fail("a frame of more than 1 MiB");
            const auto count = read(0, buffer + end, sizeof buffer - end);
            if (count <= 0) return 0;
            end += static_cast<std::size_t>(count);
            continue;
        }
        start += length;
        const Frame frame = (msgpack ? msgpack_frame : json_frame)(data.substr(0, length));
        if (frame.id.empty()) {
            if (frame.method == "exit") return 0;
            bot.notice(frame);
            continue;
        }
        string_view result;
        bool chosen = msgpack;
        if (frame.method == "initialize") {
            bot.start();
            if (!greeted) chosen = frame.rest.find(R"("encodings":["msgpack")") != string_view::npos;
            greeted = true;
            if (msgpack) {
                result = "\x82\xa8" "encoding\xa7msgpack\xa5reuse\xc3";
            } else {
                result = chosen ? R"({"encoding":"msgpack","reuse":true})" : R"({"encoding":"json","reuse":true})";
            }
        } else {
            result = bot.answer(frame, msgpack);
        }
        if (msgpack) {
            out.assign("\x83\xa7jsonrpc\xa3" "2.0\xa2id").append(frame.id).append("\xa6result").append(result);
        } else {
            out.assign(R"({"jsonrpc":"2.0","id":)").append(frame.id).append(R"(,"result":)").append(result).append("}\n");
        }
        if (write(1, out.data(), out.size()) != static_cast<ssize_t>(out.size())) return 1;
        msgpack = chosen;
    }
}

}  // namespace instant
