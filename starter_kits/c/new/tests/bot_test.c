// The bot's own tests: `make check`.

#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
// cmocka wants the four above it first
#include <cmocka.h>
#include <json-c/json.h>

static void it_greets_and_answers_its_first_call_and_ends(void** state) {
    (void)state;
    char* line = NULL;
    size_t size = 0;
    int answers = 0;
    FILE* output = popen("build/bot <tests/first_call.jsonl", "r");
    assert_non_null(output);
    for (; getline(&line, &size, output) > 0; ++answers) {
        json_object *answer = json_tokener_parse(line), *id, *result;
        assert_true(json_object_object_get_ex(answer, "id", &id));
        assert_int_equal(json_object_get_int(id), answers);
        if (!json_object_object_get_ex(answer, "result", &result)) fail_msg("no result: %s", line);
        json_object_put(answer);
    }
    free(line);
    assert_int_equal(pclose(output), 0);
    assert_int_equal(answers, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_greets_and_answers_its_first_call_and_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
