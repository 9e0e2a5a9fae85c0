import type { Condition, Player } from "../player";
import { name } from "./words";

/** Conditions to pause at, such as a seat's food. They pause playback, and the running match if this page controls it. */
export function Conditions({ player }: { player: Player }) {
  const names = Object.keys(player.measures(0));
  if (names.length === 0 || player.match.about.eyes) return null;
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const condition = {
      measure: String(form.get("measure")),
      seat: Number(form.get("seat")),
      sign: String(form.get("sign")) as Condition["sign"],
      value: Number(form.get("value")),
    };
    player.pauseAt([...player.conditions.value, condition]);
  };
  return (
    <details class="conditions">
      <summary>pause at {player.conditions.value.length > 0 ? `(${player.conditions.value.length})` : "…"}</summary>
      <form class="row" onSubmit={add}>
        <select name="seat" aria-label="whose">
          {player.match.about.names.map((_, seat) => (
            <option key={seat} value={seat}>
              {name(player.match, seat)}
            </option>
          ))}
        </select>
        <select name="measure" aria-label="what">
          {names.map((measure) => (
            <option key={measure}>{measure}</option>
          ))}
        </select>
        <select name="sign" aria-label="how">
          <option>at least</option>
          <option>at most</option>
        </select>
        <input name="value" type="number" required aria-label="how much" />
        <button type="submit">add</button>
      </form>
      <ul class="events">
        {player.conditions.value.map((condition, index) => (
          <li key={index}>
            {name(player.match, condition.seat)}: {condition.measure} {condition.sign} {condition.value}{" "}
            <button
              type="button"
              onClick={() => player.pauseAt(player.conditions.value.filter((each) => each !== condition))}
            >
              remove
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
