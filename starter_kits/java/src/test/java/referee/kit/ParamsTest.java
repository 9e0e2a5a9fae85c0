package referee.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static referee.kit.aibg5.AIBG5Bot.EntityType.ASTEROID;
import static referee.kit.aibg5.AIBG5Bot.EntityType.BLACKHOLE;
import static referee.kit.aibg5.AIBG5Bot.EntityType.BOSS;
import static referee.kit.aibg5.AIBG5Bot.EntityType.WORMHOLE;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import referee.kit.aiarena21.AIArena21Bot;
import referee.kit.aibg5.AIBG5Bot;
import referee.kit.cardgame.CardGameBot;
import referee.kit.connectfour.ConnectFourBot;
import referee.kit.reantics.ReAnticsBot;
import referee.kit.tictactoe.TicTacToeBot;

/** What the games' types make of values from the wire, and of answers: records, pairs, unions, what may be absent. */
class ParamsTest {
    private static final ObjectMapper PLAIN = new ObjectMapper();

    /** Params as they come in this encoding. */
    private static Params params(Encoding encoding, String json) throws IOException {
        byte[] bytes = encoding.mapper.writeValueAsBytes(PLAIN.readTree(json));
        return new Params((ObjectNode) encoding.mapper.readTree(bytes));
    }

    private static Params params(String json) throws IOException {
        return params(Encoding.JSON, json);
    }

    private static void assertWritten(String json, Object answer) throws IOException {
        for (Encoding encoding : Encoding.values()) {
            JsonNode read = encoding.mapper.readTree(encoding.mapper.writeValueAsBytes(answer));
            assertEquals(json, read.toString(), encoding.wireName());
        }
    }

    @Test
    void aParameterIsNullIfItIsMissingOrNull() throws IOException {
        Params params = params("{\"id\":\"a\",\"message\":null}");
        assertEquals("a", params.get("id", String.class));
        assertNull(params.get("message", String.class));
        assertNull(params.get("newer", String.class));
        assertNull(params.list("newer", String.class));
        assertNull(params.get("newer", new TypeReference<List<String>>() {}));
    }

    @Test
    void aParameterOfAnotherTypeIsAnErrorInACall() throws IOException {
        Params params = params("{\"seat\":[]}");
        assertThrows(JsonMappingException.class, () -> params.get("seat", Integer.class));
    }

    @Test
    void theClockShowsNoLimitAsInfinite() throws IOException {
        Clock clock = Clock.of(PLAIN.readTree("{\"call_ms\":1000,\"remaining_ms\":null,\"newer\":1}"));
        assertEquals(1000, clock.callMs());
        assertEquals(Double.POSITIVE_INFINITY, clock.remainingMs());
        assertEquals(0, clock.lastMs());
        assertEquals(Double.POSITIVE_INFINITY, clock.answersLeft());
        assertEquals(40, Clock.of(PLAIN.readTree("{\"answers_left\":40}")).answersLeft());
        assertEquals(Double.POSITIVE_INFINITY, Clock.NONE.callMs());
    }

    @ParameterizedTest
    @EnumSource
    void aMatchKeepsAllBitsOfItsSeed(Encoding encoding) throws IOException {
        Match match = Match.of(params(encoding, """
            {"protocol":1,"game":"odd","seat":1,"names":["a","b"],"options":{"board":false,"rounds":40,"share":0.5},
            "limits":{"call_ms":null},"seed":18446744073709551615}"""));
        assertEquals("odd", match.game());
        assertEquals(1, match.seat());
        assertEquals(List.of("a", "b"), match.names());
        assertEquals(-1L, match.seed());
        Options options = match.options();
        assertEquals(List.of("board", "rounds", "share"), options.names());
        assertEquals(40, options.getInt("rounds"));
        assertEquals(false, options.get("board", Boolean.class));
        assertEquals(0.5, options.get("share", Double.class));
        assertThrows(IllegalArgumentException.class, () -> options.getInt("share"));
        assertThrows(IllegalArgumentException.class, () -> options.get("share", int[].class));
        assertThrows(NoSuchElementException.class, () -> options.getInt("turns"));
    }

    // ReAntics.

