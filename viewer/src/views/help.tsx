import { KEYS } from "../keys";
import type { Player } from "../player";

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
      <button type="button" onClick={() => (player.help.value = false)}>
        close
      </button>
    </dialog>
  );
}
