// Checks of the library that need no referee: `make check`.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
// cmocka wants the four above it first
#include <cmocka.h>
#include <msgpack/sbuffer.h>
#include <referee/reantics.h>

#include "encoding.h"

static referee_arena arena;
static referee_match match = {.call = &arena, .whole_match = &arena};

static int clear(void** state) {
    (void)state;
    referee_free_arena(&arena);
    return 0;
}

static referee_value parsed(const char* text) {
    int ends[2];
    referee_value value;
    referee_reader reader;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    assert_int_equal(write(ends[1], "\n", 1), 1);
    close(ends[1]);
    referee_open_reader(&reader, ends[0]);
    assert_int_equal(referee_next_frame(&reader, REFEREE_JSON, &arena, &value), REFEREE_FRAME);
    referee_close_reader(&reader);
    close(ends[0]);
    return value;
}

static const char* written(referee_value value) {
    msgpack_sbuffer bytes;
    msgpack_sbuffer_init(&bytes);
    referee_encode(&value, REFEREE_JSON, &arena, &bytes);
    char* text = referee_allocate(&match, bytes.size);
    memcpy(text, bytes.data, bytes.size - 1);
    msgpack_sbuffer_destroy(&bytes);
    return text;
}

static const char* EVERY_VALUE =
    "[null,true,false,1,-1,200,-100,60000,-30000,4000000000,-2000000000,9223372036854775807,-9223372036854775808,"
    "18446744073709551615,0.5,\"\",\"a text of more than thirty-one bytes\",\"\\u0000\",[],[1,2,3],{},"
    "{\"key\":{\"nested\":[1,[2,[3]]]}},[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]]";

// The frames come in pieces of `size` bytes through a pipe; all of them are there before the first is read, or after.
static void assert_frames_in_pieces(referee_encoding encoding, size_t size) {
    const referee_value value = parsed(EVERY_VALUE);
    msgpack_sbuffer bytes;
    msgpack_sbuffer_init(&bytes);
    for (int i = 0; i < 3; ++i) referee_encode(&value, encoding, &arena, &bytes);
    int ends[2];
    referee_reader reader;
    referee_open_reader(&reader, -1);
    size_t frames = 0;
    for (size_t at = 0; at < bytes.size; at += size) {
        const size_t count = bytes.size - at < size ? bytes.size - at : size;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], bytes.data + at, count), count);
        close(ends[1]);
        reader.fd = ends[0];
        for (referee_value frame; referee_next_frame(&reader, encoding, &arena, &frame) == REFEREE_FRAME; ++frames) {
            assert_string_equal(written(frame), EVERY_VALUE);
        }
        close(ends[0]);
    }
    assert_int_equal(frames, 3);
    referee_close_reader(&reader);
    msgpack_sbuffer_destroy(&bytes);
}

static void frames_are_cut_where_they_end_however_they_arrive(void** state) {
    (void)state;
    for (size_t size = 1; size < 2000; size = size * 3 + 1) {
        assert_frames_in_pieces(REFEREE_JSON, size);
        assert_frames_in_pieces(REFEREE_MSGPACK, size);
    }
}

