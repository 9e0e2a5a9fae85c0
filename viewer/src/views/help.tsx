import { KEYS } from "../keys";
import type { Player } from "../player";

/** The meaning of the badge `verified`. */
export const VERIFIED = "playing the replay's answers by the rules gave the same positions and the same result";

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
          <strong>verified</strong>: {VERIFIED}
        </p>
      )}
      <button type="button" onClick={() => (player.help.value = false)}>
        close
      </button>
    </dialog>
  );
}
