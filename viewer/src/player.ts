// The viewer's position in a match, and how it moves. Views read the signals; keys and buttons call the functions.

import { batch, computed, effect, signal } from "@preact/signals";
import { painter } from "./games";
import { type Live, type Match, wrongs } from "./match";
import type { Json } from "./patch";
import { hits } from "./search";

/** Time for turns that were played before a pause to arrive. */
const UNDER_WAY_MS = 200;
/** How long a step on the board takes, at most, and the shortest that is worth seeing. */
const MOTION_MS = 420;
const LEAST_MOTION_MS = 80;
/** How long a position stays that shows nothing new. */
const QUIET_MS = 40;
/** How long a match may take from its opening frame on, if some speed allows it. */
const SHOW_S = 240;
/** The panels next to the board. */
export const PANELS = ["call", "events", "calls", "search"] as const;
export type Panel = (typeof PANELS)[number];
export const SPEEDS = [1, 2, 4, 8, 16, 32, 64];

/** A condition to pause at: a number of one seat. */
export interface Condition {
  measure: string;
  seat: number;
  sign: "at least" | "at most";
  value: number;
}

export class Player {
  private held: Match;
  /** The turn to go to once it has arrived. */
  private wanted = 0;
  readonly live = signal<Live | null>(null);
  /** The board fills the window, and nothing tells the result before it is reached. */
  readonly stage = signal(false);
  /** The opening frame, before anyone has pressed play. */
  readonly opening = signal(false);
  /** The end was shown. */
  readonly over = signal(false);
  /** The milliseconds in which the board may move into the shown position; 0 after a jump. */
  motion = 0;
  private was = 0;
  /** The clicks of an answer so far. */
  readonly chosen = signal<string[]>([]);
  /** Sends a request to the server, if the page has one. */
  tell: (path: string, what: object) => void = () => undefined;
  readonly at = signal(0);
  readonly playing = signal(false);
  readonly speed = signal(2);
  /** The seat whose view is shown; null for everything. */
  readonly seat = signal<number | null>(null);
  readonly conditions = signal<Condition[]>([]);
  /** The running match is stepped turn by turn, to check the conditions after each. */
  readonly walks = signal(false);
  /** Shows all seats' views side by side. */
  readonly beside = signal(false);
  readonly panel = signal<Panel>("call");
  /** What is searched in the texts of the match. */
  readonly searched = signal("");
  /** The call panel shows the sent frame. */
  readonly sent = signal(false);
  /** It shows a language model's prompts and completions. */
  readonly transcript = signal(false);
  readonly help = signal(false);
  /** The number of steps so far. */
  readonly count = signal(0);
  /** Increases with every change. */
  readonly news = signal(0);
  /** Shows each new position when it arrives. */
  readonly following = signal(false);
  /** The server does not answer. */
  readonly lost = signal(false);
  /** What happened to the last question, if this page did not answer it; "" for nothing. */
  readonly told = signal("");
  /** The running match, if it is another one. */
  readonly elsewhere = signal<number | null>(null);
  /** The number of the question that this page has answered. */
  private answered = 0;
  /** Called before a jump, after which the browser's Back returns here. */
  leave: () => void = () => undefined;
  readonly step = computed(() => this.held.steps[this.at.value]!);

  constructor(match: Match) {
    this.held = match;
    effect(() => {
      if (!this.playing.value) return;
      const pace = 1000 / this.speed.value;
      const go = () => {
        if (this.at.value >= this.last) this.playing.value = false;
        else this.at.value += 1;
        if (this.isReached(this.at.value)) this.playing.value = false;
        timer = setTimeout(go, this.isQuiet(this.at.value) ? Math.min(QUIET_MS, pace) : pace);
      };
      let timer = setTimeout(go, pace);
      return () => clearTimeout(timer);
    });
    effect(() => {
      const [at, playing] = [this.at.value, this.playing.peek()];
      if (at !== this.was) this.motion = at === this.was + 1 ? this.paced(playing) : 0;
      this.was = at;
      if (this.count.value > 0 && at >= this.last && this.held.closing) this.over.value = true;
    });
  }

