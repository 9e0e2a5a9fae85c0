// Draws single positions for programs: environments for training take pictures of them.

import { render } from "preact";
import { painter } from "./games";
import { Reader, look } from "./match";

declare global {
  /** Draws the last position of the viewer's lines, as a seat sees it; null sees everything. */
  var refereePaint: ((lines: string[], seat: number | null) => void) | undefined;
}

export function picture(root: Element): void {
  globalThis.refereePaint = (lines, seat) => {
    const reader = new Reader();
    for (const line of lines) reader.take(line);
    const { match } = reader;
    const { Board } = painter(match.about.game);
    const at = match.steps.length - 1;
    render(null, root); // a board that stays would show what moved
    render(
      <main class="picture" data-game={match.about.game}>
        <section class="board">
          <Board {...look(match, at, seat)} step={match.steps[at]!} match={match} />
        </section>
      </main>,
      root,
    );
  };
}
