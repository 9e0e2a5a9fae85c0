// Where the viewer stands in a match, and what moves it. Views read the signals; keys and buttons call the functions.

import { batch, computed, effect, signal } from "@preact/signals";
import { type Painter, painter } from "./games";
import { type Live, type Match, wrongs } from "./match";
import type { Json } from "./patch";

/** Turns that were played before a match was held have come here by then. */
const UNDER_WAY_MS = 200;
const SPEEDS = [1, 2, 4, 8, 16, 32, 64];

/** What to pause at: a measure of the game's, of one seat. */
export interface Condition {
  measure: string;
  seat: number;
  sign: "at least" | "at most";
  value: number;
}

export class Player {
  private held: Match;
  /** What was captured at each step that was looked at. */
  private looked: string[][] = [];
  /** The turn to go to as soon as it has come. */
  private wanted = 0;
  readonly live = signal<Live | null>(null);
  /** What was clicked so far of an answer. */
  readonly chosen = signal<string[]>([]);
  /** Asks the server; only a page that has one can. */
  tell: (path: string, what: object) => void = () => undefined;
  readonly at = signal(0);
  readonly playing = signal(false);
  readonly speed = signal(2);
  /** Whose eyes: null = everything. */
  readonly seat = signal<number | null>(null);
  readonly conditions = signal<Condition[]>([]);
  /** The match is held after every turn and goes on when that was looked at: there is something to pause at. */
  readonly walks = signal(false);
  /** What all seats see, beside each other. */
  readonly beside = signal(false);
  readonly panel = signal<"call" | "events" | "calls">("call");
  /** The call panel shows the frame that was sent. */
  readonly sent = signal(false);
  readonly help = signal(false);
  /** How many steps there are so far; who looks at the match itself reads this too. */
  readonly count = signal(0);
  /** Grows with everything that comes. */
  readonly news = signal(0);
  /** The newest position is shown as it comes. */
  readonly following = signal(false);
  /** The server is not to be reached just now. */
  readonly lost = signal(false);
  /** What became of the last question, if it was not this page that answered; "" = nothing to tell. */
  readonly told = signal("");
  /** The match that is played now, where it is another one than this. */
  readonly elsewhere = signal<number | null>(null);
  /** The question that this page has answered. */
  private answered = 0;
  readonly step = computed(() => this.held.steps[this.at.value]!);

  constructor(match: Match) {
    this.held = match;
    effect(() => {
      if (!this.playing.value) return;
      const timer = setInterval(() => {
        if (this.at.value >= this.last) this.playing.value = false;
        else this.at.value += 1;
        if (this.isReached(this.at.value)) this.playing.value = false;
      }, 1000 / this.speed.value);
      return () => clearInterval(timer);
    });
  }

  /** The match so far. Who reads it is drawn again when there is more of it. */
  get match(): Match {
    void this.news.value;
    return this.held;
  }

  get last(): number {
    return Math.max(0, this.count.value - 1);
  }

  /** There is more of the match than before. */
  grown(): void {
    batch(() => {
      const before = this.count.peek();
      this.count.value = this.held.steps.length;
      this.news.value += 1;
      this.walk(Math.max(1, before));
      if (this.following.value) this.at.value = this.last;
      if (this.wanted > this.at.value) this.at.value = Math.min(this.last, this.wanted);
      if (this.held.closing) this.following.value = false;
    });
  }

  /** What can be counted in positions of this game. */
  get measures(): NonNullable<Painter["measures"]> {
    const { measures, scores, scoreName } = painter(this.match.about.game);
    return measures ?? (scores ? { [scoreName ?? "score"]: (view) => scores(view) ?? [] } : {});
  }

  /** A condition holds at a position that did not at the one before. */
  private isReached(at: number): boolean {
    return this.conditions.peek().some((condition) => this.holds(condition, at) && !this.holds(condition, at - 1));
  }

  private holds({ measure, seat, sign, value }: Condition, at: number): boolean {
    const step = this.match.steps[at];
    const found = step && step.view !== null && this.measures[measure]?.(step.view)[seat];
    return typeof found === "number" && (sign === "at least" ? found >= value : found <= value);
  }

  /** Looks at the steps from that one on, while it walks: holds the match where a condition holds, or has it go on. */
  private walk(from: number): void {
    if (!this.walks.peek() || from >= this.count.peek()) return;
    for (let at = from; at < this.count.peek(); at++) if (this.isReached(at)) return this.steer("pause");
    if (this.live.peek()?.paused) this.tell("/live", { do: "step" });
  }

  /** What to pause at from now on. A match that runs here begins to walk, and one that walks may run again. */
  pauseAt(conditions: Condition[]): void {
    this.conditions.value = conditions;
    const live = this.live.value;
    if (live && !live.over && (this.walks.value || !live.paused)) this.steer("play");
  }

  /** The same match, with more to see. */
  replace(match: Match): void {
    this.held = match;
    this.grown();
  }

