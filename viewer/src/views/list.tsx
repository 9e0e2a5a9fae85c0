import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../server";
import { finder, visible } from "./words";

export interface Entry {
  number: number;
  title: string;
  game: string;
  names: string[];
  at: number;
  live?: boolean;
  turns?: number;
  ranks?: number[];
  reason?: string;
  faults?: { player: number; kind: string }[];
  /** Number of faults that the replay only counts. */
  more_faults?: number;
}

const AGAIN_MS = 2000;
const SHOWN = 500;
const NONE = "No replays yet. A match appears here as soon as it starts.";
const entries = signal<Entry[]>([]);
/** The server does not answer. */
export const gone = signal(false);
const wanted = signal("");
const game = signal("");
const kind = signal<"all" | "live" | "fault" | "draw">("all");

const KINDS: Record<string, (entry: Entry) => boolean> = {
  all: () => true,
  live: (entry) => entry.live === true,
  fault: (entry) => (entry.faults ?? []).length > 0,
  draw: (entry) => (entry.ranks ?? []).filter((rank) => rank === 1).length > 1,
};

/** All replays, those of running matches first. */
export function List({ first }: { first: Entry[] }) {
  useEffect(() => {
    entries.value = first;
    const timer = setInterval(() => void refresh(), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const all = entries.value.length > 0 ? entries.value : first;
  const games = [...new Set(all.map((entry) => entry.game))].sort();
  const fits = finder(wanted.value);
  const found = all.filter(
    (entry) =>
      (game.value === "" || entry.game === game.value) &&
      KINDS[kind.value]!(entry) &&
      fits(`${entry.title} ${entry.names.join(" ")}`),
  );
  return (
    <main class="list">
      <header>
        <h1>Matches</h1>
        <label>
          bot{" "}
          <input type="search" value={wanted.value} onInput={(event) => (wanted.value = event.currentTarget.value)} />
        </label>
        <label>
          game{" "}
          <select value={game.value} onChange={(event) => (game.value = event.currentTarget.value)}>
            <option value="">all</option>
            {games.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          show{" "}
          <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as "all")}>
            <option value="all">all</option>
            <option value="live">played now</option>
            <option value="fault">with a fault</option>
            <option value="draw">draws</option>
          </select>
        </label>
        <span class="seed" role="status">
          {found.length} of {all.length}
        </span>
        {gone.value && (
          <span class="badge bad" role="alert">
            the server does not answer; trying again
          </span>
        )}
      </header>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">match</th>
              <th scope="col">game</th>
              <th scope="col">players</th>
              <th scope="col">result</th>
              <th scope="col" class="number">
                turns
              </th>
              <th scope="col">faults</th>
              <th scope="col">when</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, SHOWN).map((entry) => (
              <Row key={entry.number} {...entry} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p>{all.length === 0 ? NONE : "No match fits."}</p>}
      {found.length > SHOWN && <p>The newest {SHOWN} are shown. Filter to see others.</p>}
    </main>
  );
}

function Row({ number, title, game, names, at, live, turns, ranks, reason, faults, more_faults }: Entry) {
  return (
    <tr class={live ? "live" : ""}>
      <td>
        <a href={`#match=${number}`}>{visible(title)}</a>
      </td>
      <td class="whole">{game}</td>
      <td class="broad">
        {names.map((name, seat) => (
          <span key={seat} class={`player seat-${seat}`}>
            <span class="mark" aria-hidden="true">
              {seat}
            </span>{" "}
            {ranks?.[seat] === 1 ? <strong>{visible(name)}</strong> : visible(name)}{" "}
          </span>
        ))}
      </td>
      <td class="broad">{live ? <span class="badge live">live</span> : result(ranks, names, reason)}</td>
      <td class="number">{turns ?? ""}</td>
      <td>
        {(faults ?? []).map((fault) => `${fault.kind} (seat\u00a0${fault.player})`).join(", ")}
        {more_faults && ` and ${more_faults} more`}
      </td>
      <td class="whole">{new Date(at * 1000).toLocaleString()}</td>
    </tr>
  );
}

function result(ranks: number[] | undefined, names: string[], reason: string | undefined): string {
  if (!ranks || ranks.length === 0) return reason || "no end";
  const first = names.filter((_, seat) => ranks[seat] === 1).map(visible);
  const won = `${first.join(" and ")} ${first.length === 1 ? "wins" : "win"}`;
  return `${first.length === names.length ? "a draw" : won}: ${reason}`;
}

async function refresh(): Promise<void> {
  if (document.hidden) return;
  try {
    const answer = await ask("/matches");
    if (answer.ok) entries.value = (await answer.json()) as Entry[];
    gone.value = false;
  } catch {
    gone.value = true; // the list stays
  }
}
