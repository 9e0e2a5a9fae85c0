// Texts of a match that can be searched: answers, notices, faults, completions and standard error.

import { type Match, said, wrongs } from "./match";
import { finder } from "./views/words";

export interface Hit {
  at: number;
  /** The seat; undefined for a notice. */
  seat: number | undefined;
  /** What contains the text: "answer", "notice", … */
  kind: string;
  text: string;
}

/** Most hits: more are not read by anyone. */
export const MOST = 500;

/** Returns the texts that contain all of the typed words, in the order of the steps. */
export function hits(match: Match, typed: string): Hit[] {
  if (!typed.trim()) return [];
  const fits = finder(typed);
  const found: Hit[] = [];
  for (let at = 0; at < match.steps.length && found.length < MOST; at++)
    for (const hit of texts(match, at)) if (fits(hit.text)) found.push(hit);
  return found.slice(0, MOST);
}

/** All texts of a step. */
function texts(match: Match, at: number): Hit[] {
  const { line } = match.steps[at]!;
  const found: Hit[] = [];
  const add = (kind: string, seat: number | undefined, text: string) => text && found.push({ at, seat, kind, text });
  for (const [seat, answer] of Object.entries(line.answers ?? {}))
    add("answer", Number(seat), `${line.words?.[seat] ?? ""} ${JSON.stringify(answer)}`.trim());
  for (const [seat, exchanges] of Object.entries(line.transcript ?? {}))
    for (const { completion } of exchanges) add("completion", Number(seat), completion);
  for (const event of line.events ?? line.opening ?? [])
    if (event.event === "notice") add("notice", undefined, `${event.method} ${JSON.stringify(event.params)}`);
  for (const { player, kind, detail } of wrongs(match, at)) add("fault", player, `${kind}: ${detail}`);
  for (const seat of match.about.names.keys()) add("stderr", seat, said(match, at, seat));
  return found;
}

/** The part of a text around the first typed word. */
export function excerpt(text: string, typed: string, around = 60): string {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const first = Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0));
  const from = Number.isFinite(first) ? Math.max(0, first - around) : 0;
  const to = from + 3 * around;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