  /** Holds the match that is played, or has it go on. */
  steer(what: "pause" | "play" | "step" | "stop"): void {
    const live = this.live.value;
    if (!live?.steers) return;
    this.walks.value = what === "play" && this.conditions.value.length > 0;
    if (!this.walks.value) return this.tell("/live", { do: what });
    if (live.paused) return this.tell("/live", { do: "step" });
    this.tell("/live", { do: "pause" });
    setTimeout(() => this.walks.value && this.tell("/live", { do: "step" }), UNDER_WAY_MS);
  }

  /** Whether the match stands still until somebody has it go on. */
  get stands(): boolean {
    return this.live.value?.paused === true && !this.walks.value;
  }

  /** Answers what a person is asked just now: an answer, or one that is drawn, or the last one taken back. */
  answer(what: { answer: Json } | { sample: true } | { undo: true } | { leave: true }): void {
    const choice = this.live.value?.choice;
    if (!choice || this.lost.value || this.answered === choice.number) return;
    this.answered = choice.number;
    this.chosen.value = [];
    this.told.value = "";
    this.tell(`/seats/${choice.seat}`, { ...what, number: choice.number });
  }

  /** The server has not taken what this page said: it may be said again. */
  refused(why: string): void {
    this.answered = 0;
    this.told.value = why;
  }

  /** The server tells how things stand at the table. */
  heard(live: Live): void {
    batch(() => {
      const before = this.live.value?.choice;
      const now = live.choice;
      if (before?.number !== now?.number) {
        this.chosen.value = [];
        const gone = before && (!now || now.seat === before.seat) && this.answered !== before.number;
        if (gone) this.told.value = "That question was answered on another page, or the match was ended.";
      }
      this.live.value = live;
    });
  }

  undo(): void {
    if (this.chosen.value.length > 0) this.chosen.value = [];
    else if (this.live.value?.choice?.drafted) this.answer({ undo: true });
  }

  /** To the newest position, and on with what comes. */
  newest(): void {
    this.playing.value = false;
    this.at.value = this.last;
    this.following.value = this.match.closing === undefined;
  }

  /** The steps at which somebody was at fault. */
  readonly faults = computed(() =>
    this.match.steps.slice(0, this.count.value).flatMap((_, at) => (wrongs(this.held, at).length > 0 ? [at] : [])),
  );

  /** The steps at which something was captured, and what. */
  readonly captures = computed(() => {
    const { captured } = painter(this.match.about.game);
    for (let at = this.looked.length; captured && at < this.count.value; at++) {
      const [before, step] = [this.held.steps[at - 1], this.held.steps[at]!];
      this.looked.push(before?.view && step.view ? captured(step.view, before.view) : []);
    }
    return this.looked.flatMap((words, at) => (words.length > 0 ? [{ at, words: words.join("; ") }] : []));
  });

  /** A seek stops what plays: nobody wants to run after what they looked for. */
  seek(at: number): void {
    this.playing.value = false;
    this.following.value = false;
    this.wanted = 0;
    this.at.value = Math.max(0, Math.min(this.last, Math.round(at)));
  }

  /** Goes to a turn that may still be on its way here. */
  await(at: number): void {
    this.seek(at);
    this.wanted = at;
  }

  move(steps: number): void {
    this.seek(this.at.value + steps);
  }

  toggle(): void {
    this.following.value = false;
    if (!this.playing.value && this.at.value >= this.last) this.at.value = 0;
    this.playing.value = !this.playing.value;
  }

  /** The next fault, or the one before; after the last comes the first: the fatal one is a step back from the start. */
  nextFault(back = false): void {
    const all = this.faults.value;
    const next = back
      ? (all.filter((at) => at < this.at.value).at(-1) ?? all.at(-1))
      : (all.find((at) => at > this.at.value) ?? all[0]);
    if (next !== undefined) this.seek(next);
  }

  /** The next step at which the seat that is looked at, or the one that answered here, answers again. */
  nextCall(): void {
    const seat = this.seat.value ?? Number(Object.keys(this.step.value.line.answers ?? {})[0] ?? 0);
    for (let at = this.at.value + 1; at <= this.last; at++) {
      const { answers, faults } = this.match.steps[at]!.line;
      if (seat in (answers ?? {}) || seat in (faults ?? {})) return this.seek(at);
    }
  }

  faster(by: number): void {
    const at = SPEEDS.indexOf(this.speed.value) + by;
    this.speed.value = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]!;
  }

  nextSeat(): void {
    const all = this.views;
    this.seat.value = all[(all.indexOf(this.seat.value) + 1) % all.length]!;
  }

  /** Whose views there are to look at; null = everything. */
  get views(): (number | null)[] {
    const { eyes, names } = this.match.about;
    return eyes ?? [null, ...(this.match.steps[0]?.seats ? names.keys() : [])];
  }
}
