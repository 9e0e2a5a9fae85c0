// Checks of the library that need no referee. Says what failed on standard error; the exit status counts it.

#include <iostream>
#include <referee/reantics.hpp>
#include <referee/tictactoe.hpp>
#include <unordered_set>

using namespace referee;

namespace {

int failures = 0;

template <class A, class B>
void equal(const char* rule, const A& got, const B& wanted) {
    if (got == wanted) return;
    ++failures;
    std::cout << rule << ": got " << Json(got) << ", wanted " << Json(wanted) << std::endl;
}

// One value of every MessagePack type that JSON can say, as one array.
const Json EVERY_TYPE = {nullptr,
                         true,
                         1,
                         -1,
                         200,
                         -100,
                         60000,
                         -30000,
                         4000000000u,
                         -2000000000,
                         9223372036854775807,
                         INT64_MIN,
                         18446744073709551615u,
                         0.1,
                         1.5,
                         "",
                         std::string(31, 'a'),
                         std::string(32, 'b'),
                         std::string(256, 'c'),
                         std::string(65536, 'd'),
                         Json::array(),
                         Json(std::vector<int>(15, 1)),
                         Json(std::vector<int>(16, 1)),
                         Json(std::vector<int>(65536, 1)),
                         Json::object(),
                         {{"key", {{"nested", {1, {2, {3}}}}}}}};

void aMessagePackFrameIsCutWhereItEnds() {
    for (const Json& value : EVERY_TYPE) {
        const auto bytes = Json::to_msgpack(Json{{"before", 1}, {"value", value}, {"after", 2}});
        auto joined = bytes;
        joined.insert(joined.end(), bytes.begin(), bytes.end());
        equal("whole", MessagePackCutter().cut(bytes.data(), bytes.size()), bytes.size());
        equal("with the next frame behind it", MessagePackCutter().cut(joined.data(), joined.size()), bytes.size());
        MessagePackCutter cutter;
        std::size_t size = 1;
        while (size < bytes.size() && cutter.cut(bytes.data(), size) == 0) ++size;
        equal("byte by byte", size, bytes.size());
        equal("byte by byte, the last one", cutter.cut(bytes.data(), size), bytes.size());
        equal("a second frame with the same cutter", cutter.cut(bytes.data(), bytes.size()), bytes.size());
    }
    std::vector<unsigned char> foreign = {0x94, 0xd4, 1, 2, 0xc7, 2, 1, 0, 0, 0xc4, 3, 1, 2, 3, 0xd8, 1};
    foreign.insert(foreign.end(), 16, 0);  // the last one's bytes
    equal("ext and bin", MessagePackCutter().cut(foreign.data(), foreign.size()), foreign.size());
    equal("ext, one byte short", MessagePackCutter().cut(foreign.data(), foreign.size() - 1), 0u);
}

void bothEncodingsSayTheSame() {
    equal("json", Json::parse(encode(EVERY_TYPE, Encoding::json)), EVERY_TYPE);
    equal("msgpack", Json::from_msgpack(encode(EVERY_TYPE, Encoding::msgpack)), EVERY_TYPE);
    const Json bad = {{"text", "a\xff" "b"}, {"number", std::nan("")}};
    const Json mended = {{"text", "a\xef\xbf\xbd" "b"}, {"number", nullptr}};
    equal("bad UTF-8 and NaN, json", Json::parse(encode(bad, Encoding::json)), mended);
    equal("bad UTF-8 and NaN, msgpack", Json::from_msgpack(encode(bad, Encoding::msgpack)), mended);
}

void coordinatesAreValues() {
    equal("as JSON", Json(Coord{3, 9}), Json::parse("[3,9]"));
    equal("from JSON", Json::parse("[3,9]").get<Coord>() == Coord{3, 9}, true);
    std::unordered_set<Coord> set = {{0, 1}, {1, 0}, {0, 1}};
    equal("hashed", set.size(), 2u);
}

void theStateOfTheDocumentIsRead() {
    const auto state = Json::parse(R"({"phase":3,"whoseTurn":1,"newer":{},"inventories":[
        {"player":0,"foodCount":1,
         "ants":[{"id":2,"coords":[4,8],"type":1,"player":0,"health":4,"carrying":false,"hasMoved":false}],
         "constrs":[{"coords":[4,8],"type":-3,"player":0,"captureHealth":2,"movementCost":1}]},
        {"player":1,"foodCount":1,"ants":[],"constrs":[]},
        {"player":2,"foodCount":0,"ants":[],"constrs":[{"coords":[9,6],"type":-2,"movementCost":2}]}],
        "board":[[null,{"ant":2,"constr":-3},{"constr":-1}]]})")
                           .get<reantics::GameState>();
    equal("ant", state.inventories[0].ants.at(0).coords == Coord{4, 8}, true);
    equal("building", state.inventories[0].constrs.at(0).captureHealth.value(), 2);
    equal("grass has no owner", state.inventories[2].constrs.at(0).player.has_value(), false);
    equal("an empty tile", state.board->at(0).at(0).has_value(), false);
    equal("a full tile", state.board->at(0).at(1)->ant.value(), 2);
    equal("a tile without an ant", state.board->at(0).at(2)->ant.has_value(), false);
    const auto bare = Json::parse(R"({"phase":1,"whoseTurn":0,"inventories":[
        {"player":0,"foodCount":0,"ants":[],"constrs":[]},{"player":1,"foodCount":0,"ants":[],"constrs":[]},
        {"player":2,"foodCount":0,"ants":[],"constrs":[]}]})");
    equal("board=false", bare.get<reantics::GameState>().board.has_value(), false);
}

