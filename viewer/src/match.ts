// A match as it comes from the referee: a line about the whole, then a frame for each line of its record.

import { type Json, type Patch, patched } from "./patch";

/** What the referee says of the record as a whole: the first line of the data. */
export interface About {
  title: string;
  game: string;
  names: string[];
  /** The command that plays it again; empty: the record does not say it. */
  command: string;
  /** Names of what the views show by number. */
  pieces: Record<string, string>;
  /** What stands on those beside their names, such as cost and strength. */
  prints: Record<string, string>;
  /** The name of the rules' page, and the section of each function. */
  rules: Record<string, string>;
  /** The seats at which people play. */
  people: number[];
  /** The seats whose views are shown; null = everything is. */
  eyes: number[] | null;
  /** It was still written when we began to read it. */
  live: boolean;
  /** What a file of an original competition holds and what not: it has no calls. Empty: it is a record of ours. */
  original: string;
}

/** What is known when the record has ended: the last line of the data. */
export interface Closing {
  /** "identical", or what was found wrong when it was played again; the frames end there. */
  verified: string;
  /** What each seat wrote for its author, a character a byte. */
  stderr: Record<string, string>;
}

/** What a person at a seat is asked. */
export interface Choice {
  seat: number;
  method: string;
  /** Which question it is. */
  number: number;
  view: Json;
  /** All legal answers; null: there are too many, and each is tried by itself. */
  answers: Json[] | null;
  words: (string | null)[] | null;
  /** Any number between them, in place of answers. */
  least: number | null;
  most: number | null;
  /** So many answers can be taken back. */
  drafted: number;
  /** Why the last answer was refused. */
  wrong: string;
}

/** What goes on at the table while a match is played before our eyes. */
export interface Live {
  current: number | null;
  paused: boolean;
  /** We may hold the match. */
  steers: boolean;
  choice: Choice | null;
  over: boolean;
}

/** How a seat is asked: its call as it was sent, all but what its view says already. */
export interface Asked {
  /** null: the seat's view are the parameters. */
  params: { [name: string]: Json } | null;
  /** The members that are the seat's view. */
  same: string[];
  clock: { call_ms: number | null; remaining_ms: number | null; last_ms: number | null };
  limit_s: number | null;
}

export interface Fault {
  kind: string;
  detail: string;
  answer?: Json;
}

export interface GameEvent {
  event: "notice" | "ruling";
  method?: string;
  params?: Json;
  player?: number;
  fault?: Fault;
  penalty?: string;
}

/** What of a fault stands in the record's last line alone. */
export interface FaultReport {
  player: number;
  turn: number;
  kind: string;
  detail: string;
  penalty: string;
  /** What was asked; at a fault after the last turn `exit`. */
  method: string;
  frame: string;
  last_words: string[];
  /** The page and section that it was ruled by. */
  rules?: string;
}

/** A fault wherever the record tells of it: at a turn, before the first one, or after the last one. */
export interface Wrong {
  player: number;
  kind: string;
  detail: string;
  penalty: string;
  /** Nobody was asked for an answer then: the bot could not begin, or the game was over. */
  when: "turn" | "beginning" | "end";
  report: FaultReport | undefined;
}

/** A line of the record after the header: what we read of it. Which members there are depends on its kind. */
export interface Line {
  opening?: GameEvent[];
  turn?: number;
  answers?: Record<string, Json>;
  faults?: Record<string, Fault>;
  events?: GameEvent[];
  wall_us?: Record<string, number>;
  cpu_us?: Record<string, number>;
  /** How many bytes each seat had written for its author when it answered. */
  stderr?: Record<string, number>;
  inject?: number;
  forfeit?: Record<string, Fault>;
  stop?: string;
  result?: { ranks: number[]; scores: number[]; reason: string } | null;
}

/** One position, and the line that led to it. */
export interface Step {
  line: Line;
  /** Everything, as the game's own view. */
  view: Json;
  /** What each seat may see, where it was asked for. */
  seats: Json[] | undefined;
  /** The drawing for people, line by line, of a game that has no painter. */
  text: string[];
  /** What follows from the position by the rules, such as where pieces can go: only of everything. */
  marks: { [name: string]: Json };
  /** The functions that are awaited now, by seat. */
  awaited: Record<string, string>;
  /** How they are asked. */
  asked: Record<string, Asked>;
}

export interface Match {
  about: About;
  header: { time: { per_call_s: number | null }; setup: { seed: string | null; options: Json } };
  steps: Step[];
  closing: Closing | undefined;
  ending: (Omit<Line, "faults"> & { reports: FaultReport[]; seats?: { encoding: string }[] }) | undefined;
}

