import { render } from "preact";
import { film } from "./film";
import { listen } from "./keys";
import { Reader } from "./match";
import { follow, place } from "./place";
import { picture } from "./picture";
import { Player } from "./player";
import { projector } from "./projector";
import { screen } from "./screen";
import { served } from "./served";
import "./styles/page.css";
import "./styles/views.css";
import "./styles/games.css";
import "./styles/boards.css";
import "./styles/cards.css";
import "./styles/pieces.css";
import "./styles/stage.css";
import "./styles/projector.css";
import { App } from "./views/app";
import { visible } from "./views/words";

/** Unpacks a part of a page that contains its match. That page defines it. */
declare const inflated: (part: string) => Promise<string>;
/** The part that the first board needs, requested before the script ran. */
declare const first: Promise<string>;

const PAINTED_MS = 100;

async function main(): Promise<void> {
  const root = document.querySelector("#app")!;
  if (root.hasAttribute("data-picture")) return picture(root);
  if (root.hasAttribute("data-screen")) return screen(root);
  if (root.hasAttribute("data-projector")) return projector(root);
  if (root.hasAttribute("data-film")) return film(root);
  if (!document.querySelector("#data")) return served(root);
  const reader = new Reader();
  const player = new Player(reader.match);
  const take = async (part: Promise<string>) => {
    for (const line of (await part).split("\n")) if (line) reader.take(line);
    player.grown();
  };
  await take(first);
  document.title = visible(player.match.about.title);
  if (place().get("turn") === null) player.open();
  if (player.count.value > 0 && !Number(place().get("turn"))) {
    render(<App player={player} reading />, root);
    await painted();
  }
  await take(inflated("data"));
  if (player.count.value === 0) return render(<p class="told">{player.match.closing?.verified}</p>, root);
  listen(player);
  follow(player);
  render(<App player={player} />, root);
}

/** Resolves when the rendered board is visible, or soon if the page is hidden. */
function painted(): Promise<void> {
  return new Promise((go) => {
    requestAnimationFrame(() => setTimeout(go));
    setTimeout(go, PAINTED_MS);
  });
}

void main();
