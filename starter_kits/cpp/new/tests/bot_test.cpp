// The bot's own tests: `ctest --test-dir build`. Run as: bot_test BOT FRAMES.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

int failures = 0;

void check(bool holds, const std::string& rule) {
    if (holds) return;
    ++failures;
    std::cerr << "not so: " << rule << std::endl;
}

void itGreetsAndAnswersItsFirstCallAndEnds(const std::string& bot, const std::string& frames) {
    std::FILE* output = popen(("'" + bot + "' <'" + frames + "'").c_str(), "r");
    std::vector<nlohmann::json> answers;
    std::string line;
    for (int c; (c = std::fgetc(output)) != EOF;) {
        line += static_cast<char>(c);
        if (c != '\n') continue;
        answers.push_back(nlohmann::json::parse(line));
        line.clear();
    }
    check(pclose(output) == 0, "the bot ends with status 0");
    check(answers.size() == 2, "there are two answers");
    for (std::size_t id = 0; id < answers.size(); ++id) {
        check(answers[id]["id"] == id && answers[id].contains("result"), "a result: " + answers[id].dump());
    }
}

}  // namespace

int main(int, char** argv) {
    itGreetsAndAnswersItsFirstCallAndEnds(argv[1], argv[2]);
    return failures;
}
