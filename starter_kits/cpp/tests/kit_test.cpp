// Checks of the library that need no referee: `cmake --build build --target kit_test && build/kit_test`.
// The report is on standard error: a program that includes the library is a bot, whose standard output is the wire.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <future>
#include <referee/cardgame.hpp>
#include <referee/grid.hpp>
#include <referee/hexgrid.hpp>
#include <referee/reantics.hpp>
#include <referee/tictactoe.hpp>
#include <unordered_set>

#include "frames.hpp"

// As text: GoogleTest takes a Json for a container of itself, and would print it without end.
namespace nlohmann {
void PrintTo(const json& value, std::ostream* into) { *into << value.dump(); }
}  // namespace nlohmann

using namespace referee;

namespace {

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

// What a reader makes of a stream that arrives in pieces of `size` bytes: a divisor of its buffer, or the whole stream.
std::vector<Json> readInPieces(const std::string& stream, std::size_t size, Encoding encoding) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);  // a read gives one piece, and cuts what has no room
    auto reading = std::async(std::launch::async, [&] {
        const std::shared_ptr<void> closing(nullptr, [&](void*) { close(ends[0]); });
        std::vector<Json> frames;
        Reader reader(ends[0]);
        while (auto frame = reader.next(encoding)) frames.push_back(*frame);
        return frames;
    });
    for (std::size_t at = 0; at < stream.size(); at += size) write_all(ends[1], stream.substr(at, size));
    close(ends[1]);
    return reading.get();
}

TEST(Frames, AMessagePackFrameIsCutWhereItEnds) {
    for (const Json& value : EVERY_TYPE) {
        const auto bytes = Json::to_msgpack(Json{{"before", 1}, {"value", value}, {"after", 2}});
        auto joined = bytes;
        joined.insert(joined.end(), bytes.begin(), bytes.end());
        EXPECT_EQ(MessagePackCutter().cut(bytes.data(), bytes.size()), bytes.size());
        EXPECT_EQ(MessagePackCutter().cut(joined.data(), joined.size()), bytes.size()) << "the next frame is behind it";
        MessagePackCutter cutter;
        std::size_t size = 1;
        while (size < bytes.size() && cutter.cut(bytes.data(), size) == 0) ++size;
        EXPECT_EQ(size, bytes.size()) << "byte by byte";
        EXPECT_EQ(cutter.cut(bytes.data(), size), bytes.size()) << "byte by byte, the last one";
        EXPECT_EQ(cutter.cut(bytes.data(), bytes.size()), bytes.size()) << "a second frame with the same cutter";
    }
}

TEST(Frames, WhatJsonCannotSayIsCutTooWhereItEnds) {
    std::vector<unsigned char> foreign = {0x94, 0xd4, 1, 2, 0xc7, 2, 1, 0, 0, 0xc4, 3, 1, 2, 3, 0xd8, 1};
    foreign.insert(foreign.end(), 16, 0);  // the last one's bytes
    EXPECT_EQ(MessagePackCutter().cut(foreign.data(), foreign.size()), foreign.size());
    EXPECT_EQ(MessagePackCutter().cut(foreign.data(), foreign.size() - 1), 0u) << "one byte short";
}

TEST(Frames, AreReadHoweverTheirBytesArrive) {
    const std::vector<Json> frames = {{{"method", "one"}}, {{"text", std::string(300, 'x')}}, {{"list", {1, {2.5}}}}};
    for (const auto encoding : {Encoding::json, Encoding::msgpack}) {
        std::string stream;
        for (const auto& frame : frames) stream += encode(frame, encoding);
        for (const std::size_t size : {std::size_t{1}, std::size_t{16}, stream.size()}) {
            EXPECT_EQ(readInPieces(stream, size, encoding), frames) << size << " bytes at a time";
        }
    }
}

TEST(Frames, OneThatIsLongerThanTheBufferIsRead) {
    const Json large = {{"value", EVERY_TYPE}};
    for (const auto encoding : {Encoding::json, Encoding::msgpack}) {
        EXPECT_EQ(readInPieces(encode(large, encoding), 4096, encoding), std::vector<Json>{large});
    }
}

