import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { painter } from "../games";
import { type Key, type Pick, type Way, left, next, ways } from "../games/pick";
import type { Choice } from "../match";
import type { Json } from "../patch";
import type { Player } from "../player";
import { compact, finder, name, visible } from "./words";

const LISTED = 60;
const typed = signal("");
/** The seat in front of the screen, if several people share it. */
const seated = signal<number | null>(null);

/** The current question, if the page shows the newest turn. */
export function asked(player: Player): Choice | null {
  const choice = player.live.value?.choice ?? null;
  return choice && player.at.value === player.last && !player.lost.value ? choice : null;
}

/** Whether several people with different views share this screen. */
function sharing(player: Player): boolean {
  const { eyes } = player.match.about;
  const live = player.live.value;
  if (!eyes || eyes.length < 2 || !live || live.over) return false;
  const views = player.match.steps.at(-1)?.seats ?? [];
  return !eyes.every((seat) => JSON.stringify(views[seat]) === JSON.stringify(views[eyes[0]!]));
}

/** Whether the board is hidden until the next person sits down at a shared screen. */
export function curtained(player: Player): boolean {
  const choice = player.live.value?.choice;
  return sharing(player) && (seated.value === null || (choice ? choice.seat !== seated.value : false));
}

/** The only seat whose view may be shown on a shared screen. */
export function onlySeat(player: Player): number | null {
  return sharing(player) ? seated.value : null;
}

/** A button for each answer, named by its words if no two are alike. */
function buttons({ answers, words }: Choice): (answer: Json) => string[] {
  const named = new Map(
    new Set(words).size === answers?.length ? answers.map((answer, at) => [answer, words![at]]) : [],
  );
  return (answer) => [`!${named.get(answer) ?? compact(answer)}`];
}

function waysOf(player: Player, choice: Choice): Way[] {
  const { targets, unordered } = painter(player.match.about.game);
  return ways(choice, targets ?? buttons(choice), unordered?.(choice.method));
}

/** Where a person may click on the board. */
export function picking(player: Player, choice: Choice): Pick {
  const { places, tried } = painter(player.match.about.game);
  if (choice.answers === null && choice.least === null) {
    const keys = new Set(places?.(choice.view, choice.method) ?? []);
    return { keys, chosen: [], click: (key) => tried && player.answer({ answer: tried(key) }) };
  }
  const all = waysOf(player, choice);
  const chosen = player.chosen.value;
  const keys = next(left(all, chosen), chosen);
  if (chosen.length > 0) for (const key of next(all, [])) keys.add(key); // a different first click
  return { keys, chosen, click: (key) => click(player, all, key) };
}

/** Takes a click. Answers once only one way is left. */
function click(player: Player, all: Way[], key: Key): void {
  const on = next(left(all, player.chosen.value), player.chosen.value).has(key);
  const chosen = on ? [...player.chosen.value, key] : [key];
  const rest = left(all, chosen);
  const [only] = rest;
  const clear = only && rest.length === 1 && only.keys.slice(chosen.length).every((each) => each.startsWith("!"));
  if (clear) player.answer({ answer: only.answer });
  else if (chosen.length === 1 && player.chosen.value[0] === key) player.chosen.value = [];
  else player.chosen.value = chosen;
}

