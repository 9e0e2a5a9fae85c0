import { type Line, type Match, type Wrong, asked, limit, said, sent, wrongs } from "../match";
import { PANELS, type Panel, type Player } from "../player";
import { Tokens, Transcript } from "./model";
import { Search } from "./search";
import { answers, compact, cut, name, spent, visible } from "./words";

const MOST = 60_000;
const LABELS: Record<Panel, string> = { call: "call", events: "events", calls: "all turns", search: "search" };

/** The calls of this step with answers, cost and faults; its events; a list of all steps. */
export function CallPanel({ player }: { player: Player }) {
  const original = player.match.about.original !== "";
  const shown = original && player.panel.value === "call" ? "events" : player.panel.value;
  return (
    <section class="panel" aria-label={original ? "the turn" : "the call"}>
      <nav>
        {(original ? PANELS.slice(1) : PANELS).map((panel) => (
          <button type="button" key={panel} aria-pressed={shown === panel} onClick={() => (player.panel.value = panel)}>
            {LABELS[panel]}
          </button>
        ))}
      </nav>
      {shown === "call" && <Call player={player} />}
      {shown === "events" && <Events player={player} />}
      {shown === "calls" && <Calls player={player} />}
      {shown === "search" && <Search player={player} />}
    </section>
  );
}

function Call({ player }: { player: Player }) {
  const { match } = player;
  const at = player.at.value;
  const { line } = player.step.value;
  const all = [...new Set([...Object.keys(line.answers ?? {}), ...Object.keys(line.faults ?? {})])].map(Number);
  const wrong = wrongs(match, at);
  const during = wrong.filter(({ when }) => when === "turn");
  const guilty = new Set(during.map(({ player }) => player));
  const seats = [...all.filter((seat) => guilty.has(seat)), ...all.filter((seat) => !guilty.has(seat))]; // faults first
  if (seats.length === 0 && wrong.length === 0)
    return <p>{line.opening ? "The start: no bot has been asked yet." : compact(line as never)}</p>;
  return (
    <>
      {wrong
        .filter(({ when }) => when !== "turn")
        .map((each, index) => (
          <dl key={`!${index}`} class={`seat-${each.player}`}>
            <dt>seat</dt>
            <dd>
              {each.player}, {name(match, each.player)}: {each.report && <code>{each.report.method}</code>}{" "}
              {each.when === "end" ? "after the last turn" : "before the first turn"}
            </dd>
            <Ruled match={match} wrong={each} method={each.report?.method} />
            <Asked match={match} wrong={each} />
          </dl>
        ))}
      {seats.map((seat) => (
        <dl key={seat} class={`seat-${seat}`}>
          <dt>seat</dt>
          <dd>
            {seat}, {name(match, seat)}: <code>{asked(match, at, seat)}</code>
          </dd>
          {during
            .filter(({ player }) => player === seat)
            .map((each) => (
              <Ruled key={each.kind} match={match} wrong={each} method={asked(match, at, seat)} />
            ))}
          <Said match={match} at={at} seat={seat} />
          <Sent player={player} at={at} seat={seat} />
          <dt>answer</dt>
          <dd>
            <Answer line={line} seat={seat} />
          </dd>
          <dt>time</dt>
          <dd>
            <Cost
              limit={limit(match, at, seat)}
              wall={line.wall_us?.[seat]}
              cpu={line.cpu_us?.[seat]}
              fuel={line.fuel?.[seat]}
            />
          </dd>
          {line.model?.[seat] && (
            <>
              <dt>model</dt>
              <dd>
                <Tokens use={line.model[seat]} />
              </dd>
            </>
          )}
          {line.transcript?.[seat] && <Transcript player={player} exchanges={line.transcript[seat]} />}
          {during
            .filter(({ player }) => player === seat)
            .map((each) => (
              <Asked key={each.kind} match={match} wrong={each} />
            ))}
        </dl>
      ))}
    </>
  );
}

/** An answer in the game's notation and as it came. A call without a result has no more than its name. */
function Answer({ line: { answers, words }, seat }: { line: Line; seat: number }) {
  if (!(seat in (answers ?? {}))) return <>none</>;
  const said = words?.[seat];
  return (
    <>
      {said !== undefined && visible(said)}{" "}
      {(said === undefined || answers![seat] !== null) && <code>{compact(answers![seat], 2000)}</code>}
    </>
  );
}