    @ParameterizedTest
    @EnumSource
    void theStateOfTheDocumentIsRead(Encoding encoding) throws IOException {
        var state = params(encoding, """
            {"currentState":{"phase":3,"whoseTurn":1,"newer":{},"inventories":[
            {"player":0,"foodCount":1,
             "ants":[{"id":2,"coords":[4,8],"type":1,"player":0,"health":4,"carrying":false,"hasMoved":false}],
             "constrs":[{"coords":[4,8],"type":-3,"player":0,"captureHealth":2,"movementCost":1}]},
            {"player":1,"foodCount":1,"ants":[],"constrs":[]},
            {"player":2,"foodCount":0,"ants":[],"constrs":[{"coords":[9,6],"type":-2,"movementCost":2}]}],
            "board":[[null,{"ant":2,"constr":-3},{"constr":-1}]]}}""").get("currentState", ReAnticsBot.GameState.class);
        var mine = state.inventories().get(0);
        var coord = new ReAnticsBot.Coord(4, 8);
        var worker = new ReAnticsBot.Ant(2, coord, ReAnticsBot.AntType.WORKER, 0, 4, false, false);
        assertEquals(List.of(worker), mine.ants());
        assertEquals(2, mine.constrs().get(0).captureHealth());
        assertNull(state.inventories().get(2).constrs().get(0).player()); // nobody's grass
        var column = state.board().get(0);
        assertNull(column.get(0));
        assertEquals(new ReAnticsBot.Cell(2, ReAnticsBot.ConstructionType.TUNNEL), column.get(1));
        assertEquals(new ReAnticsBot.Cell(null, ReAnticsBot.ConstructionType.FOOD), column.get(2));
    }

    @Test
    void coordinatesAreListsOnTheWireAndValuesInTheBot() throws IOException {
        Params params = params("{\"enemies\":[[3,9],[9,3],[3,9]]}");
        List<ReAnticsBot.Coord> tiles = params.list("enemies", ReAnticsBot.Coord.class);
        assertEquals(2, new HashSet<>(tiles).size());
        assertWritten("[[3,9],[9,3],[3,9]]", tiles);
    }

    @Test
    void movesAreWrittenAsTheDocumentShowsThem() throws IOException {
        var anthill = new ReAnticsBot.Coord(0, 3);
        var path = List.of(new ReAnticsBot.Coord(4, 1), new ReAnticsBot.Coord(4, 2));
        assertWritten("{\"moveType\":2}", new ReAnticsBot.Move(ReAnticsBot.MoveType.END));
        assertWritten("{\"moveType\":0,\"coordList\":[[4,1],[4,2]]}",
            new ReAnticsBot.Move(ReAnticsBot.MoveType.MOVE_ANT, path));
        assertWritten("{\"moveType\":1,\"coordList\":[[0,3]],\"buildType\":3}",
            new ReAnticsBot.Move(
                ReAnticsBot.MoveType.BUILD, List.of(anthill), ReAnticsBot.AntType.SOLDIER));
    }

    // Tic-tac-toe: an event shows what a rival sent.

