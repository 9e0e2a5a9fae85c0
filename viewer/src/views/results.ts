// The results of matches and of series in words, for lists.

import { visible } from "./words";

/** A match in the list, as addons/web/replay_list.py sends it. */
export interface Entry {
  number: number;
  title: string;
  game: string;
  names: string[];
  at: number;
  live?: boolean;
  turns?: number;
  ranks?: number[];
  scores?: number[];
  /** The same for all matches of a series; missing for a single match. */
  series?: string;
  reason?: string;
  faults?: { player: number; kind: string }[];
  /** Number of faults that the replay only counts. */
  more_faults?: number;
}

/** Scores that only say who won. */
const PLAIN = [0, 0.5, 1];

/** The names, each with its seat if another seat has the same name. */
export function unique(names: string[]): string[] {
  return names.map((name, seat) => {
    const alone = names.filter((other) => other === name).length === 1;
    return visible(alone ? name : `${name} (seat ${seat})`);
  });
}

/** The result of a match: who beat whom, the scores, and why. */
export function result({ names, ranks, scores, reason }: Entry): string {
  const why = reason ?? "";
  if (!ranks || ranks.length === 0) return why || "no end";
  const shown = unique(names);
  const order = [...names.keys()].sort((one, other) => ranks[one]! - ranks[other]!);
  const first = order.filter((seat) => ranks[seat] === 1).map((seat) => shown[seat]!);
  const rest = order.filter((seat) => ranks[seat] !== 1).map((seat) => shown[seat]!);
  const sorted = order.map((seat) => scores?.[seat]);
  const told = sorted.every((score) => why.includes(String(score))); // many reasons are the scores
  const points = told ? "" : counted(sorted);
  return `${beat(first, rest)}${points && ` ${points}`}${why && `: ${visible(why)}`}`;
}

function beat(first: string[], rest: string[]): string {
  if (first.length === 1 && rest.length === 0) return `${first[0]} finished`;
  return rest.length === 0 ? `${listed(first)} drew` : `${listed(first)} beat ${listed(rest)}`;
}

/** `3 : 1`, the best first; empty if the scores say no more than the ranks. */
function counted(scores: (number | undefined)[]): string {
  if (scores.some((score) => score === undefined) || scores.every((score) => PLAIN.includes(score!))) return "";
  return scores.map((score) => +score!.toFixed(2)).join(" : ");
}

function listed(names: string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The result of a series: the matches that each player won, and how many were drawn or had no end. */
export function tally(matches: Entry[]): string {
  const won = new Map<string, number>();
  for (const { names } of matches) for (const name of unique(names)) won.set(name, 0);
  let drawn = 0;
  let open = 0;
  for (const { names, ranks } of matches) {
    const first = unique(names).filter((_, seat) => ranks?.[seat] === 1);
    if (first.length === 0) open++;
    else if (first.length === 1) won.set(first[0]!, won.get(first[0]!)! + 1);
    else drawn++;
  }
  const order = [...won].sort(([, one], [, other]) => other - one);
  const level = order.every(([, count]) => count === order[0]![1]);
  const [best, ...rest] = order.map(([name]) => name);
  const points = order.map(([, count]) => count).join(" : ");
  const leads = matches.some(({ live }) => live) ? "leads" : "beat";
  const who = level ? `${listed([best!, ...rest])} are level` : `${best} ${leads} ${listed(rest)}`;
  const notes = [drawn > 0 && `${drawn} drawn`, open > 0 && `${open} without a result`].filter(Boolean).join(", ");
  return `${who} ${points}${notes && `, ${notes}`}`;
}

/** A line of the list: one match, or a series of several. */
export type Row = { series: ""; matches: [Entry] } | { series: string; matches: Entry[] };

/** Folds the matches of a series between the same players into one row, at its first match. */
export function folded(entries: Entry[]): Row[] {
  const rows = new Map<string, Row>();
  for (const entry of entries) {
    const key = entry.series ? JSON.stringify([entry.series, entry.game, ...[...entry.names].sort()]) : "";
    const found = key && rows.get(key);
    if (found) (found.matches as Entry[]).push(entry);
    else rows.set(key || `#${entry.number}`, { series: key, matches: [entry] });
  }
  return [...rows.values()].map((row) => (row.matches.length > 1 ? row : { series: "", matches: [row.matches[0]!] }));
}
