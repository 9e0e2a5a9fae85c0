import { painter } from "../games";
import { type Match, look } from "../match";
import type { Player } from "../player";
import { isThere } from "../server";
import { CallPanel } from "./call";
import { Charts } from "./charts";
import { Conditions } from "./conditions";
import { Desk, asked, curtained, onlySeat, picking } from "./desk";
import { Help, VERIFIED } from "./help";
import { Legend } from "./legend";
import { Link } from "./link";
import { Seats } from "./seats";
import { PLAY, Timeline } from "./timeline";
import { gestures } from "./touch";
import { cut, headline, name, sentence, visible } from "./words";

const LOST = "the server does not answer; trying again";
const LEFT = "the server has ended; this page has the whole match";

/** The whole page. While the match is being read, only the first position, in its final place. */
export function App({ player, reading = false }: { player: Player; reading?: boolean }) {
  const ends = player.match.closing && player.at.value === player.last;
  return (
    <main
      class={`${reading ? "reading" : ""} ${player.stage.value ? "stage" : ""} ${ends ? "over" : ""}`}
      data-game={player.match.about.game}
    >
      <Heading player={player} />
      <Seats player={player} />
      {!reading && <p class="headline">{cut(headline(player.match, player.at.value), 240)}</p>}
      <section class="boards" aria-label="board" {...gestures(player)}>
        <Boards player={player} />
        {player.opening.value && <Poster player={player} />}
        {!player.stage.value && (
          <>
            <Legend signs={painter(player.match.about.game).legend} game={player.match.about.game} />
            <Views player={player} />
          </>
        )}
      </section>
      {!reading && <Rest player={player} />}
    </main>
  );
}

function Heading({ player }: { player: Player }) {
  const { match } = player;
  return (
    <header>
      <h1>{visible(match.about.title)}</h1>
      <span class="seed">{origin(match)}</span>
      <Badge player={player} />
      <List player={player} />
      {player.match.about.eyes === null && (
        <button type="button" aria-pressed={!player.stage.value} title="key d" onClick={() => player.details()}>
          details
        </button>
      )}
      <Link player={player} />
      <button type="button" class="help" onClick={() => (player.help.value = true)} aria-label="help: the keys">
        ?
      </button>
    </header>
  );
}

/** The link to the list: of the server, or of the site that a page with its own match is part of. */
function List({ player }: { player: Player }) {
  if (document.querySelector("#data")) {
    const { games } = document.querySelector<HTMLElement>("#app")!.dataset;
    return games === undefined ? null : (
      <a class="to-list" href={games}>
        all games
      </a>
    );
  }
  if (!location.protocol.startsWith("http") || player.match.about.eyes !== null) return null;
  return (
    <a class="to-list" href="#" onClick={(event) => void toList(event, player)}>
      all matches
    </a>
  );
}

/** Goes to the list, if the server answers. Otherwise the browser would replace this page by an error. */
async function toList(event: MouseEvent, player: Player): Promise<void> {
  event.preventDefault();
  if (!(await isThere())) return void (player.lost.value = true);
  location.hash = "";
  location.reload();
}

/** The opening frame: who plays, and how to see it. The result is one of its buttons. */
function Poster({ player }: { player: Player }) {
  const { match } = player;
  return (
    <div class="poster">
      <ol class="versus" aria-label="who plays">
        {match.about.names.map((_, seat) => (
          <li key={seat} class={`seat-${seat}`}>
            <span class="mark" aria-hidden="true">
              {seat}
            </span>{" "}
            {name(match, seat)}
          </li>
        ))}
      </ol>
      <button type="button" class="start" onClick={() => player.start()}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={PLAY} />
        </svg>
        Play the match
      </button>
      <p>
        <button type="button" onClick={() => player.await(Infinity)}>
          show the result
        </button>{" "}
        <button type="button" onClick={() => player.details()}>
          turn by turn
        </button>
      </p>
    </div>
  );
}

/** What is below and beside the board. A person who plays has the board and the question, and calls afterwards. */
function Rest({ player }: { player: Player }) {
  const plays = player.match.about.eyes !== null && !player.match.closing;
  return (
    <>
      {!player.stage.value && (
        <>
          <div class="side">
            <Desk player={player} />
            {!plays && <Conditions player={player} />}
            {!plays && <CallPanel player={player} />}
          </div>
          {!plays && <Charts player={player} />}
        </>
      )}
      <Timeline player={player} />
      <p class="sr-only" aria-live="polite">
        {player.playing.value ? "" : sentence(player.match, player.at.value)}
      </p>
      {player.help.value && <Help player={player} />}
    </>
  );
}

/** The seed, or the source of an imported match. */
function origin({ about, header }: Match): string {
  if (about.original) return `a file of the original competition: ${about.original}`;
  return header.setup.seed === null ? "the seed is shown at the end" : `seed ${header.setup.seed}`;
}

/** Whether the replay still grows, or whether it follows the rules. */
function Badge({ player }: { player: Player }) {
  const { closing } = player.match;
  if (player.lost.value)
    return (
      <span class="badge bad" role="alert">
        {closing ? LEFT : LOST}
      </span>
    );
  if (!closing) return <span class="badge live">{player.match.about.live ? "live" : "reading"}</span>;
  if (player.match.about.original && closing.verified === "as recorded") return <span class="badge">as recorded</span>;
  if (closing.verified !== "identical") return <span class="badge bad">{closing.verified}</span>;
  return (
    <span class="badge good" title={VERIFIED}>
      verified
    </span>
  );
}

/** The position: everything, one seat's view, or all seats' views. */
function Boards({ player }: { player: Player }) {
  const { match } = player;
  const { Board } = painter(match.about.game);
  const step = player.step.value;
  if (curtained(player)) return <div class="beside curtain" />;
  const choice = asked(player);
  if (choice)
    return (
      <div class="beside">
        <section class="board" aria-label={`the board as seat ${choice.seat} sees it`}>
          <Board
            seat={choice.seat}
            view={choice.view}
            board={choice.board}
            before={look(match, player.at.value, choice.seat).before}
            step={step}
            match={match}
            motion={player.motion}
            pick={picking(player, choice)}
          />
        </section>
      </div>
    );
  const sitting = onlySeat(player);
  const all = player.beside.value && step.seats ? player.views.filter((seat) => seat !== null) : [player.seat.value];
  const views = sitting === null ? all : [sitting];
  return (
    <div class="beside">
      {views.map((seat) => {
        const label = seat === null ? "the board" : `the board as seat ${seat} sees it`;
        return (
          <section key={seat} class="board" aria-label={label}>
            <Board {...look(match, player.at.value, seat)} step={step} match={match} motion={player.motion} />
          </section>
        );
      })}
    </div>
  );
}

function Views({ player }: { player: Player }) {
  if (player.views.length < 2 || player.match.about.eyes) return null;
  const shown = (seat: number | null) => !player.beside.value && player.seat.value === seat;
  const show = (seat: number | null) => {
    player.beside.value = false;
    player.seat.value = seat;
  };
  return (
    <nav class="views" aria-label="whose view">
      {player.views.map((seat) => (
        <button type="button" key={seat} aria-pressed={shown(seat)} onClick={() => show(seat)}>
          {seat === null ? "everything" : `seat ${seat}`}
        </button>
      ))}
      <button
        type="button"
        aria-pressed={player.beside.value}
        onClick={() => (player.beside.value = !player.beside.value)}
      >
        side by side
      </button>
    </nav>
  );
}
