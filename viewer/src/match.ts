// A match as the referee sends it: a line about the whole, then a frame for each line of the replay.

import type { Declared } from "./games/layout";
import { type Json, type Patch, patched } from "./patch";

/** The first line of the data: facts about the match. */
export interface About {
  title: string;
  game: string;
  names: string[];
  /** The command that plays the match again; empty if unknown. */
  command: string;
  /** Names of what the views give as numbers. */
  pieces: Record<string, string>;
  /** Text printed on them besides the name, such as cost and strength. */
  prints: Record<string, string>;
  /** By method, the section of the rules. */
  rules: Record<string, string>;
  /** The seats at which people play. */
  people: number[];
  /** The seats whose views are shown; null shows everything. */
  eyes: number[] | null;
  /** The replay was still being written when we began to read it. */
  live: boolean;
  /** What an original competition's file contains and lacks. Empty for our own replays. */
  original: string;
}

/** The last line of the data, after the end of the replay. */
export interface Closing {
  /** "identical", or the first difference when the match was simulated; the frames end there. */
  verified: string;
  /** Each seat's standard error, one character per byte. */
  stderr: Record<string, string>;
  /** Where the match turned, if that is known. */
  assessment: Assessment | null;
}

export interface Assessment {
  /** Who says so. */
  by: string;
  /** What each seat may expect after a turn, from 0 to 1, and how far that may be off. */
  points: { turn: number; expected: number[]; error: number[] }[];
  /** The turns that changed it; before `since`, nothing is known of the change. */
  moments: { turn: number; since: number; words: string }[];
}

/** What a person at a seat is asked. */
export interface Choice {
  seat: number;
  method: string;
  /** The number of the question. */
  number: number;
  view: Json;
  /** All legal answers; null if there are too many, in which case the page tries one. */
  answers: Json[] | null;
  words: (string | null)[] | null;
  /** The clicks on the declared board for each answer; null if the game declares none. */
  clicks: string[][] | null;
  /** The declared board as the seat sees it. */
  board: Declared | null;
  /** If set, any whole number between them is legal. */
  least: number | null;
  most: number | null;
  /** How many answers can be taken back. */
  drafted: number;
  /** Why the last answer was refused. */
  wrong: string;
}

/** The state of a running match. */
export interface Live {
  current: number | null;
  paused: boolean;
  /** This page may pause, step and stop the match. */
  steers: boolean;
  choice: Choice | null;
  over: boolean;
}

/** A call as it was sent, without what the seat's view already says. */
export interface Asked {
  /** null if the seat's view is the parameters. */
  params: { [name: string]: Json } | null;
  /** The members that equal the seat's view. */
  same: string[];
  clock: { call_ms: number | null; remaining_ms: number | null; last_ms: number | null };
  limit_s: number | null;
}

/** Something that people want to find again. */
export interface Highlight {
  kind: "capture" | "death" | "lead";
  words: string;
}

export interface Fault {
  kind: string;
  detail: string;
  answer?: Json;
}

/** What the frames of one game contain. `games/types` has them, made from the game's own types. */
export interface Frames {
  /** The view of everything. */
  everything: unknown;
  /** The view of a seat. */
  seen: unknown;
  answer: unknown;
  event: { event: "notice"; method: string; params: unknown };
  marks: unknown;
}

/** The frames of any game, as JSON. */
export interface AnyFrames extends Frames {
  everything: Json;
  seen: Json;
  answer: Json;
  event: { event: "notice"; method: string; params: Json };
  marks: Json;
}

export type GameEvent<F extends Frames = AnyFrames> = (
  F["event"] | { event: "ruling"; method?: undefined; params?: undefined }
) & { player?: number; fault?: Fault; penalty?: string };

/** What only the replay's last line says about a fault. */
export interface FaultReport {
  player: number;
  turn: number;
  kind: string;
  detail: string;
  penalty: string;
  /** The method; `exit` for a fault after the last turn. */
  method: string;
  frame: string;
  last_words: string[];
  /** The page and section of the rule. */
  rules?: string;
}

/** A fault of a turn, before the first turn, or after the last. */
export interface Wrong {
  player: number;
  kind: string;
  detail: string;
  penalty: string;
  /** "beginning": the bot could not start. "end": the game was over. */
  when: "turn" | "beginning" | "end";
  report: FaultReport | undefined;
}

/** The tokens and cost of a language model. A missing member is 0; a missing cost is not known. */
export interface ModelUse {
  prompt_tokens?: number;
  completion_tokens?: number;
  /** Dollars. */
  cost?: number;
  completions?: number;
  /** Completions without a legal answer. */
  illegal?: number;
  /** Seconds. */
  service_s?: number;
}