TEST(Frames, BlankLinesAndCarriageReturnsAreAccepted) {
    EXPECT_EQ(readInPieces("\n\r\n{\"a\":1}\r\n\n{\"b\":2}\n", 4, Encoding::json),
              (std::vector<Json>{{{"a", 1}}, {{"b", 2}}}));
}

TEST(Encodings, SayTheSame) {
    EXPECT_EQ(Json::parse(encode(EVERY_TYPE, Encoding::json)), EVERY_TYPE);
    EXPECT_EQ(Json::from_msgpack(encode(EVERY_TYPE, Encoding::msgpack)), EVERY_TYPE);
}

TEST(Encodings, BothMendBadTextAndWriteNaNAsNull) {
    const Json bad = {{"text", "a\xff" "b"}, {"number", std::nan("")}};
    const Json replaced = {{"text", "a\xef\xbf\xbd" "b"}, {"number", nullptr}};
    EXPECT_EQ(Json::parse(encode(bad, Encoding::json)), replaced);
    EXPECT_EQ(Json::from_msgpack(encode(bad, Encoding::msgpack)), replaced);
}

TEST(ReAntics, CoordinatesAreValues) {
    using reantics::Coord;
    EXPECT_EQ(Json(Coord{3, 9}), Json::parse("[3,9]"));
    EXPECT_EQ(Json::parse("[3,9]").get<Coord>(), (Coord{3, 9}));
    const std::unordered_set<Coord> set = {{0, 1}, {1, 0}, {0, 1}};
    EXPECT_EQ(set.size(), 2u);
}

TEST(ReAntics, TheStateOfTheDocumentIsRead) {
    const auto state = Json::parse(R"({"phase":3,"whoseTurn":1,"newer":{},"inventories":[
        {"player":0,"foodCount":1,
         "ants":[{"id":2,"coords":[4,8],"type":1,"player":0,"health":4,"carrying":false,"hasMoved":false}],
         "constrs":[{"coords":[4,8],"type":-3,"player":0,"captureHealth":2,"movementCost":1}]},
        {"player":1,"foodCount":1,"ants":[],"constrs":[]},
        {"player":2,"foodCount":0,"ants":[],"constrs":[{"coords":[9,6],"type":-2,"movementCost":2}]}],
        "board":[[null,{"ant":2,"constr":-3},{"constr":-1}]]})")
                           .get<reantics::GameState>();
    EXPECT_EQ(state.inventories[0].ants.at(0).coords, (reantics::Coord{4, 8}));
    EXPECT_EQ(state.inventories[0].constrs.at(0).captureHealth, 2);
    EXPECT_EQ(state.inventories[2].constrs.at(0).player, std::nullopt) << "grass has no owner";
    EXPECT_FALSE(state.board->at(0).at(0).has_value()) << "an empty tile";
    EXPECT_EQ(state.board->at(0).at(1)->ant, 2);
    EXPECT_EQ(state.board->at(0).at(2)->ant, std::nullopt) << "a tile without an ant";
}

TEST(ReAntics, TheBoardMayBeLeftOut) {
    const auto bare = Json::parse(R"({"phase":1,"whoseTurn":0,"inventories":[
        {"player":0,"foodCount":0,"ants":[],"constrs":[]},{"player":1,"foodCount":0,"ants":[],"constrs":[]},
        {"player":2,"foodCount":0,"ants":[],"constrs":[]}]})");
    EXPECT_FALSE(bare.get<reantics::GameState>().board.has_value());
}

TEST(ReAntics, MovesAreWrittenAsTheDocumentShowsThem) {
    using namespace reantics;
    EXPECT_EQ(Json(Move{MoveType::END}), Json::parse(R"({"moveType":2})"));
    EXPECT_EQ(Json(Move{MoveType::MOVE_ANT, {{{4, 1}, {4, 2}, {5, 2}}}}),
              Json::parse(R"({"moveType":0,"coordList":[[4,1],[4,2],[5,2]]})"));
    EXPECT_EQ(Json(Move{MoveType::BUILD, {{{0, 3}}}, AntType::SOLDIER}),
              Json::parse(R"({"moveType":1,"coordList":[[0,3]],"buildType":3})"));
}

