import type { Sign } from "../games";

/** What the signs of a board mean, drawn as the board draws them; folded until somebody asks. */
export function Legend({ signs, game }: { signs: Sign[] | undefined; game: string }) {
  if (!signs) return null;
  return (
    <details class="legend">
      <summary>what the signs mean</summary>
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