/** A prompt for a language model, and its completion. */
export interface Exchange {
  /** What was new in the conversation. */
  messages: { role: string; content: string }[];
  completion: string;
  use: ModelUse;
  /** Why the answer was refused; missing if it was legal. */
  problem?: string;
}

/** A line of the replay after the header. Its members depend on its kind. */
export interface Line<F extends Frames = AnyFrames> {
  opening?: GameEvent<F>[];
  turn?: number;
  answers?: Record<string, F["answer"]>;
  /** The answers in the game's notation, if it has one. */
  words?: Record<string, string>;
  highlights?: Highlight[];
  /** The clicks on the declared board that mean the answers. */
  clicks?: Record<string, string[]>;
  faults?: Record<string, Fault>;
  events?: GameEvent<F>[];
  wall_us?: Record<string, number>;
  cpu_us?: Record<string, number>;
  /** What metered bots used, in units. Their wall time is this. */
  fuel?: Record<string, number>;
  model?: Record<string, ModelUse>;
  /** The prompts and completions of language models, if the replay keeps them. */
  transcript?: Record<string, Exchange[]>;
  /** The length of each seat's standard error when it answered. */
  stderr?: Record<string, number>;
  inject?: number;
  forfeit?: Record<string, Fault>;
  stop?: string;
  result?: { ranks: number[]; scores: number[]; reason: string } | null;
  /** The result in words: who won and why. Not in files of the original competition. */
  headline?: string;
  /** The reason in words. */
  why?: string;
}

/** One position, and the line that led to it. */
export interface Step<F extends Frames = AnyFrames> {
  line: Line<F>;
  /** Everything, as the game's own view; null if it is not shown. */
  view: F["everything"] | null;
  /** Each seat's view, if requested; null if it is not shown. */
  seats: (F["seen"] | null)[] | undefined;
  /** The declared boards: of everything, then of each seat; null if it is not shown. */
  boards?: (Declared | null)[] | undefined;
  /** The lines of the text drawing, for a game without a painter. */
  text: string[];
  /** What the rules say about the position, such as where pieces can go. Only in the view of everything. */
  marks: F["marks"];
  /** By seat, the method that is awaited now. */
  awaited: Record<string, string>;
  /** By seat, the call. */
  asked: Record<string, Asked>;
}

export interface Match {
  about: About;
  header: {
    time: { per_call_s: number | null };
    setup: { seed: string | null; options: { [name: string]: Json } | null };
  };
  steps: Step[];
  closing: Closing | undefined;
  ending:
    | (Omit<Line, "faults"> & { reports: FaultReport[]; seats?: { encoding: string; model?: ModelUse | null }[] })
    | undefined;
}

/** A step as it is sent, without duplicates. */
type Shown = Omit<Step, "line" | "boards"> & {
  /** A number: the same as that one. */
  boards?: (Declared | number | null)[];
  /** The members of the view that equal seat 0's view; null if all of it does. */
  shared?: string[] | null;
};

/** Completes the view of everything. */
function whole({ view, seats, shared }: Shown): Json {
  if (!seats || shared === undefined) return view;
  if (shared === null) return seats[0]!;
  if (shared.length === 0) return view;
  const members = Object.fromEntries(shared.map((name) => [name, seats[0]!]));
  return { ...(view as { [name: string]: Json }), ...members };
}

/** The digits of a seed, which has 64 bits. A number has only 53. */
function digits(text: string, seed: number | string | null): string | null {
  if (seed === null) return null;
  const written = [...text.matchAll(/"seed":\s*(\d+)/g)].map(([, found]) => found!);
  return written.find((found) => Number(found) === Number(seed)) ?? String(seed);
}

/** Builds a match from its lines. Positions share what did not change, so all of them together are small. */
export class Reader {
  readonly match: Match = {
    about: {
      title: "",
      game: "",
      names: [],
      command: "",
      pieces: {},
      prints: {},
      rules: {},
      people: [],
      eyes: null,
      live: false,
      original: "",
    },
    header: { time: { per_call_s: null }, setup: { seed: null, options: null } },
    steps: [],
    closing: undefined,
    ending: undefined,
  };
  /** The number of lines so far. */
  taken = 0;
  private shown: Json | undefined;

