import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../server";
import { type Entry, type Row, folded, result, tally } from "./results";
import { Thumbnail } from "./thumbnail";
import { finder, visible } from "./words";

const AGAIN_MS = 2000;
/** A list that takes the server long is requested less often. */
const SHARE = 10;
/** How many rows are added at a time. */
const SHOWN = 100;
const SHORT = { dateStyle: "short", timeStyle: "short" } as const;
const NONE = "No replays yet. A match appears here as soon as it starts.";
const entries = signal<Entry[]>([]);
/** The server does not answer. */
export const gone = signal(false);
const wanted = signal("");
const game = signal("");
const kind = signal<"all" | "live" | "fault" | "draw">("all");
const shown = signal(SHOWN);
/** The series that are unfolded. */
const open = signal<ReadonlySet<string>>(new Set());
/** The matches to compare. */
const chosen = signal<number[]>([]);
let tag = "";

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
    return refreshing();
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
  const rows = folded(found);
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
        <Comparing />
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
              <th scope="col">end</th>
              <th scope="col">match</th>
              <th scope="col">game</th>
              <th scope="col">players</th>
              <th scope="col">result</th>
              <th scope="col" class="number">
                turns
              </th>
              <th scope="col">faults</th>
              <th scope="col">when</th>
              <th scope="col">compare</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown.value).map((row) => (
              <Rows key={row.series || row.matches[0]!.number} {...row} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p>{all.length === 0 ? NONE : "No match fits."}</p>}
      {rows.length > shown.value && <More left={rows.length - shown.value} />}
    </main>
  );
}

/** A button that adds rows, also by itself when one scrolls to it. */
function More({ left }: { left: number }) {
  const element = useRef<HTMLButtonElement>(null);
  const add = () => (shown.value += SHOWN);
  useEffect(() => {
    const watching = new IntersectionObserver(([entry]) => entry!.isIntersecting && add());
    watching.observe(element.current!);
    return () => watching.disconnect();
  }, [left]);
  return (
    <button type="button" ref={element} onClick={add}>
      show more ({left} left)
    </button>
  );
}

/** A match, or a series with its matches below it once it is unfolded. */
function Rows({ series, matches }: Row) {
  if (!series) return <Match {...matches[0]!} />;
  const unfolded = open.value.has(series);
  return (
    <>
      <Series series={series} matches={matches} unfolded={unfolded} />
      {unfolded && matches.map((entry) => <Match key={entry.number} {...entry} inner />)}
    </>
  );
}

function Series({ series, matches, unfolded }: { series: string; matches: Entry[]; unfolded: boolean }) {
  const first = matches[0]!;
  const faults = matches.reduce((sum, each) => sum + (each.faults?.length ?? 0) + (each.more_faults ?? 0), 0);
  const toggle = () => {
    const next = new Set(open.value);
    if (!next.delete(series)) next.add(series);
    open.value = next;
  };
  const live = matches.some((entry) => entry.live);
  return (
    <tr class={live ? "live" : ""}>
      <td class="end">{first.live ? null : <Thumbnail number={first.number} at={first.at} />}</td>
      <td class="match">
        <button type="button" class="series" aria-expanded={unfolded} onClick={toggle}>
          {matches.length} matches
        </button>
      </td>
      <td class="whole">{first.game}</td>
      <Players names={first.names} />
      <td class="broad">
        {live && <span class="badge live">live</span>} {tally(matches)}
      </td>
      <td class="number" />
      <td>{faults > 0 ? faults : ""}</td>
      <When at={first.at} />
      <td class="compare" />
    </tr>
  );
}

function Match(entry: Entry & { inner?: boolean }) {
  const { number, title, game, names, at, live, turns, ranks, faults, more_faults, inner } = entry;
  return (
    <tr class={`${live ? "live" : ""} ${inner ? "inner" : ""}`}>
      <td class="end">
        {!live && (
          <a href={`#match=${number}`} tabIndex={-1} aria-hidden="true">
            <Thumbnail number={number} at={at} />
          </a>
        )}
      </td>
      <td class="match">
        <a href={`#match=${number}`}>{visible(title)}</a>
      </td>
      <td class="whole">{game}</td>
      <Players names={names} ranks={ranks} />
      <td class="broad">{live ? <span class="badge live">live</span> : result(entry)}</td>
      <td class="number">{turns ?? ""}</td>
      <td>
        {(faults ?? []).map((fault) => `${fault.kind} (seat\u00a0${fault.player})`).join(", ")}
        {more_faults && ` and ${more_faults} more`}
      </td>
      <When at={at} />
      <td class="compare">
        {!live && (
          <input
            type="checkbox"
            aria-label={`compare ${visible(title)}`}
            checked={chosen.value.includes(number)}
            onChange={() => choose(number)}
          />
        )}
      </td>
    </tr>
  );
}

function Players({ names, ranks }: { names: string[]; ranks?: number[] | undefined }) {
  return (
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
  );
}

function When({ at }: { at: number }) {
  return <td class="whole">{new Date(at * 1000).toLocaleString(undefined, SHORT)}</td>;
}

/** Chooses a match to compare, or drops it. Of more than two, the oldest choice is dropped. */
function choose(number: number): void {
  const others = chosen.value.filter((other) => other !== number);
  chosen.value = others.length < chosen.value.length ? others : [...others, number].slice(-2);
}

function Comparing() {
  const [left, right] = chosen.value;
  if (left === undefined) return null;
  if (right === undefined) return <span role="status">Choose another match to compare.</span>;
  return <a href={`#match=${left}&with=${right}`}>compare the two</a>;
}

/** Requests the list again and again. Returns a function that ends it. */
function refreshing(): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const again = (ms: number) => {
    timer = setTimeout(async () => {
      const since = performance.now();
      await refresh();
      again(Math.max(AGAIN_MS, (performance.now() - since) * SHARE));
    }, ms);
  };
  again(AGAIN_MS);
  return () => clearTimeout(timer);
}

async function refresh(): Promise<void> {
  if (document.hidden) return;
  try {
    const answer = await ask("/matches", { headers: { "if-none-match": tag } });
    if (answer.ok) {
      entries.value = (await answer.json()) as Entry[];
      tag = answer.headers.get("etag") ?? "";
    }
    gone.value = false;
  } catch {
    gone.value = true; // the list stays
  }
}
