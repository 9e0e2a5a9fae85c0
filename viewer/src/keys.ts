// The keys: what they do, and their help.

import type { Player } from "./player";

type Action = (player: Player, shift: boolean) => void;

export const KEYS: [keys: string[], help: string, action: Action][] = [
  [[" "], "play or pause", (player) => player.toggle()],
  [["ArrowLeft"], "one turn back; ten with shift", (player, shift) => player.move(shift ? -10 : -1)],
  [["ArrowRight"], "one turn forward; ten with shift", (player, shift) => player.move(shift ? 10 : 1)],
  [["Home"], "first turn", (player) => player.seek(0)],
  [["End"], "last turn", (player) => player.seek(player.last)],
  [
    ["f", "F"],
    "next fault; with shift the previous one, and the last one from the start",
    (player, shift) => player.nextFault(shift),
  ],
  [
    ["h", "H"],
    "next capture, death or change of the lead; with shift the previous one",
    (player, shift) => player.nextHighlight(shift),
  ],
  [["r", "R"], "next round; with shift the previous one", (player, shift) => player.nextRound(shift)],
  [["n"], "next call of this seat", (player) => player.nextCall()],
  [["+", "="], "faster", (player) => player.faster(1)],
  [["-"], "slower", (player) => player.faster(-1)],
  [["s"], "switch between everything and each seat's view", (player) => player.nextSeat()],
  [["d"], "the board alone, or the board with details", (player) => player.details()],
  [["b"], "all seats' views, side by side", (player) => (player.beside.value = !player.beside.value)],
  [["l"], "live: follow the newest turn", (player) => player.newest()],
  [["p"], "pause or resume the running match", (player) => player.steer(player.stands ? "play" : "pause")],
  [["."], "one turn of the paused match", (player) => player.steer("step")],
  [["u"], "undo your choice, or your last answer of this turn", (player) => player.undo()],
  [["a"], "go to the answer field", () => document.querySelector<HTMLInputElement>("#answer")?.focus()],
  [["g"], "go to a turn", () => document.querySelector<HTMLInputElement>("#turn")?.select()],
  [["/"], "search the answers, notices, faults and standard error", (player) => search(player)],
  [["c"], "copy a link to this turn", () => document.querySelector<HTMLButtonElement>("#link")?.click()],
  [["?"], "this help", (player) => (player.help.value = !player.help.value)],
];

/** Opens the search and goes to its field, which is rendered at once. */
function search(player: Player): void {
  if (player.stage.value) player.details();
  player.panel.value = "search";
  setTimeout(() => document.querySelector<HTMLInputElement>("#search")?.select());
}

/** Elements that the space bar presses. */
const PRESSED = "button, summary, [role=button]";
const ANSWERS = ".target, .answers button, .desk .main";

/** Handles the keyboard. Fields keep their own keys. */
export function listen(player: Player): void {
  secondClicks(player);
  addEventListener("keydown", (event) => {
    const { target } = event;
    const typing = target instanceof HTMLInputElement && target.type !== "range";
    const field = typing || target instanceof HTMLSelectElement;
    if (event.key === "Escape") {
      player.help.value = false;
      (document.activeElement as HTMLElement | null)?.blur();
    }
    if (field || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && (target as Element).closest?.(PRESSED)) return;
    const found = KEYS.find(([keys]) => keys.includes(event.key));
    if (found) {
      event.preventDefault();
      found[2](player, event.shiftKey);
    }
  });
}

/** Ignores the second click of a double click on a question that appeared after the first. */
function secondClicks(player: Player): void {
  let meant: number | undefined;
  const take = (event: MouseEvent) => {
    const number = player.live.value?.choice?.number;
    if (event.detail <= 1) meant = number;
    else if (number !== meant && (event.target as Element).closest(ANSWERS)) event.stopPropagation();
  };
  addEventListener("click", take, { capture: true });
}
