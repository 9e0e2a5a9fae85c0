import { render } from "preact";
import { listen } from "./keys";
import { screen } from "./screen";
import { served } from "./served";
import { Reader } from "./match";
import { Player } from "./player";
import { follow } from "./place";
import "./style.css";
import { App } from "./views/app";

/** The data of a page that holds its match: gzip, as base64. */
async function unpacked(base64: string): Promise<string[]> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).text()).split("\n");
}

async function main(): Promise<void> {
  const root = document.querySelector("#app")!;
  if (root.hasAttribute("data-screen")) return screen(root);
  const data = document.querySelector("#data")?.textContent;
  if (!data) return served(root);
  const reader = new Reader();
  for (const line of await unpacked(data)) if (line) reader.take(line);
  const player = new Player(reader.match);
  player.grown();
  document.title = player.match.about.title;
  listen(player);
  follow(player);
  render(<App player={player} />, root);
}

void main();
