// Small boards of the end, for lists. A board is requested and drawn once its row is visible.

import { useEffect, useRef, useState } from "preact/hooks";
import { painter } from "../games";
import { type Match, Reader, look } from "../match";
import { ask } from "../server";

/** How many matches are kept, and how far below the window rows are drawn. */
const KEPT = 200;
const MARGIN = "200px";
const kept = new Map<string, Match | null>();
/** One request at a time: a list of ten thousand must not delay the page or the matches that play. */
let queue: Promise<void> = Promise.resolve();

/** The last position of a finished match, as small as a stamp. It says nothing that the row does not say. */
export function Thumbnail({ number, at }: { number: number; at: number }) {
  const element = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  const [match, setMatch] = useState<Match | null>();
  useEffect(() => {
    const watching = new IntersectionObserver(([entry]) => setSeen(entry!.isIntersecting), { rootMargin: MARGIN });
    watching.observe(element.current!);
    return () => watching.disconnect();
  }, []);
  useEffect(() => {
    if (!seen) return;
    let wanted = true;
    queue = queue.then(async () => {
      if (!wanted) return;
      const found = await end(number, at);
      if (wanted) setMatch(found);
    });
    return () => void (wanted = false);
  }, [seen, number, at]);
  return (
    <div ref={element} class="thumbnail" aria-hidden="true" inert>
      {seen && match && <Small match={match} />}
    </div>
  );
}

function Small({ match }: { match: Match }) {
  const { Board } = painter(match.about.game);
  const at = match.steps.length - 1;
  return (
    <div class="board" data-game={match.about.game}>
      <Board {...look(match, at, null)} before={null} step={match.steps[at]!} match={match} />
    </div>
  );
}

/** Returns the end of a match; null if the server has none to draw. */
async function end(number: number, at: number): Promise<Match | null> {
  const key = `${number}@${at}`;
  if (!kept.has(key)) {
    try {
      kept.set(key, await read(number));
    } catch {
      return null; // the list says if the server does not answer
    }
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  }
  return kept.get(key)!;
}

async function read(number: number): Promise<Match | null> {
  const answer = await ask(`/matches/${number}/end`);
  if (answer.status !== 200) return null;
  const reader = new Reader();
  for (const line of (await answer.text()).split("\n")) if (line) reader.take(line);
  return reader.match.steps.length > 0 ? reader.match : null;
}