/** The frame that was sent, which may be long. It is rendered when opened. */
function Sent({ player, at, seat }: { player: Player; at: number; seat: number }) {
  const shown = player.sent.value && !player.playing.value;
  const text = shown ? sent(player.match, at, seat) : undefined;
  return (
    <>
      <dt>sent</dt>
      <dd>
        <button type="button" aria-expanded={shown} onClick={() => (player.sent.value = !player.sent.value)}>
          {shown ? "hide" : "the frame"}
        </button>{" "}
        {text !== undefined && (
          <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
            copy
          </button>
        )}
        {text !== undefined && <code class="frame">{visible(cut(text, MOST))}</code>}
        {text !== undefined && <small>{form(player.match, seat)}</small>}
      </dd>
    </>
  );
}

/** How the sent frame differs from the one shown. */
function form({ about, ending }: Match, seat: number): string {
  const words = ["exact except for its id and sometimes a millisecond of its clock"];
  if (ending?.seats?.[seat]?.encoding === "msgpack") words.push("sent in MessagePack, shown in JSON");
  if (about.command.split(" ").includes("--chaos")) words.push("--chaos changed its form");
  return words.join("; ");
}

/** The bot's standard error during this call. */
function Said({ match, at, seat }: { match: Match; at: number; seat: number }) {
  const text = said(match, at, seat);
  if (!text) return null;
  return (
    <>
      <dt>stderr</dt>
      <dd>
        <pre class="said">{visible(cut(text, MOST))}</pre>
      </dd>
    </>
  );
}

type Maybe = number | undefined;

/** The cost of a call. Of a metered bot, fuel is its time, and the machine's CPU time means nothing. */
function Cost({ limit, wall, cpu, fuel }: { limit: number | null; wall: Maybe; cpu: Maybe; fuel: Maybe }) {
  if (fuel !== undefined)
    return (
      <>
        <Used what="fuel" us={wall} limit={limit} /> {fuel.toLocaleString("en")} units
      </>
    );
  return (
    <>
      <Used what="wall" us={wall} limit={limit} />
      <Used what="CPU" us={cpu} limit={limit} />
    </>
  );
}

/** A time and its limit, as numbers and as a bar. */
function Used({ what, us, limit }: { what: string; us: number | undefined; limit: number | null }) {
  const part = us === undefined || !limit ? 0 : Math.min(1, us / 1e6 / limit);
  return (
    <span class="used">
      {what} {spent(us, limit)}{" "}
      <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width={100} height={10} />
        <rect class={part > 0.5 ? "much" : "some"} width={part * 100} height={10} />
      </svg>
    </span>
  );
}

/** A fault with its rule, and the section that says what is legal. */
function Ruled({ match, wrong, method }: { match: Match; wrong: Wrong; method: string | undefined }) {
  const ruled = [wrong.report?.rules, match.about.rules[method ?? ""]].filter(Boolean);
  const section = [...new Set(ruled)].join("; ");
  return (
    <>
      <dt class="bad">{wrong.kind}</dt>
      <dd class="bad">
        {visible(wrong.detail)}; {wrong.penalty}
      </dd>
      {section && (
        <>
          <dt>rule</dt>
          <dd>{section}</dd>
        </>
      )}
    </>
  );
}

/** More about a fault: the call, the last lines of stderr, and how to reproduce it. */
function Asked({ match, wrong: { report } }: { match: Match; wrong: Wrong }) {
  return (
    <>
      {report && (
        <>
          <dt>asked</dt>
          <dd>
            <code class="frame">{visible(report.frame)}</code>
          </dd>
          {report.last_words.length > 0 && (
            <>
              <dt>last lines of stderr</dt>
              <dd>
                <pre>{report.last_words.map(visible).join("\n")}</pre>
              </dd>
            </>
          )}
        </>
      )}
      {match.about.command && (
        <>
          <dt>reproduce with</dt>
          <dd>
            <code>{match.about.command}</code>
          </dd>
        </>
      )}
    </>
  );
}

function Events({ player }: { player: Player }) {
  const { line } = player.step.value;
  const events = line.events ?? line.opening ?? [];
  if (events.length === 0) return <p>No events.</p>;
  return (
    <ul class="events">
      {events.map((event, index) => (
        <li key={index}>
          {event.event === "ruling"
            ? `${name(player.match, event.player!)}: ${visible(event.fault!.detail)}; ${event.penalty}`
            : `${event.method} ${compact(event.params, 300)}`}
        </li>
      ))}
    </ul>
  );
}

/** The steps around this one; a whole match would be too long. */
function Calls({ player }: { player: Player }) {
  const { match } = player;
  const from = Math.max(0, player.at.value - 12);
  return (
    <ol class="calls" start={from}>
      {match.steps.slice(from, from + 25).map((step, index) => {
        const at = from + index;
        return (
          <li key={at}>
            <button type="button" aria-current={at === player.at.value} onClick={() => player.jump(at)}>
              {at} {answers(match, step.line).join(" · ")}
              {wrongs(match, at).length > 0 && " ✗"}
            </button>
          </li>
        );
      })}
    </ol>
  );
}
