// What bots and rules have in common: the loop that answers the referee.

#pragma once

#include "frames.hpp"

namespace referee {

// Answers the referee until it says `exit` or goes away.
class Server {
   public:
    // Takes the pipes: from here on, whatever is printed goes to standard error.
    Server();
    virtual ~Server() = default;

    // The exit status of the program.
    int serve();

   protected:
    virtual Json answer(const std::string& method, Json& params) = 0;
    virtual void notice(const std::string& /*method*/, const Json& /*params*/) {}

    // The first of the offered encodings that this kit speaks.
    static Encoding choose(const Json& params);
    static const char* name(Encoding encoding) { return encoding == Encoding::json ? "json" : "msgpack"; }

    std::optional<Encoding> agreed_;  // from the next frame on, as long as the process lives

   private:
    template <class Work>
    static Json attempt(Work work, const std::string& method);
    bool respond(const Json& id, Json frame);

    Reader reader_;
    Encoding encoding_ = Encoding::json;  // of the frame at hand: the first answer is still JSON
};

}  // namespace referee