    @ParameterizedTest
    @ValueSource(strings = {"null", "7", "1.0E300", "true", "\"SE\"", "[]", "{\"a\":[null]}"})
    void anEventMayShowAnything(String sent) throws IOException {
        String json = "{\"player\":\"X\",\"action\":" + sent + ",\"position\":" + sent + "}";
        for (Encoding encoding : Encoding.values()) {
            var event = params(encoding, json).event(TicTacToeBot.ArenaEvent.class);
            assertEquals(TicTacToeBot.Symbol.X, event.player());
            assertEquals(sent, PLAIN.writeValueAsString(event.action()));
            assertEquals(sent, PLAIN.writeValueAsString(event.position()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "5", "0.5", "true", "{}", "{\"a\":[1]}", "[]", "[\"X\"]", "null"})
    void aRivalsNonsenseInATextsPlaceIsNull(String sent) throws IOException {
        String json = "{\"winner\":" + sent + ",\"youAre\":" + sent + ",\"player\":\"X\",\"id\":" + sent + "}";
        var event = params(json).event(TicTacToeBot.ArenaEvent.class);
        assertEquals(new TicTacToeBot.ArenaEvent(null, null, TicTacToeBot.Symbol.X, null, null, null), event);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "", " ", "x", "Draw"})
    void aTextThatIsNoneOfTheOptionsIsNull(String sent) throws IOException {
        String json = PLAIN.writeValueAsString(Map.of("winner", sent, "youAre", sent, "id", sent));
        var event = params(json).event(TicTacToeBot.ArenaEvent.class);
        assertEquals(new TicTacToeBot.ArenaEvent(null, sent, null, null, null, null), event);
        assertNull(TicTacToeBot.Winner.of(sent));
        assertEquals(TicTacToeBot.Winner.DRAW, TicTacToeBot.Winner.of("draw"));
    }

    @Test
    void anOptionsPlaceInItsListIsNotItsValue() throws IOException {
        Params params = params("{\"phase\":0,\"column\":1}");
        assertThrows(JsonMappingException.class, () -> params.get("phase", ReAnticsBot.Phase.class));
        assertThrows(JsonMappingException.class, () -> params.get("column", ConnectFourBot.Column.class));
    }

    @Test
    void anAnswerLeavesOutWhatItDoesNotSay() throws IOException {
        assertWritten("{\"action\":\"putSymbol\",\"position\":\"SE\"}",
            new TicTacToeBot.Action(TicTacToeBot.ActionType.PUT_SYMBOL, TicTacToeBot.Cell.SE));
        assertWritten("{\"action\":\"(╯°□°)╯︵ ┻━┻\"}", new TicTacToeBot.Action(TicTacToeBot.ActionType.FLIP));
    }

    // Card game: unions, and records that are written as lists.

    @ParameterizedTest
    @EnumSource
    void aCardOrTargetIsOfTheKindThatItsTypeTells(Encoding encoding) throws IOException {
        var state = params(encoding, """
            {"state":{"player_hand":[{"type":"spell","id":9,"cost":4,"zone_position":1},
            {"type":"minion","id":4,"atk":1,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,
             "buffs":[],"turns_in_play":0,"zone_position":2,"cant_attack":false,"powered_up":false,"can_attack":false}],
            "player_target":[{"type":"hero","id":"HERO_05","health":28,"damaged":true,"dead":false,"zone_position":0},
            {"type":"minion","id":16,"atk":2,"health":1,"max_health":1,"damaged":false,"cost":1,"poisonous":false,
             "buffs":[{"id":7,"atk":1,"health":0,"charge":false}],"turns_in_play":1,"zone_position":1,
             "cant_attack":false,"powered_up":false,"can_attack":true}],
            "opponent_target":[
            {"type":"hero","id":"HERO_05","health":30,"damaged":false,"dead":false,"zone_position":0}],
            "hero_health":28,"player_health":28,"opponent_health":30,"player_mana":4,"opponent_mana":0,
            "n_opponent_hand":5}}""").get("state", CardGameBot.GameState.class);
        assertEquals(new CardGameBot.Spell("spell", CardGameBot.CardId.FIREBALL, 4, 1), state.player_hand().get(0));
        assertInstanceOf(CardGameBot.Minion.class, state.player_hand().get(1));
        assertEquals(28, assertInstanceOf(CardGameBot.Hero.class, state.player_target().get(0)).health());
        var minion = assertInstanceOf(CardGameBot.Minion.class, state.player_target().get(1));
        assertEquals(List.of(new CardGameBot.Buff(CardGameBot.CardId.TIMBER_WOLF, 1, 0, false)), minion.buffs());
    }

    @Test
    void anActionIsAListOfItsNumberAndItsArguments() throws IOException {
        assertWritten("[2,[3,0]]", new CardGameBot.Action(CardGameBot.ActionType.PLAY_SPELL, List.of(3, 0)));
        assertWritten("[4,null]", new CardGameBot.Action(CardGameBot.ActionType.END_TURN));
    }

    // AI Arena 21 and AIBG 5: lists of lists, real numbers, what may be null.

    @ParameterizedTest
    @EnumSource
    void realNumbersAndListsOfListsAreRead(Encoding encoding) throws IOException {
        Params params = params(encoding, """
            {"heatmap":[[0.25,1,0.1]],"new_items":[[[],["Strawberry"],[]]],
            "me":{"name":"a","score":7,"location":[0,2],"bike":true,"portal_gun":false}}""");
        assertEquals(List.of(List.of(0.25, 1.0, 0.1)),
            params.get("heatmap", new TypeReference<List<List<Double>>>() {}));
        assertEquals(List.of(List.of(List.of(), List.of(AIArena21Bot.Item.STRAWBERRY), List.of())),
            params.get("new_items", new TypeReference<List<List<List<AIArena21Bot.Item>>>>() {}));
        assertEquals(new AIArena21Bot.Player("a", 7, new AIArena21Bot.Location(0, 2), true, false),
            params.get("me", AIArena21Bot.Player.class));
    }

    @ParameterizedTest
    @EnumSource
    void anEntityHasOnlyTheMembersOfItsKind(Encoding encoding) throws IOException {
        Params params = params(encoding, """
            {"hole":{"type":"WORMHOLE","id":2},"rock":{"type":"ASTEROID","health":350},
            "boss":{"type":"BOSS","bossAction":true,"bossAttackedTiles":[
            {"q":1,"r":-2,"entity":{"type":"BLACKHOLE"},"tileType":"NORMAL"}]}}""");
        assertEquals(new AIBG5Bot.Entity(WORMHOLE, 2, null, null, null), params.get("hole", AIBG5Bot.Entity.class));
        assertEquals(new AIBG5Bot.Entity(ASTEROID, null, 350, null, null), params.get("rock", AIBG5Bot.Entity.class));
        var tile = new AIBG5Bot.AttackedTile(
            1, -2, new AIBG5Bot.Terrain(BLACKHOLE, null, null), AIBG5Bot.TileType.NORMAL);
        assertEquals(new AIBG5Bot.Entity(BOSS, null, null, true, List.of(tile)),
            params.get("boss", AIBG5Bot.Entity.class));
    }
}
