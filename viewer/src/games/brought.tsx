// Painters that the packages of other games bring. `docs/reference/game-packages.md` documents their interface.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BoardProps, Painter } from "./painter";
import { hot } from "./pick";
import { Board as Plain } from "./plain";

interface Brought extends Pick<Painter, "targets" | "scores" | "scoreName"> {
  /** Draws a view into an empty element. `seat` is null if the view shows everything. */
  draw: (board: HTMLElement, view: unknown, match: { seat: number | null; names: string[] }) => void;
}

declare global {
  var refereePainters: Record<string, Brought> | undefined;
}

const made = new Map<string, Painter>();

/** Returns the painter that a game's package brings. */
export function brought(game: string): Painter | undefined {
  const own = globalThis.refereePainters?.[game];
  if (own && !made.has(game)) made.set(game, { ...own, Board: (props) => <Drawn {...props} own={own} /> });
  return made.get(game);
}

/** The drawing, or the text drawing if the painter throws. Elements with `data-key` can be clicked. */
function Drawn({ own, ...props }: BoardProps & { own: Brought }) {
  const { view, seat, match, pick } = props;
  const element = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState<unknown>();
  useLayoutEffect(() => {
    const board = element.current;
    if (!board) return;
    board.replaceChildren();
    try {
      own.draw(board, view, { seat, names: match.about.names });
    } catch (error) {
      console.warn(error);
      return setFailed(view);
    }
    for (const part of board.querySelectorAll<HTMLElement>("[data-key]")) {
      const key = part.dataset.key!;
      const target = hot(pick, key, part.getAttribute("aria-label") ?? key);
      if (!target) continue;
      part.classList.add(...target.class.trim().split(" "));
      part.setAttribute("role", target.role);
      part.setAttribute("tabindex", "0");
      part.setAttribute("aria-label", target["aria-label"]);
      part.addEventListener("click", target.onClick);
      part.addEventListener("keydown", target.onKeyDown);
    }
  });
  return failed === view ? <Plain {...props} /> : <div ref={element} class="brought" />;
}
