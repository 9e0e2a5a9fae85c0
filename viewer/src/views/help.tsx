import { KEYS } from "../keys";
import type { Player } from "../player";

/** What the badge of a sound record means. */
export const IDENTICAL = "played again by the rules, the record's answers gave the same positions and the same result";

export function Help({ player }: { player: Player }) {
  return (
    <dialog open aria-label="the keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([keys, help]) => (
          <>
            <dt>
              <kbd>{keys[0] === " " ? "space" : keys.join(" ")}</kbd>
            </dt>
            <dd>{help}</dd>
          </>
        ))}
      </dl>
      {player.match.closing?.verified === "identical" && (
        <p>
          <strong>identical</strong>: {IDENTICAL}
        </p>
      )}
      <button type="button" onClick={() => (player.help.value = false)}>
        close
      </button>
    </dialog>
  );
}
