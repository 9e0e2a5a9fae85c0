// The conversation between the referee and the rules of a game.

#include <referee/rules.hpp>

#include "server.hpp"

namespace referee::rules {

namespace {

class RulesServer : public Server {
   public:
    RulesServer(const std::string& game, const std::vector<std::string>& requests,
                const std::function<Json(const std::string&, const Json&)>& answer)
        : game_(game), requests_(requests), answer_(answer) {}

   private:
    Json answer(const std::string& method, Json& params) override {
        return method == "initialize" ? initialize(params) : answer_(method, params);
    }

    Json initialize(const Json& params) {
        if (params.value("rules", 1) != 1 || params.value("game", game_) != game_) {
            throw std::runtime_error("these are rules of " + game_ + ", version 1 of the protocol; asked for: " +
                                     params.dump());
        }
        agreed_ = choose(params);
        return {{"name", game_}, {"encoding", name(*agreed_)}, {"requests", requests_}};
    }

    const std::string& game_;
    const std::vector<std::string>& requests_;
    const std::function<Json(const std::string&, const Json&)>& answer_;
};

}  // namespace

int serve(const std::string& game, const std::vector<std::string>& requests,
          const std::function<Json(const std::string&, const Json&)>& answer) {
    return RulesServer(game, requests, answer).serve();
}

}  // namespace referee::rules
