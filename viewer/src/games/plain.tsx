import type { BoardProps } from ".";
import { visible } from "../views/words";

/** The drawing that the game makes for people; of a seat's view its members, since the drawing shows everything. */
export function Board({ step, view, seat }: BoardProps) {
  const text = seat === null && step.text.length > 0 ? step.text.join("\n") : JSON.stringify(view, null, 1);
  return (
    <pre class="drawing" tabIndex={0}>
      {visible(text)}
    </pre>
  );
}
