// AIBG's page for viewers: one game as the server streams it, position by position.

import { signal } from "@preact/signals";
import { render } from "preact";
import { Board, legend } from "./games/aibg5";
import type { Events, Frames, GameState, Player as Ship } from "./games/types/aibg5";
import { type Line, Reader, type Step } from "./match";
import { Legend } from "./views/legend";
import { visible } from "./views/words";

const AGAIN_MS = 1000;
const KEPT = "viewers' password";
const CLEAN = 1000;

/** A message of the stream. The texts are JSON themselves. */
interface Frame {
  gameState: string;
  /** Remaining milliseconds. */
  time: number;
  playerAttack: string;
}

const latest = signal<{ state: GameState | null; left: number; line: Line<Frames> } | null>(null);
const told = signal("");
const wrong = signal("");
const entered = signal(false);

/** The game in the address: `/?gameId=0`. */
function game(): string {
  return new URLSearchParams(location.search).get("gameId") ?? "0";
}

/** Moves a password from the address to this tab's storage, which survives reloads. */
function password(): string {
  const named = new URLSearchParams(location.hash.slice(1));
  const given = named.get("password");
  if (given !== null) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.search || "?gameId=0");
  }
  return sessionStorage.getItem(KEPT) ?? "";
}

export function screen(root: Element): void {
  document.title = `AIBG 5, game ${game()}`;
  if (password()) listen();
  render(<Screen />, root);
}

/** Follows the game until it is over, and reconnects if the connection is lost. */
function listen(): void {
  entered.value = true;
  wrong.value = "";
  const asked = new URLSearchParams({ gameId: game(), password: password() });
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}/streaming?${asked}`);
  let refused = false;
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data as string) as Frame | { message: string };
    if ("message" in frame) {
      refused = true;
      wrong.value = frame.message;
      entered.value = false;
      latest.value = null; // it may be of a game that this server no longer has
      return;
    }
    told.value = "live";
    const shot = JSON.parse(frame.playerAttack) as Events["shot"] | null;
    const line: Line<Frames> = { events: shot === null ? [] : [{ event: "notice", method: "shot", params: shot }] };
    latest.value = { state: JSON.parse(frame.gameState) as GameState | null, left: frame.time, line };
  };
  socket.onclose = ({ code }) => {
    if (refused) return;
    told.value = code === CLEAN ? "the game is over" : "the server does not answer; trying again";
    if (code !== CLEAN) setTimeout(listen, AGAIN_MS);
  };
}

function Screen() {
  const shown = latest.value;
  return (
    <main class="screen">
      <header>
        <h1>AIBG 5, game {visible(game())}</h1>
        {shown && <span class="seed">{clock(shown.left)} left</span>}
        {entered.value && told.value && (
          <span class={told.value === "live" ? "badge live" : "badge"} aria-live="polite">
            {told.value}
          </span>
        )}
      </header>
      {entered.value ? shown && <Position {...shown} /> : <Door />}
    </main>
  );
}

function clock(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Asks for the viewers' password, which is never in the page's address. */
function Door() {
  return (
    <form
      class="boards"
      onSubmit={(event) => {
        event.preventDefault();
        sessionStorage.setItem(KEPT, event.currentTarget.querySelector("input")!.value);
        listen();
      }}
    >
      {wrong.value && (
        <p class="bad" role="alert">
          {visible(wrong.value)}
        </p>
      )}
      <p>
        <label>
          the viewers' password <input type="password" autocomplete="off" required />
        </label>{" "}
        <button type="submit">look</button>
      </p>
    </form>
  );
}

const NOBODY = new Reader().match;

function Position({ state, line }: { state: GameState | null; line: Line<Frames> }) {
  if (!state) return <p class="boards">The game has not begun: the players are still waited for.</p>;
  const step: Step<Frames> = { line, view: null, seats: undefined, text: [], marks: {}, awaited: {}, asked: {} };
  return (
    <>
      <section class="boards" aria-label="board">
        <div class="board">
          <Board seat={0} view={state} before={null} step={step} match={NOBODY} />
        </div>
        <Legend signs={legend} game="aibg5" />
      </section>
      <div class="side">
        <Standing ships={state.scoreBoard.players} />
      </div>
    </>
  );
}

const COLUMNS = ["score", "health", "level", "kills", "deaths"] as const;

function Standing({ ships }: { ships: Ship[] }) {
  return (
    <table class="panel" aria-label="the score board">
      <thead>
        <tr>
          {["", "player", ...COLUMNS].map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ships.map((ship) => (
          <tr key={ship.playerIdx} class={`seat-${ship.playerIdx - 1}`}>
            <td>
              <span class="mark">{ship.playerIdx - 1}</span>
            </td>
            <th scope="row">{visible(ship.name)}</th>
            {COLUMNS.map((column) => (
              <td key={column}>{ship[column]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
