import type { Sign } from "../games/painter";

/** The meaning of a board's signs, folded at first. */
export function Legend({ signs, game }: { signs: Sign[] | undefined; game: string }) {
  if (!signs) return null;
  return (
    <details class="legend">
      <summary>legend</summary>
      <ul class={game}>
        {signs.map(({ drawing, meaning }) => (
          <li key={meaning}>
            <svg viewBox="-13 -13 26 26" aria-hidden="true">
              {drawing}
            </svg>{" "}
            <span>{meaning}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