  /** The time for a step forward, if it is worth seeing and people want to see movement. */
  private paced(playing: boolean): number {
    const time = playing ? Math.min(MOTION_MS, 900 / this.speed.peek()) : MOTION_MS;
    const still = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? true;
    return still || time < LEAST_MOTION_MS ? 0 : time;
  }

  /** Whether a step shows nothing on the board. */
  private isQuiet(at: number): boolean {
    const step = this.held.steps[at];
    return at < this.last && step !== undefined && painter(this.held.about.game).quiet?.(step) === true;
  }

  /** Shows the opening frame of a finished match. */
  open(): void {
    batch(() => {
      this.seek(0);
      this.stage.value = true;
      this.opening.value = true;
      this.panel.value = "call";
    });
  }

  /** Shows the board alone, or with its panels. */
  details(): void {
    if (this.match.about.eyes) return; // people who play see the question
    this.opening.value = false;
    this.stage.value = !this.stage.value;
  }

  /** Plays from the opening frame, at a speed that brings the end within minutes. */
  start(): void {
    const speed = SPEEDS.find((each) => each >= this.speed.value && this.last / each <= SHOW_S);
    this.speed.value = speed ?? SPEEDS.at(-1)!;
    this.toggle();
  }

  /** The match so far. Views that read it render again when it grows. */
  get match(): Match {
    void this.news.value;
    return this.held;
  }

  get last(): number {
    return Math.max(0, this.count.value - 1);
  }

  /** Called when the match has grown. */
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

  /** By name, the numbers of a step that conditions can use. */
  measures(at: number): Record<string, (number | undefined)[]> {
    const { measures, scores, scoreName } = painter(this.match.about.game);
    const view = this.match.steps[at]?.view ?? null;
    if (view === null) return {};
    return measures?.(view) ?? (scores ? { [scoreName ?? "score"]: scores(view) ?? [] } : {});
  }

  /** Whether a condition holds at a position and did not hold one before. */
  private isReached(at: number): boolean {
    return this.conditions.peek().some((condition) => this.holds(condition, at) && !this.holds(condition, at - 1));
  }

  private holds({ measure, seat, sign, value }: Condition, at: number): boolean {
    const found = this.measures(at)[measure]?.[seat];
    return typeof found === "number" && (sign === "at least" ? found >= value : found <= value);
  }

  /** Checks the conditions from a step on. Pauses the match where one holds, or steps it. */
  private walk(from: number): void {
    if (!this.walks.peek() || from >= this.count.peek()) return;
    for (let at = from; at < this.count.peek(); at++) if (this.isReached(at)) return this.steer("pause");
    if (this.live.peek()?.paused) this.tell("/live", { do: "step" });
  }

  /** Sets the conditions. A running match is stepped from now on if there are any. */
  pauseAt(conditions: Condition[]): void {
    this.conditions.value = conditions;
    const live = this.live.value;
    if (live && !live.over && (this.walks.value || !live.paused)) this.steer("play");
  }

  /** Replaces the match by one with more to see. */
  replace(match: Match): void {
    this.held = match;
    this.grown();
  }

  /** Pauses, resumes, steps or stops the running match. */
  steer(what: "pause" | "play" | "step" | "stop"): void {
    const live = this.live.value;
    if (!live?.steers) return;
    this.walks.value = what === "play" && this.conditions.value.length > 0;
    if (!this.walks.value) return this.tell("/live", { do: what });
    if (live.paused) return this.tell("/live", { do: "step" });
    this.tell("/live", { do: "pause" });
    setTimeout(() => this.walks.value && this.tell("/live", { do: "step" }), UNDER_WAY_MS);
  }

  /** Whether the match is paused, and not just stepped to check conditions. */
  get stands(): boolean {
    return this.live.value?.paused === true && !this.walks.value;
  }

