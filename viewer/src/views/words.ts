// Text about a step, for lists, labels and screen readers.

import { type Line, type Match, type Wrong, wrongs } from "../match";
import type { Json } from "../patch";

// What Python's `printable` escapes (categories Cc, Cf, Cs, Co, Cn, Zl, Zp, Zs), except spaces, tabs and line ends.
const HIDDEN = /(?![ \t\n])[\p{C}\p{Z}]/gu;
/** Most characters of an answer in a line of text. */
const ANSWER = 120;

/** Escapes characters that a page would obey or hide, such as control and bidirectional characters. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Cuts a text to a length. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

export function compact(value: Json | undefined, length = 120): string {
  return cut(visible(JSON.stringify(value) ?? "nothing"), length);
}

/** Returns a test for texts that contain all typed words, in any case and order. */
export function finder(typed: string): (text: string) => boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

export function name(match: Match, seat: number): string {
  return visible(match.about.names[seat] ?? `seat ${seat}`);
}

/** A sentence about a step: the answers, what came of them, and the faults. */
export function sentence(match: Match, at: number): string {
  const { line } = match.steps[at]!;
  if (line.opening) return "The start.";
  if (line.stop !== undefined) return `Stopped: ${visible(line.stop)}.`;
  if (line.inject !== undefined) return `${name(match, line.inject)} acts out of turn.`;
  const ruled = wrongs(match, at).map((wrong) => fault(match, wrong));
  if (line.forfeit) {
    const who = Object.keys(line.forfeit).map((seat) => name(match, Number(seat)));
    return `${[`${who.join(", ")} cannot play`, ...ruled].join("; ")}.`;
  }
  const happened = (line.highlights ?? []).map(({ words }) => visible(words));
  const said = [...answers(match, line), ...happened, ...ruled].join("; ");
  return `Turn ${line.turn}${said && `: ${said}`}.`;
}

/** The answers of a step, each with the name of its seat. */
export function answers(match: Match, line: Line): string[] {
  return Object.keys(line.answers ?? {}).map((seat) => `${name(match, Number(seat))}: ${answer(line, seat)}`);
}

/** A seat's answer in the game's notation, or as JSON if that has no words for it. */
function answer({ words, answers }: Line, seat: string): string {
  const said = words?.[seat];
  return said === undefined ? compact(answers?.[seat], ANSWER) : cut(visible(said), ANSWER);
}

/** The faults of a step, in words. */
export function faults(match: Match, at: number): string {
  return wrongs(match, at)
    .map((wrong) => fault(match, wrong))
    .join("; ");
}

function fault(match: Match, { player, detail, penalty, when }: Wrong): string {
  return `${name(match, player)} is at fault${when === "end" ? " after the last turn" : ""}: ${visible(detail)}; ${penalty}`;
}

/** Who won and why, in words; undefined without a result. */
export function outcome(match: Match): string | undefined {
  const words = match.ending?.headline;
  return words === undefined ? undefined : visible(words);
}

/** A line for the shown step: the result at the end, otherwise what happened. */
export function headline(match: Match, at: number): string {
  return (at === match.steps.length - 1 && outcome(match)) || sentence(match, at);
}

/** A seat's place in a result. */
export function placed(ranks: number[], seat: number): string {
  if (ranks.every((rank) => rank === 1)) return "draw";
  if (ranks[seat] === 1) return "wins";
  return ranks.length === 2 ? "loses" : `rank ${ranks[seat]}`;
}

/** A time and its limit in seconds, if it has one. */
export function spent(us: number | undefined, limit: number | null): string {
  if (us === undefined || limit === null) return milliseconds(us);
  return `${milliseconds(us)} of ${limit >= 1 ? `${+limit.toFixed(2)} s` : `${Math.round(limit * 1000)} ms`}`;
}

function milliseconds(us: number | undefined): string {
  if (us === undefined) return "–";
  return us < 10_000 ? `${(us / 1000).toFixed(2)} ms` : `${Math.round(us / 1000)} ms`;
}
