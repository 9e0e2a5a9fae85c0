// The bot that shows that the library keeps the wire's rules: it plays the pseudo-game "conformance", whose methods
// are the cases of protocol/vectors.

#include <iostream>
#include <utility>
#include <referee/json.hpp>

using referee::Json;

class Conformance : public referee::Bot {
   public:
    using Bot::Bot;

    static constexpr const char* game = "conformance";

    Json answer(const std::string& method, const Json& params) override {
        if (method == "echo") return params.at("value");
        if (method == "fail") throw std::runtime_error(params.at("message").get<std::string>());
        if (method == "print") {
            std::cout << params.at("text").get<std::string>() << std::endl;
            return nullptr;
        }
        if (method == "nothing") return nullptr;
        if (method == "notes") return std::exchange(notes_, Json::array());
        if (method == "clock") return given();
        return Bot::answer(method, params);
    }

    void notice(const std::string& method, const Json& params) override {
        if (method == "note") notes_.push_back(params.at("value"));
    }

   private:
    Json given() const {
        return {{"call_ms", clock.call_ms}, {"remaining_ms", clock.remaining_ms}, {"last_ms", clock.last_ms}};
    }

    Json notes_ = Json::array();
};

int main() { return referee::run<Conformance>("conformance"); }
