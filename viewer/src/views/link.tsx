import { signal } from "@preact/signals";
import { hasAddress, link } from "../place";
import type { Player } from "../player";

const TOLD_MS = 3000;
const copied = signal(false);
/** The link, where the browser does not let the page copy it. */
const given = signal("");

/** Copies a link to the shown turn. */
export function Link({ player }: { player: Player }) {
  if (!hasAddress()) return null;
  const copy = async () => {
    player.playing.value = false;
    try {
      await navigator.clipboard.writeText(link(player));
      copied.value = true;
      setTimeout(() => (copied.value = false), TOLD_MS);
    } catch {
      given.value = link(player); // plain HTTP from another machine has no clipboard
    }
  };
  return (
    <>
      <button type="button" id="link" title="key c" onClick={() => void copy()}>
        copy link
      </button>
      <span role="status" class="copied">
        {copied.value && `copied: turn ${player.at.value}`}
      </span>
      {given.value && (
        <input
          class="given"
          readOnly
          aria-label="the link to this turn"
          value={given.value}
          ref={(field) => field?.select()}
          onBlur={() => (given.value = "")}
        />
      )}
    </>
  );
}