TEST(TicTacToe, AnEventMayShowAnything) {
    using namespace tictactoe;
    const auto event = [](const char* text) { return Json::parse(text).get<ArenaEvent>(); };
    for (const char* sent : {"null", "7", "1e300", "\"SE\"", "[]", "{\"a\":[null]}"}) {
        const Json shown = {{"player", "X"}, {"action", Json::parse(sent)}, {"position", Json::parse(sent)}};
        EXPECT_EQ(shown.get<ArenaEvent>().action.json(), Json::parse(sent));
        EXPECT_EQ(shown.get<ArenaEvent>().position.json(), Json::parse(sent));
    }
    EXPECT_FALSE(event(R"({"player":"X"})").action.has_value()) << "absent is not null";
    EXPECT_EQ(event(R"({"player":"X","winner":5,"youAre":{},"id":[]})").winner, std::nullopt) << "a rival's nonsense";
    const auto flip = event(R"({"action":"(\u256f\u00b0\u25a1\u00b0)\u256f\ufe35 \u253b\u2501\u253b"})");
    EXPECT_EQ(flip.action.as<ActionType>(), ActionType::FLIP);
    EXPECT_EQ(event(R"({"action":"putsymbol"})").action.as<ActionType>(), std::nullopt);
}

TEST(TicTacToe, AnswersAreWrittenAsTheDocumentShowsThem) {
    using namespace tictactoe;
    EXPECT_EQ(Json(Action{ActionType::PUT_SYMBOL, Cell::SE}), Json::parse(R"({"action":"putSymbol","position":"SE"})"));
    EXPECT_EQ(Json(Action{ActionType::FLIP}), (Json{{"action", "(╯°□°)╯︵ ┻━┻"}}));
}

const char* const CARDGAME_STATE = R"({"player_hand":[{"type":"spell","id":9,"cost":4,"zone_position":1},
        {"type":"minion","id":4,"atk":1,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,"buffs":[],
         "turns_in_play":0,"zone_position":2,"cant_attack":false,"powered_up":false,"can_attack":false}],
        "player_target":[{"type":"hero","id":"HERO_05","health":28,"damaged":true,"dead":false,"zone_position":0},
        {"type":"minion","id":16,"atk":2,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,
         "buffs":[{"id":7,"atk":1,"health":0,"charge":false}],"turns_in_play":1,"zone_position":1,"cant_attack":false,
         "powered_up":false,"can_attack":true}],
        "opponent_target":[{"type":"hero","id":"HERO_05","health":30,"damaged":false,"dead":false,"zone_position":0}],
        "hero_health":28,"player_health":28,"opponent_health":30,"player_mana":4,"opponent_mana":0,
        "n_opponent_hand":5})";

TEST(CardGame, ACardOrTargetIsOfTheKindThatItsTypeTells) {
    using namespace cardgame;
    const auto state = Json::parse(CARDGAME_STATE).get<GameState>();
    ASSERT_TRUE(std::holds_alternative<Spell>(state.player_hand.at(0)));
    EXPECT_EQ(std::get<Spell>(state.player_hand[0]).id, CardId::FIREBALL);
    ASSERT_TRUE(std::holds_alternative<Minion>(state.player_hand.at(1)));
    EXPECT_EQ(std::get<Minion>(state.player_hand[1]).zone_position, 2);
    ASSERT_TRUE(std::holds_alternative<Hero>(state.player_target.at(0)));
    EXPECT_EQ(std::get<Hero>(state.player_target[0]).health, 28);
    EXPECT_EQ(std::get<Minion>(state.player_target.at(1)).buffs.at(0).id, CardId::TIMBER_WOLF);
}

TEST(CardGame, AnActionIsAListOfItsNumberAndItsArguments) {
    using namespace cardgame;
    EXPECT_EQ(Json(Action{ActionType::PLAY_SPELL, {{3, 0}}}), Json::parse("[2,[3,0]]"));
    EXPECT_EQ(Json(Action{ActionType::END_TURN}), Json::parse("[4,null]"));
}

