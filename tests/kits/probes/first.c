#include <referee/count_down.h>

static int take(referee_match* match, int left) {
    (void)match;
    return left % 4 ? left % 4 : 1;
}

static count_down_plan plan(referee_match* match, count_down_item_list items, bool flag, const char* name,
                           count_down_maybe_item_list_list grid, count_down_level level, const count_down_item* near) {
    (void)items, (void)flag, (void)name, (void)grid, (void)level, (void)near;
    return (count_down_plan){.moves = count_down_new_walk_list(match, 0)};
}

static const referee_value* say(referee_match* match, const referee_value* what) {
    (void)match;
    return what;
}

int main(void) {
    return count_down_run(&(count_down_bot){.name = "first", .take = take, .plan = plan, .say = say});
}