  /** Sends an answer, or asks for a random one, an undo, or to leave. */
  answer(what: { answer: Json } | { sample: true } | { undo: true } | { leave: true }): void {
    const choice = this.live.value?.choice;
    if (!choice || this.lost.value || this.answered === choice.number) return;
    this.answered = choice.number;
    this.chosen.value = [];
    this.told.value = "";
    this.tell(`/seats/${choice.seat}`, { ...what, number: choice.number });
  }

  /** The server did not accept the answer; the page may try again. */
  refused(why: string): void {
    this.answered = 0;
    this.told.value = why;
  }

  /** Takes in the state of a running match. */
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

  /** Goes to the newest position and follows new ones. */
  newest(): void {
    this.playing.value = false;
    this.at.value = this.last;
    this.following.value = this.match.closing === undefined;
  }

  /** The steps with a fault. */
  readonly faults = computed(() =>
    this.match.steps.slice(0, this.count.value).flatMap((_, at) => (wrongs(this.held, at).length > 0 ? [at] : [])),
  );

  /** The steps with something that people want to find again. */
  readonly highlights = computed(() =>
    this.match.steps
      .slice(0, this.count.value)
      .flatMap(({ line }, at) => (line.highlights ?? []).map((each) => ({ ...each, at }))),
  );

  /** Goes to a step and stops playing. */
  seek(at: number): void {
    this.playing.value = false;
    this.following.value = false;
    this.opening.value = false;
    this.wanted = 0;
    this.at.value = Math.max(0, Math.min(this.last, Math.round(at)));
  }

  /** Goes to a step from anywhere. */
  jump(at: number): void {
    if (this.playing.value) this.seek(this.at.value);
    this.leave();
    this.seek(at);
  }

  /** What was found, in the order of the steps. */
  readonly hits = computed(() => hits(this.match, this.searched.value));

  /** Goes to the next or the previous hit, and round at the ends. */
  nextHit(back = false): void {
    const steps = [...new Set(this.hits.value.map(({ at }) => at))];
    this.nextOf(steps, back);
  }

  /** Goes to the next or the previous round, by the game's own count. */
  nextRound(back = false): void {
    const now = this.round(this.at.value);
    if (now === undefined) return;
    let at = this.at.value;
    if (!back) {
      while (at < this.last && this.round(at) === now) at++;
      return this.seek(at);
    }
    const begins = (step: number) => step === 0 || this.round(step - 1) !== this.round(step);
    do at--;
    while (at > 0 && !begins(at));
    this.seek(at);
  }

  /** The round of a step, from 0; undefined if the game has none, or the view of everything is not shown. */
  round(at: number): number | undefined {
    const view = this.match.steps[at]?.view;
    return view ? painter(this.match.about.game).round?.(view) : undefined;
  }

  /** Goes to a turn that may not have arrived yet. */
  await(at: number): void {
    this.seek(at);
    this.wanted = at;
  }

  move(steps: number): void {
    this.seek(this.at.value + steps);
  }

  toggle(): void {
    this.following.value = false;
    this.opening.value = false;
    if (!this.playing.value && this.at.value >= this.last) this.at.value = 0;
    this.playing.value = !this.playing.value;
  }

  /** Goes to the next or previous fault, and round at the ends. */
  nextFault(back = false): void {
    this.nextOf(this.faults.value, back);
  }

  /** Goes to the next or previous capture, death or change of the lead, and round at the ends. */
  nextHighlight(back = false): void {
    this.nextOf([...new Set(this.highlights.value.map(({ at }) => at))], back);
  }

  private nextOf(all: number[], back: boolean): void {
    const next = back
      ? (all.filter((at) => at < this.at.value).at(-1) ?? all.at(-1))
      : (all.find((at) => at > this.at.value) ?? all[0]);
    if (next !== undefined) this.jump(next);
  }

  /** Goes to the next answer of the seat that is shown, or that answered here. */
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

  /** The views that can be shown; null is everything. */
  get views(): (number | null)[] {
    const { eyes, names } = this.match.about;
    return eyes ?? [null, ...(this.match.steps[0]?.seats ? names.keys() : [])];
  }
}