void movesAreWrittenAsTheDocumentShowsThem() {
    using namespace reantics;
    equal("end", Json(Move{END}), Json::parse(R"({"moveType":2})"));
    equal("move", Json(Move{MOVE_ANT, {{{4, 1}, {4, 2}, {5, 2}}}}),
          Json::parse(R"({"moveType":0,"coordList":[[4,1],[4,2],[5,2]]})"));
    equal("build", Json(Move{BUILD, {{{0, 3}}}, SOLDIER}),
          Json::parse(R"({"moveType":1,"coordList":[[0,3]],"buildType":3})"));
}

void anEventMayShowAnything() {
    using namespace tictactoe;
    const auto event = [](const char* text) { return Json::parse(text).get<ArenaEvent>(); };
    for (const char* sent : {"null", "7", "1e300", "\"SE\"", "[]", "{\"a\":[null]}"}) {
        const Json shown = {{"player", "X"}, {"action", Json::parse(sent)}, {"position", Json::parse(sent)}};
        equal("action", *shown.get<ArenaEvent>().action, Json::parse(sent));
        equal("position", *shown.get<ArenaEvent>().position, Json::parse(sent));
    }
    equal("absent is not null", event(R"({"player":"X"})").action.has_value(), false);
    equal("a rival's nonsense", event(R"({"player":"X","winner":5,"youAre":{},"id":[]})").winner.has_value(), false);
    equal("a flip", *event(R"({"action":"(\u256f\u00b0\u25a1\u00b0)\u256f\ufe35 \u253b\u2501\u253b"})").action, FLIP);
    equal("an answer", Json(Action{"putSymbol", "SE"}), Json::parse(R"({"action":"putSymbol","position":"SE"})"));
    equal("a flip as answer", Json(Action{FLIP}), Json{{"action", "(╯°□°)╯︵ ┻━┻"}});
}

}  // namespace

int main() {
    aMessagePackFrameIsCutWhereItEnds();
    bothEncodingsSayTheSame();
    coordinatesAreValues();
    theStateOfTheDocumentIsRead();
    movesAreWrittenAsTheDocumentShowsThem();
    anEventMayShowAnything();
    return failures;
}