// Tells what it was shown.
struct Witness : aiarena21::AIArena21Bot {
    using AIArena21Bot::AIArena21Bot;
    std::vector<std::vector<double>> heat;
    std::vector<std::vector<std::vector<aiarena21::Item>>> fresh;

    aiarena21::PowerUp play_powerup(const aiarena21::Map&, const aiarena21::Player&, const aiarena21::Player&,
                             const std::vector<std::vector<int>>&,
                             const std::vector<std::vector<std::vector<aiarena21::Item>>>& new_items,
                             const std::vector<std::vector<double>>& heatmap, int) override {
        heat = heatmap;
        fresh = new_items;
        return aiarena21::PowerUp::BIKE;
    }
    std::string play_turn(const aiarena21::Map&, const aiarena21::Player& me, const aiarena21::Player&,
                          const std::vector<std::vector<int>>&,
                          const std::vector<std::vector<std::vector<aiarena21::Item>>>&,
                          const std::vector<std::vector<double>>&, int) override {
        return aiarena21::name(me.location);
    }
    int play_auction(const aiarena21::Map&, const aiarena21::Player& me, const aiarena21::Player&,
                     const std::vector<std::vector<int>>&, const std::vector<std::vector<std::vector<aiarena21::Item>>>&,
                     const std::vector<std::vector<double>>&, int) override {
        return me.score;
    }
    std::string play_transport(const aiarena21::Map&, const aiarena21::Player&, const aiarena21::Player& opponent,
                               const std::vector<std::vector<int>>&,
                               const std::vector<std::vector<std::vector<aiarena21::Item>>>&,
                               const std::vector<std::vector<double>>&, int) override {
        return aiarena21::name(opponent.location);
    }
};

TEST(AIArena21, RealNumbersAndListsOfListsReachTheBot) {
    const auto params = Json::parse(R"({"game_map":{"rows":1,"cols":3,"cells":["S.S"]},
        "me":{"name":"a","score":7,"location":[0,0],"bike":false,"portal_gun":false},
        "opponent":{"name":"b","score":5,"location":[0,2],"bike":true,"portal_gun":false},
        "items":[[0,10,0]],"new_items":[[[],["Strawberry"],[]]],"heatmap":[[0.25,1,0.1]],"remaining_turns":199})");
    for (const auto encoding : {Encoding::json, Encoding::msgpack}) {
        Witness bot{Match()};
        const auto shown = readInPieces(encode(params, encoding), 512, encoding).at(0);
        EXPECT_EQ(bot.answer("play_powerup", shown), "bike");
        EXPECT_EQ(bot.heat, (std::vector<std::vector<double>>{{0.25, 1.0, 0.1}}));
        const std::vector<aiarena21::Item> strawberry = {aiarena21::Item::STRAWBERRY};
        EXPECT_EQ(bot.fresh, (std::vector<std::vector<std::vector<aiarena21::Item>>>{{{}, strawberry, {}}}));
        EXPECT_EQ(bot.answer("play_turn", shown), "0,0");
        EXPECT_EQ(bot.answer("play_auction", shown), 7);
        EXPECT_EQ(bot.answer("play_transport", shown), "0,2");
        EXPECT_THROW(bot.answer("play_dead", shown), UnknownMethod);
    }
}

TEST(AIArena21, TheGridKnowsWhereAPlayerMayGo) {
    using namespace aiarena21;
    const Grid grid({3, 4, {"S..#",
                            ".#.#",
                            ".#.S"}});
    EXPECT_EQ(grid.free.size(), 8u);
    EXPECT_FALSE(grid.isFree({1, 1}) || grid.isFree({-1, 0}) || grid.isFree({0, 4}));
    EXPECT_EQ(grid.neighbours({0, 0}), (std::vector<Location>{{0, 1}, {1, 0}}));
    EXPECT_EQ(grid.distances({{0, 0}})[2], (std::vector<int>{2, FAR, 4, 5}));
    EXPECT_EQ(grid.path({2, 0}, {0, 1}), (std::vector<Location>{{2, 0}, {1, 0}, {0, 0}, {0, 1}}));
    EXPECT_TRUE(Grid({1, 3, {"S#S"}}).path({0, 0}, {0, 2}).empty());
    Player player{"a", 0, {2, 0}, false, false};
    EXPECT_EQ(grid.reach(player), (std::vector<Location>{{1, 0}, {2, 0}}));
    player.bike = true;
    EXPECT_EQ(grid.reach(player), (std::vector<Location>{{0, 0}, {0, 1}, {1, 0}, {2, 0}}));
    player.portal_gun = true;
    EXPECT_EQ(grid.reach(player), grid.free);
}