  take(text: string): void {
    this.taken += 1;
    const value = JSON.parse(text) as [Patch, Line] | About | Closing;
    if (!Array.isArray(value)) {
      if ("verified" in value) this.match.closing = value;
      else this.match.about = value;
      return;
    }
    const [patch, line] = value;
    if ("replay" in line) {
      const header = line as unknown as Match["header"];
      this.match.header = { ...header, setup: { ...header.setup, seed: digits(text, header.setup.seed) } };
    } else if ("result" in line) {
      const { faults, ...rest } = line;
      this.match.ending = { ...rest, reports: (faults ?? []) as unknown as FaultReport[] };
    } else {
      this.shown = patched(this.shown, patch);
      const shown = this.shown as unknown as Shown;
      const seats = shown.seats?.map((view) => (typeof view === "number" ? shown.seats![view]! : view));
      const boards = shown.boards?.map((each) => (typeof each === "number" ? shown.boards![each]! : each));
      this.match.steps.push({ ...shown, view: whole(shown), seats, boards: boards as Step["boards"], line });
    }
  }
}

/** The view of everything or of a seat, and the one of the step before. */
export type Look<F extends Frames = AnyFrames> =
  | { seat: null; view: F["everything"] | null; before: F["everything"] | null }
  | { seat: number; view: F["seen"] | null; before: F["seen"] | null };

/** What a seat sees at a step; null sees everything. */
export function look(match: Match, at: number, seat: number | null): Look {
  const [step, last] = [match.steps[at], match.steps[at - 1]];
  if (seat === null || !step?.seats) return { seat: null, view: step?.view ?? null, before: last?.view ?? null };
  return { seat, view: step.seats[seat] ?? null, before: last?.seats?.[seat] ?? null };
}

/** The frame that a seat was sent before its answer at a step, exact except for the id. */
export function sent(match: Match, at: number, seat: number): string | undefined {
  const before = match.steps[at - 1];
  const how = before?.asked?.[seat];
  const view = before?.seats?.[seat];
  if (!before || !how || view === undefined) return undefined;
  const same = Object.fromEntries(how.same.map((name) => [name, view]));
  const params = {
    ...(how.params === null ? (view as { [name: string]: Json }) : { ...how.params, ...same }),
    clock: how.clock,
  };
  return JSON.stringify({ jsonrpc: "2.0", id: "…", method: before.awaited[seat], params });
}

/** A seat's standard error from its call at this step until its next call. */
export function said(match: Match, at: number, seat: number): string {
  const text = match.closing?.stderr[seat];
  if (text === undefined || asked(match, at, seat) === undefined) return "";
  const begins = (step: number) => match.steps[step]!.line.stderr?.[seat] ?? 0;
  let next = at + 1;
  while (next < match.steps.length && asked(match, next, seat) === undefined) next++;
  const until = next < match.steps.length ? begins(next) : text.length;
  return new TextDecoder().decode(
    Uint8Array.from(text.slice(begins(at), until), (character) => character.charCodeAt(0)),
  );
}

/** The faults of a step, which the engine reports as events. */
export function rulings<F extends Frames>(line: Line<F>): GameEvent<F>[] {
  return (line.events ?? []).filter((event) => event.event === "ruling");
}

/** All faults of a step. Those after the last turn are only in the replay's ending, and belong to the last position. */
export function wrongs(match: Match, at: number): Wrong[] {
  const { line } = match.steps[at]!;
  const reports = match.ending?.reports ?? [];
  const during = rulings(line).map(({ player, fault, penalty }): Wrong => {
    const report = reports.find(
      (each) => each.method !== "exit" && key(each) === key({ player: player!, turn: line.turn }),
    );
    const when = line.forfeit ? "beginning" : "turn";
    return { player: player!, kind: fault!.kind, detail: fault!.detail, penalty: penalty ?? "", when, report };
  });
  if (at < match.steps.length - 1 || reports.length === 0) return during;
  const ruled = new Set(
    match.steps.flatMap((step) =>
      rulings(step.line).map(({ player }) => key({ player: player!, turn: step.line.turn })),
    ),
  );
  const after = reports.filter((report) => report.method === "exit" || !ruled.has(key(report)));
  return [...during, ...after.map((report): Wrong => ({ ...report, when: "end", report }))];
}

/** The key of a fault by seat and turn, which is 0 before the first turn. */
function key({ player, turn }: { player: number; turn: number | undefined }): string {
  return `${player}@${turn ?? 0}`;
}

/** The method that a seat was asked at a step: what the position before it awaited. */
export function asked(match: Match, at: number, seat: number): string | undefined {
  return match.steps[at - 1]?.awaited[seat];
}

/** The limit of the call answered at a step, in seconds. */
export function limit(match: Match, at: number, seat: number): number | null {
  return match.steps[at - 1]?.asked?.[seat]?.limit_s ?? null;
}
