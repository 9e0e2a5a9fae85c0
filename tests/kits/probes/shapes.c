#include <stdio.h>

#include <referee/shapes.h>

static shapes_answer play(referee_match* match, const shapes_state* state, double factor, const char* word,
                          const referee_value* thing, referee_maybe_int few, shapes_size size,
                          shapes_colour_list colours) {
    shapes_answer answer = {.at = state->here,
                            .goal = state->goal,
                            .note = word,
                            .thing = thing,
                            .few = few,
                            .rate = referee_some(SHAPES_RATE + SHAPES_RATES[1]),
                            .sure = referee_some(state->three.items[2] > SHAPES_SIZES[1])};
    if (size == SHAPES_LARGE) answer.size = (shapes_maybe_size){true, SHAPES_SMALL};
    if (colours.count) answer.paint = (shapes_maybe_colour){true, SHAPES_COLOUR_COUNT - 1 - colours.items[0]};
    answer.grid = shapes_new_float_list_list(match, state->grid.count);
    for (size_t i = 0; i < state->grid.count; ++i) {
        const shapes_float_list from = state->grid.items[i];
        shapes_float_list row = shapes_new_float_list(match, from.count);
        for (size_t j = 0; j < from.count; ++j) row.items[row.count++] = from.items[j] * factor;
        answer.grid.items[answer.grid.count++] = row;
    }
    answer.rich = state->own && state->own->kind == SHAPES_PIECE_BANK && state->own->bank.coins > 9;
    answer.far = shapes_new_place_list(match, state->pieces.count + 1);
    for (size_t i = 0; i < state->pieces.count; ++i) {
        const shapes_piece* piece = &state->pieces.items[i];
        if (piece->kind == SHAPES_PIECE_DOT) answer.far.items[answer.far.count++] = piece->dot.place;
    }
    if (state->holes.items && state->holes.items[0].items[0].present && !state->holes.items[0].items[1].present) {
        answer.far.items[answer.far.count++] = state->holes.items[0].items[0].value;
    }
    return answer;
}

static const shapes_order* choose(referee_match* match, shapes_place_list places) {
    shapes_order* order = referee_allocate(match, sizeof *order);
    if (places.count == 0) return NULL;
    if (places.count == 1) *order = (shapes_order){.kind = SHAPES_ORDER_WAIT};
    if (places.count > 1) *order = (shapes_order){.kind = SHAPES_ORDER_GO, .go = {places, .why = SHAPES_NAME}};
    return order;
}

static shapes_row list(referee_match* match, const shapes_pairing* pairing) {
    (void)match;
    return (shapes_row){pairing->first,
                        pairing->words.count ? pairing->words : (referee_text_list){NULL, 0},
                        {SHAPES_SIZE, SHAPES_NAMES_COUNT}};
}

static void heard(referee_match* match, const shapes_heard* heard) {
    (void)match;
    const shapes_piece* piece = heard->piece;
    printf("%s %d %g %d\n",
           !piece                          ? "-"
           : piece->kind == SHAPES_PIECE_DOT ? "dot"
           : piece->bank.open.present      ? "open"
                                           : "bank",
           heard->count.present ? heard->count.value : -1, heard->rate.present ? heard->rate.value : -1,
           heard->value ? (int)heard->value->kind : -1);
}

int main(void) {
    return shapes_run(&(shapes_bot){.name = "Shapes", .play = play, .choose = choose, .list = list, .heard = heard});
}