TEST(AIBG5, ARatioIsARealNumberHoweverItIsWritten) {
    auto sent = Json::parse(R"({"type":"PLAYER","r":-7,"q":0,"playerIdx":1,"name":"a","health":1000,"power":150,
        "level":1,"kills":3,"deaths":4,"score":10,"trapped":false,"trapDuration":0,"kd":0.75})");
    EXPECT_EQ(sent.get<aibg5::Player>().kd, 0.75);
    sent["kd"] = 2;
    EXPECT_EQ(sent.get<aibg5::Player>().kd, 2.0);
}

TEST(AIBG5, AnEntityHasOnlyTheMembersOfItsKind) {
    using namespace aibg5;
    const auto entity = [](const char* text) { return Json::parse(text).get<Entity>(); };
    EXPECT_EQ(entity(R"({"type":"WORMHOLE","id":2})").id, 2);
    EXPECT_EQ(entity(R"({"type":"ASTEROID","health":350})").health, ASTEROID_HEALTH);
    EXPECT_EQ(entity(R"({"type":"EMPTY"})").health, std::nullopt);
    EXPECT_FALSE(entity(R"({"type":"EMPTY"})").bossAttackedTiles.has_value());
    const auto boss = entity(R"({"type":"BOSS","bossAction":true,"bossAttackedTiles":[
        {"q":1,"r":-2,"entity":{"type":"BLACKHOLE"},"tileType":"NORMAL"}]})");
    EXPECT_EQ(boss.bossAction, true);
    EXPECT_EQ(boss.bossAttackedTiles->at(0).entity.type, EntityType::BLACKHOLE);
}

TEST(AIBG5, TheHexagonsAreCountedAsTheyLie) {
    using namespace aibg5;
    EXPECT_EQ(CELLS.size(), 631u);
    EXPECT_EQ(CELLS.front(), (Cell{0, -14}));
    EXPECT_EQ(distance({0, -7}, {3, -5}), 5);
    EXPECT_EQ(neighbours(CENTRE), std::vector<Cell>(DIRECTIONS.begin(), DIRECTIONS.end()));
    EXPECT_EQ(neighbours({0, -14}).size(), 3u) << "a corner of the board";
    EXPECT_EQ(ring(0), std::vector<Cell>{CENTRE});
    EXPECT_EQ(ring(14).size(), 84u);
    EXPECT_EQ(Json(attack({-3, 12})), Json::parse(R"({"action":"attack,-3,12"})"));
}

TEST(AIBG5, ALineOfFireHoldsTheCellsBetween) {
    using namespace aibg5;
    EXPECT_EQ(lineOfFire(CENTRE, {3, 0}), (std::vector<Cell>{{1, 0}, {2, 0}}));
    EXPECT_EQ(lineOfFire(CENTRE, {1, 2}), (std::vector<Cell>{{0, 1}, {1, 1}}));
    EXPECT_EQ(lineOfFire(CENTRE, {-2, -1}), (std::vector<Cell>{{-1, 0}, {-1, -1}}));
    EXPECT_EQ(lineOfFire(CENTRE, {1, 0}), std::vector<Cell>{});
    const std::vector<std::pair<Cell, Cell>> betweenTwo = {{{1, 1}, {1, 0}},   {{-1, -1}, {0, -1}}, {{2, -1}, {1, 0}},
                                                           {{-2, 1}, {-1, 1}}, {{1, -2}, {1, -1}},  {{-1, 2}, {0, 1}}};
    for (const auto& [target, cell] : betweenTwo) EXPECT_EQ(lineOfFire(CENTRE, target), std::vector<Cell>{cell});
}

}  // namespace
