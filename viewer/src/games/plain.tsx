import type { BoardProps } from "./painter";
import { visible } from "../views/words";

/** The game's text drawing, which shows everything. For a seat, the text `observation` of its view, or all as JSON. */
export function Board({ step, view, seat }: BoardProps) {
  const drawn = seat === null && step.text.length > 0 ? step.text.join("\n") : observation(view);
  const text = drawn ?? JSON.stringify(view, null, 1);
  return (
    <pre class="drawing" tabIndex={0}>
      {visible(text)}
    </pre>
  );
}

function observation(view: BoardProps["view"]): string | undefined {
  if (typeof view !== "object" || view === null || !("observation" in view)) return undefined;
  return typeof view.observation === "string" ? view.observation : undefined;
}
