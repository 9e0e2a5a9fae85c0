// The keys, in one table: what they do, and what the help says of them.

import type { Player } from "./player";

type Action = (player: Player, shift: boolean) => void;

export const KEYS: [keys: string[], help: string, action: Action][] = [
  [[" "], "play or pause", (player) => player.toggle()],
  [["ArrowLeft"], "a turn back; with shift ten", (player, shift) => player.move(shift ? -10 : -1)],
  [["ArrowRight"], "a turn on; with shift ten", (player, shift) => player.move(shift ? 10 : 1)],
  [["Home"], "the beginning", (player) => player.seek(0)],
  [["End"], "the end", (player) => player.seek(player.last)],
  [
    ["f", "F"],
    "the next fault; with shift the one before, and from the beginning the last",
    (player, shift) => player.nextFault(shift),
  ],
  [["n"], "the next call of this seat", (player) => player.nextCall()],
  [["+", "="], "faster", (player) => player.faster(1)],
  [["-"], "slower", (player) => player.faster(-1)],
  [["s"], "everything, or what one seat sees", (player) => player.nextSeat()],
  [["b"], "what all seats see, beside each other", (player) => (player.beside.value = !player.beside.value)],
  [["l"], "live: the newest turn, and what comes", (player) => player.newest()],
  [
    ["p"],
    "hold the match that is played, or let it go on",
    (player) => player.steer(player.stands ? "play" : "pause"),
  ],
  [["."], "one turn of the match that is held", (player) => player.steer("step")],
  [["u"], "take back what you chose, or your last answer of this turn", (player) => player.undo()],
  [["a"], "to the field for your answer", () => document.querySelector<HTMLInputElement>("#answer")?.focus()],
  [["g"], "go to a turn", () => document.querySelector<HTMLInputElement>("#turn")?.select()],
  [["?"], "this help", (player) => (player.help.value = !player.help.value)],
];

/** What the space bar presses itself. */
const PRESSED = "button, summary, [role=button]";
const ANSWERS = ".target, .answers button, .desk .main";

/** Listens to the keyboard. Fields keep their own keys. */
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

/** The second click of a double one is no answer to a question that has come after the first. */
function secondClicks(player: Player): void {
  let meant: number | undefined;
  const take = (event: MouseEvent) => {
    const number = player.live.value?.choice?.number;
    if (event.detail <= 1) meant = number;
    else if (number !== meant && (event.target as Element).closest(ANSWERS)) event.stopPropagation();
  };
  addEventListener("click", take, { capture: true });
}