static void bytes_that_are_no_frame_are_told(void** state) {
    (void)state;
    const struct {
        referee_encoding encoding;
        const char* bytes;
    } wrong[] = {{REFEREE_JSON, "{\"a\":\n"},
                 {REFEREE_JSON, "x\n"},
                 {REFEREE_MSGPACK, "\xc1"},
                 {REFEREE_MSGPACK, "\x81\x01\x02"},
                 {REFEREE_MSGPACK, "\xc4\x01x"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        int ends[2];
        referee_value frame;
        referee_reader reader;
        assert_int_equal(pipe(ends), 0);
        assert_true(write(ends[1], wrong[i].bytes, strlen(wrong[i].bytes)) > 0);
        close(ends[1]);
        referee_open_reader(&reader, ends[0]);
        assert_int_equal(referee_next_frame(&reader, wrong[i].encoding, &arena, &frame), REFEREE_NO_FRAME);
        referee_close_reader(&reader);
        close(ends[0]);
    }
}

static void what_json_cannot_hold_is_mended(void** state) {
    (void)state;
    referee_value value = referee_new_list();
    for (int i = 0; i < 3; ++i) {
        const double numbers[] = {NAN, INFINITY, 0.1};
        referee_append(&match, &value, referee_write_float(&match, &numbers[i]));
    }
    referee_append(&match, &value, referee_new_text("a\xff" "b"));
    referee_append(&match, &value, referee_new_text("\xed\xa0\x80"));  // half of a surrogate pair
    referee_append(&match, &value, referee_new_text("\xe2\x95"));      // cut short
    referee_append(&match, &value, referee_new_text("\xe2\x95\xaf\xf0\x9f\x98\x81"));
    assert_string_equal(written(value),
                        "[null,null,0.10000000000000001,\"a\xef\xbf\xbd" "b\","
                        "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"\xef\xbf\xbd\xef\xbf\xbd\",\"╯😁\"]");
    msgpack_sbuffer bytes;
    msgpack_sbuffer_init(&bytes);
    referee_encode(&value, REFEREE_MSGPACK, &arena, &bytes);
    assert_memory_equal(bytes.data, "\x97\xc0\xc0\xcb", 4);
    assert_memory_equal(bytes.data + 12, "\xa5" "a\xef\xbf\xbd" "b", 6);
    msgpack_sbuffer_destroy(&bytes);
}

static void lists_and_objects_grow(void** state) {
    (void)state;
    referee_value list = referee_new_list(), object = referee_new_object();
    for (int i = 0; i < 1000; ++i) {
        referee_append(&match, &list, referee_new_int(i));
        referee_put(&match, &object, i % 2 ? "odd" : "even", referee_new_int(i));
    }
    for (int i = 0; i < 1000; ++i) assert_int_equal(referee_item(&list, (size_t)i)->integer, i);
    assert_null(referee_item(&list, 1000));
    assert_int_equal(referee_member(&object, "odd")->integer, 999);  // the last counts
    assert_null(referee_member(&object, "neither"));
}

static void what_is_not_there_has_no_members_items_or_text(void** state) {
    (void)state;
    const referee_value number = referee_new_int(5);
    for (int i = 0; i < 2; ++i) {
        const referee_value* value = i == 0 ? NULL : &number;
        assert_null(referee_member(value, "x"));
        assert_null(referee_item(value, 0));
        assert_null(referee_text_of(value));
        assert_false(referee_is_text(value, "x"));
    }
    assert_false(referee_is_text(&(referee_value){REFEREE_VALUE_TEXT, 3, {.text = "x\0y"}}, "x"));
}

static void whole_numbers_that_do_not_fit_are_of_another_type(void** state) {
    (void)state;
    const referee_value list = parsed("[2147483647,2147483648,-2147483649,18446744073709551615,1.0,true,\"1\"]");
    int number;
    assert_true(referee_read_int(&match, referee_item(&list, 0), &number));
    assert_int_equal(number, 2147483647);
    for (size_t i = 1; i < list.count; ++i) assert_false(referee_read_int(&match, referee_item(&list, i), &number));
    double real;
    assert_true(referee_read_float(&match, referee_item(&list, 3), &real));
    assert_true(real == 18446744073709551615.0);
    assert_false(referee_read_float(&match, referee_item(&list, 5), &real));
}

static void coordinates_are_values(void** state) {
    (void)state;
    const reantics_coord a = {0, 1}, b = {1, 0};
    assert_true(reantics_equal_coord(a, (reantics_coord){0, 1}));
    assert_false(reantics_equal_coord(a, b));
    assert_true(reantics_compare_coord(&a, &b) < 0 && reantics_compare_coord(&b, &a) > 0 &&
                reantics_compare_coord(&a, &a) == 0);
    assert_int_equal(reantics_hash_coord(a), reantics_hash_coord((reantics_coord){0, 1}));
    assert_int_not_equal(reantics_hash_coord(a), reantics_hash_coord(b));
    assert_string_equal(written(reantics_write_coord(&match, &(reantics_coord){3, 9})), "[3,9]");
}

static void the_state_of_the_document_is_read(void** state) {
    (void)state;
    const referee_value json = parsed(
        "{\"phase\":3,\"whoseTurn\":1,\"newer\":{},\"inventories\":[{\"player\":0,\"foodCount\":1,\"ants\":[{\"id\":2,"
        "\"coords\":[4,8],\"type\":1,\"player\":0,\"health\":4,\"carrying\":false,\"hasMoved\":true}],\"constrs\":"
        "[{\"coords\":[4,8],\"type\":-3,\"player\":0,\"captureHealth\":2,\"movementCost\":1}]},"
        "{\"player\":1,\"foodCount\":1,\"ants\":[],\"constrs\":[]},{\"player\":2,\"foodCount\":0,\"ants\":[],"
        "\"constrs\":[{\"coords\":[9,6],\"type\":-2,\"movementCost\":2}]}],"
        "\"board\":[[null,{\"ant\":2,\"constr\":-3},{\"constr\":-1}]]}");
    reantics_game_state game;
    assert_true(reantics_read_game_state(&match, &json, &game));
    const reantics_inventory* inventories = game.inventories.items;
    assert_true(reantics_equal_coord(inventories[0].ants.items[0].coords, (reantics_coord){4, 8}));
    assert_true(inventories[0].ants.items[0].has_moved);
    assert_int_equal(inventories[0].constrs.items[0].capture_health.value, 2);
    assert_false(inventories[2].constrs.items[0].player.present);  // grass has no owner
    assert_int_equal(game.board.items[0].count, 3);
    assert_null(game.board.items[0].items[0]);  // an empty tile
    assert_int_equal(game.board.items[0].items[1]->ant.value, 2);
    assert_false(game.board.items[0].items[2]->ant.present);
    const referee_value two = parsed("{\"phase\":3,\"whoseTurn\":1,\"inventories\":[]}");
    assert_false(reantics_read_game_state(&match, &two, &game));
}

static void moves_are_written_as_the_document_shows_them(void** state) {
    (void)state;
    reantics_coord path[] = {{4, 1}, {4, 2}, {5, 2}}, hill[] = {{0, 3}};
    assert_string_equal(written(reantics_write_move(&match, &(reantics_move){.move_type = REANTICS_END})),
                        "{\"moveType\":2}");
    assert_string_equal(
        written(reantics_write_move(&match, &(reantics_move){REANTICS_MOVE_ANT, .coord_list = {path, 3}})),
        "{\"moveType\":0,\"coordList\":[[4,1],[4,2],[5,2]]}");
    assert_string_equal(
        written(reantics_write_move(&match, &(reantics_move){REANTICS_BUILD, .coord_list = {hill, 1},
                                                             .build_type = referee_some(REANTICS_SOLDIER)})),
        "{\"moveType\":1,\"coordList\":[[0,3]],\"buildType\":3}");
    const reantics_move empty = {REANTICS_MOVE_ANT, .coord_list = reantics_new_coord_list(&match, 0)};
    assert_string_equal(written(reantics_write_move(&match, &empty)), "{\"moveType\":0,\"coordList\":[]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_are_cut_where_they_end_however_they_arrive, clear),
        cmocka_unit_test_teardown(bytes_that_are_no_frame_are_told, clear),
        cmocka_unit_test_teardown(what_json_cannot_hold_is_mended, clear),
        cmocka_unit_test_teardown(lists_and_objects_grow, clear),
        cmocka_unit_test_teardown(what_is_not_there_has_no_members_items_or_text, clear),
        cmocka_unit_test_teardown(whole_numbers_that_do_not_fit_are_of_another_type, clear),
        cmocka_unit_test_teardown(coordinates_are_values, clear),
        cmocka_unit_test_teardown(the_state_of_the_document_is_read, clear),
        cmocka_unit_test_teardown(moves_are_written_as_the_document_shows_them, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