/** The question to a person, with possible answers and undo. */
export function Desk({ player }: { player: Player }) {
  const live = player.live.value;
  const { eyes } = player.match.about;
  if (player.elsewhere.value !== null && !player.lost.value) return <Next number={player.elsewhere.value} />;
  if (!eyes || !live || live.over) return null;
  const choice = live.choice;
  if (!choice || player.lost.value)
    return (
      <section class="desk waiting" aria-label="your turn">
        <Told player={player} />
        <p aria-live="polite">{waiting(player)}</p>
      </section>
    );
  const who = `${name(player.match, choice.seat)}, seat ${choice.seat}`;
  if (curtained(player))
    return (
      <section class="desk" aria-label="your turn">
        <p aria-live="polite">It is the turn of {who}. Others, please look away.</p>
        <button type="button" class="main" onClick={() => (seated.value = choice.seat)}>
          I am {name(player.match, choice.seat)}
        </button>
      </section>
    );
  return (
    <section class={`desk seat-${choice.seat}`} aria-label="your turn">
      <p aria-live="polite">
        <strong>{who}</strong>: your answer to <code>{choice.method}</code>
        {choice.drafted > 0 && `, after ${choice.drafted} that you can undo`}
      </p>
      <Told player={player} />
      {choice.wrong && (
        <p class="bad" role="alert">
          {visible(choice.wrong)}
        </p>
      )}
      {player.at.value !== player.last && (
        <button type="button" onClick={() => player.newest()}>
          go to the current position
        </button>
      )}
      {choice.least !== null && <NumberField player={player} choice={choice} />}
      {choice.least === null && <Answers player={player} choice={choice} />}
      <p class="row">
        {choice.answers === null && (
          <button type="button" onClick={() => player.answer({ sample: true })}>
            {choice.least === null ? "place for me" : "any"}
          </button>
        )}
        <button
          type="button"
          disabled={choice.drafted === 0 && player.chosen.value.length === 0}
          onClick={() => player.undo()}
        >
          undo
        </button>
        <button
          type="button"
          onClick={() => confirm("Leave the table? The match is lost then.") && player.answer({ leave: true })}
        >
          leave the table
        </button>
      </p>
    </section>
  );
}

/** What a person who is not asked waits for. */
function waiting(player: Player): string {
  if (player.lost.value) return "The server does not answer: nothing can be answered here until it does.";
  if (player.match.closing) return "";
  return player.live.value?.paused ? "The match is paused." : "The others are thinking.";
}

/** What happened to the last question, if this page did not answer it. */
function Told({ player }: { player: Player }) {
  return player.told.value ? <p role="status">{visible(player.told.value)}</p> : null;
}

/** A link to the next match of a series. The page stays here so that people see the end of this one. */
function Next({ number }: { number: number }) {
  return (
    <section class="desk" aria-label="the next match">
      <p aria-live="polite">This match is over; the next one is running.</p>
      <button type="button" class="main" onClick={() => (location.hash = `#match=${number}`)}>
        go to the running match
      </button>
    </section>
  );
}

function NumberField({ player, choice }: { player: Player; choice: Choice }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const value = Number(field.current!.value);
        if (field.current!.value !== "" && Number.isInteger(value)) player.answer({ answer: value });
      }}
    >
      <label>
        a number from {choice.least} to {choice.most}{" "}
        <input id="answer" ref={field} type="number" min={choice.least!} max={choice.most!} step={1} required />
      </label>
      <button type="submit">answer</button>
    </form>
  );
}

/** Buttons for answers that are not on the board, and a field that filters the rest. */
function Answers({ player, choice }: { player: Player; choice: Choice }) {
  useEffect(() => void (typed.value = ""), [choice.number]);
  const sets = painter(player.match.about.game).sets?.(choice.view, choice.method);
  if (choice.answers === null) return <p>{sets ?? "Click a place on the board, or let Referee place everything."}</p>;
  const all = waysOf(player, choice);
  const chosen = player.chosen.value;
  const rest = left(all, chosen);
  const buttons = [...next(rest, chosen)].filter((key) => key.startsWith("!"));
  const fits = finder(typed.value);
  const found = [...new Map(rest.map((way) => [way.answer, way])).values()].filter(({ words }) => fits(words));
  const exact = found.find(({ words }) => words.toLowerCase() === typed.value.trim().toLowerCase());
  return (
    <>
      {sets && <p>{sets}</p>}
      <p class="row">
        {buttons.map((key) => (
          <button type="button" key={key} class="main" onClick={() => click(player, all, key)}>
            {key.slice(1)}
          </button>
        ))}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const way = exact ?? (typed.value.trim() !== "" || found.length === 1 ? found[0] : undefined);
          if (way) player.answer({ answer: way.answer });
        }}
      >
        <label>
          by its name{" "}
          <input
            id="answer"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>{" "}
        <small>
          {found.length} of {choice.answers.length}; Enter takes the first
        </small>
      </form>
      <ul class="answers">
        {found.slice(0, LISTED).map(({ answer, words, keys }) => (
          <li key={keys.join()}>
            <button type="button" onClick={() => player.answer({ answer })}>
              {visible(words)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