/** As it is sent; what is there twice is sent once. */
type Shown = Omit<Step, "line"> & {
  /** The members of the view that are what seat 0 sees; null = all of it is. */
  shared?: string[] | null;
};

/** The view of everything, made whole. */
function whole({ view, seats, shared }: Shown): Json {
  if (!seats || shared === undefined) return view;
  if (shared === null) return seats[0]!;
  if (shared.length === 0) return view;
  const members = Object.fromEntries(shared.map((name) => [name, seats[0]!]));
  return { ...(view as { [name: string]: Json }), ...members };
}

/** A seed as it is written: it has 64 bits, and a number here keeps 53 of them. */
function digits(text: string, seed: number | string | null): string | null {
  if (seed === null) return null;
  const written = [...text.matchAll(/"seed":\s*(\d+)/g)].map(([, found]) => found!);
  return written.find((found) => Number(found) === Number(seed)) ?? String(seed);
}

/** Makes a match of its lines as they come. Positions share what did not change: all of them together are small. */
export class Reader {
  readonly match: Match = {
    about: { title: "", game: "", names: [], command: "", pieces: {}, prints: {}, rules: {}, people: [], eyes: null, live: false, original: "" },
    header: { time: { per_call_s: null }, setup: { seed: null, options: null } },
    steps: [],
    closing: undefined,
    ending: undefined,
  };
  /** How many lines were taken. */
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
      this.match.steps.push({ ...shown, view: whole(shown), seats, line });
    }
  }
}

/** The frame that a seat was sent before it answered at a step; exact but for its id. */
export function sent(match: Match, at: number, seat: number): string | undefined {
  const before = match.steps[at - 1];
  const how = before?.asked?.[seat];
  const view = before?.seats?.[seat];
  if (!before || !how || view === undefined) return undefined;
  const same = Object.fromEntries(how.same.map((name) => [name, view]));
  const params = { ...(how.params === null ? (view as { [name: string]: Json }) : { ...how.params, ...same }), clock: how.clock };
  return JSON.stringify({ jsonrpc: "2.0", id: "…", method: before.awaited[seat], params });
}

/** What a seat wrote for its author from its call at this step on, up to its next one. */
export function said(match: Match, at: number, seat: number): string {
  const text = match.closing?.stderr[seat];
  if (text === undefined || asked(match, at, seat) === undefined) return "";
  const begins = (step: number) => match.steps[step]!.line.stderr?.[seat] ?? 0;
  let next = at + 1;
  while (next < match.steps.length && asked(match, next, seat) === undefined) next++;
  const until = next < match.steps.length ? begins(next) : text.length;
  return new TextDecoder().decode(Uint8Array.from(text.slice(begins(at), until), (character) => character.charCodeAt(0)));
}

/** Who was at fault at a step, with the ruling; the engine's word counts, and comes as an event. */
export function rulings(line: Line): GameEvent[] {
  return (line.events ?? []).filter((event) => event.event === "ruling");
}

/** All faults of a step. Those after the last turn stand in the record's ending alone, and belong to the last position. */
export function wrongs(match: Match, at: number): Wrong[] {
  const { line } = match.steps[at]!;
  const reports = match.ending?.reports ?? [];
  const during = rulings(line).map(({ player, fault, penalty }): Wrong => {
    const report = reports.find((each) => each.method !== "exit" && key(each) === key({ player: player!, turn: line.turn }));
    const when = line.forfeit ? "beginning" : "turn";
    return { player: player!, kind: fault!.kind, detail: fault!.detail, penalty: penalty ?? "", when, report };
  });
  if (at < match.steps.length - 1 || reports.length === 0) return during;
  const ruled = new Set(match.steps.flatMap((step) => rulings(step.line).map(({ player }) => key({ player: player!, turn: step.line.turn }))));
  const after = reports.filter((report) => report.method === "exit" || !ruled.has(key(report)));
  return [...during, ...after.map((report): Wrong => ({ ...report, when: "end", report }))];
}

/** Reports name the turn of a fault; before the first one it is 0. */
function key({ player, turn }: { player: number; turn: number | undefined }): string {
  return `${player}@${turn ?? 0}`;
}

/** The function that a seat was asked at a step: what the position before it awaited. */
export function asked(match: Match, at: number, seat: number): string | undefined {
  return match.steps[at - 1]?.awaited[seat];
}
