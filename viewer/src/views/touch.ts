// Fingers and clicks on the board: a swipe goes a turn on or back, a tap on the board alone plays or pauses.

import type { Player } from "../player";
import { asked } from "./desk";

const SWIPE = 40;
const TAP = 10;
/** What has clicks of its own. */
const OWN = "button, a, summary, input, [role=button]";

export function gestures(player: Player) {
  let begun: PointerEvent | undefined;
  return {
    onPointerDown: (event: PointerEvent) => (begun = event.isPrimary && event.button === 0 ? event : undefined),
    onPointerUp: (event: PointerEvent) => {
      const from = begun;
      begun = undefined;
      if (!from || asked(player) || (from.target as Element).closest(OWN)) return;
      const [right, down] = [event.clientX - from.clientX, event.clientY - from.clientY];
      if (event.pointerType === "touch" && Math.abs(right) > SWIPE && Math.abs(right) > 2 * Math.abs(down))
        return player.move(right < 0 ? 1 : -1);
      if (player.stage.value && Math.hypot(right, down) < TAP) player.toggle();
    },
  };
}
