// The position in the address: #match=3&turn=37&seat=1. A token is removed from it at once.

import { effect } from "@preact/signals";
import { PANELS, type Panel, type Player } from "./player";

export function place(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** Writes the position into the address. */
export function keep(named: URLSearchParams): void {
  const hash = `#${named}`;
  if (hasAddress() && hash !== location.hash) history.replaceState(null, "", hash);
}

/** Moves the token from the address to this tab's storage, which survives reloads. */
export function token(): string {
  const named = place();
  const given = named.get("token");
  if (given !== null) {
    sessionStorage.setItem("token", given);
    named.delete("token");
    keep(named);
  }
  return sessionStorage.getItem("token") ?? "";
}

/** Returns the token in this tab's storage. A page in a sandbox has no storage, and needs no token. */
function kept(): string | null {
  try {
    return sessionStorage.getItem("token");
  } catch {
    return null;
  }
}

/** Returns the link to the shown turn. It has the token unless that would let others steer or answer for this page. */
export function link(player: Player): string {
  const named = place();
  named.set("turn", String(player.at.value));
  const alone = player.live.value?.steers === true || player.match.about.eyes !== null;
  const held = kept();
  if (held !== null && !alone) named.set("token", held);
  return `${location.href.split("#")[0]}#${named}`;
}

/** Whether the page has an address that leads back to it. A sandboxed frame, as in a notebook, has none. */
export function hasAddress(): boolean {
  return !(location.origin === "null" && location.protocol === "about:");
}

/** Keeps the player and the address in step. `fixed`: the matches in the address; another one opens a new page. */
export function follow(player: Player, fixed: Record<string, string> = {}): void {
  const take = () => {
    const named = place();
    const turn = named.get("turn");
    const seat = named.get("seat");
    const panel = named.get("panel");
    if (turn !== null && !Number.isNaN(Number(turn))) player.await(Number(turn));
    if (seat !== null && /^\d+$/.test(seat) && Number(seat) < player.match.about.names.length)
      player.seat.value = Number(seat);
    if (turn !== null) player.stage.value = panel === "none";
    if (PANELS.includes(panel as Panel)) player.panel.value = panel as Panel;
  };
  take();
  player.leave = () => hasAddress() && history.pushState(null, "", location.hash); // Back returns here
  addEventListener("hashchange", () => {
    const moved = ["match", "with"].some((key) => place().get(key) !== (fixed[key] ?? null));
    if ("match" in fixed && moved) location.reload();
    else take();
  });
  effect(() => {
    const named = new URLSearchParams(fixed);
    if (!player.following.value && !player.opening.value) named.set("turn", String(player.at.value));
    if (player.seat.value !== null) named.set("seat", String(player.seat.value));
    if (player.stage.value) named.set("panel", "none");
    else if (player.panel.value !== "call") named.set("panel", player.panel.value);
    if (!player.playing.value) keep(named);
  });
}
