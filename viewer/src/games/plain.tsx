import type { BoardProps } from "./painter";
import { visible } from "../views/words";

/** The game's text drawing, which shows everything. For a seat, its view as JSON. */
export function Board({ step, view, seat }: BoardProps) {
  const text = seat === null && step.text.length > 0 ? step.text.join("\n") : JSON.stringify(view, null, 1);
  return (
    <pre class="drawing" tabIndex={0}>
      {visible(text)}
    </pre>
  );
}
