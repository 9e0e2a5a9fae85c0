import type { Player } from "../player";
import { MOST, excerpt } from "../search";
import { name, visible } from "./words";

/** A field for a text, and the turns whose answers, notices, faults or standard error contain it. */
export function Search({ player }: { player: Player }) {
  const { searched, hits } = player;
  const found = hits.value;
  const here = found.findIndex(({ at }) => at === player.at.value);
  return (
    <search class="searching">
      <label>
        text{" "}
        <input
          id="search"
          type="search"
          value={searched.value}
          onInput={({ currentTarget }) => (searched.value = currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && player.nextHit(event.shiftKey)}
        />
      </label>{" "}
      <button type="button" disabled={found.length === 0} onClick={() => player.nextHit(true)}>
        previous
      </button>{" "}
      <button type="button" disabled={found.length === 0} onClick={() => player.nextHit()}>
        next
      </button>{" "}
      <small role="status">{status(found.length, here, searched.value)}</small>
      <ol class="calls">
        {found.map((hit, index) => (
          <li key={index}>
            <button type="button" aria-current={hit.at === player.at.value} onClick={() => player.jump(hit.at)}>
              {hit.at} {hit.seat === undefined ? "" : `${name(player.match, hit.seat)}, `}
              {hit.kind}: {visible(excerpt(hit.text, searched.value))}
            </button>
          </li>
        ))}
      </ol>
    </search>
  );
}

function status(count: number, here: number, typed: string): string {
  if (!typed.trim()) return "Searches answers, notices, faults and standard error.";
  if (count === 0) return "nothing found";
  const all = count === MOST ? `the first ${MOST}` : count;
  return here < 0 ? `${all} found` : `${here + 1} of ${all}`;
}
