// The position in the address: #match=3&turn=37&seat=1. A token is removed from it at once.

import { effect } from "@preact/signals";
import type { Player } from "./player";

export function place(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** Writes the position into the address. A sandboxed frame, as in a notebook, has no address of its own. */
function keep(named: URLSearchParams): void {
  const hash = `#${named}`;
  if (location.origin === "null" && location.protocol === "about:") return;
  if (hash !== location.hash) history.replaceState(null, "", hash);
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

/** Keeps the player and the address in step. */
export function follow(player: Player, match?: number): void {
  const take = () => {
    const named = place();
    const turn = named.get("turn");
    const seat = named.get("seat");
    const panel = named.get("panel");
    if (turn !== null && !Number.isNaN(Number(turn))) player.await(Number(turn));
    if (seat !== null && /^\d+$/.test(seat) && Number(seat) < player.match.about.names.length)
      player.seat.value = Number(seat);
    if (turn !== null) player.stage.value = panel === "none";
    if (panel === "call" || panel === "events" || panel === "calls") player.panel.value = panel;
  };
  take();
  addEventListener("hashchange", () => {
    if (match !== undefined && place().get("match") !== String(match)) location.reload();
    else take();
  });
  effect(() => {
    const named = new URLSearchParams();
    if (match !== undefined) named.set("match", String(match));
    if (!player.following.value && !player.opening.value) named.set("turn", String(player.at.value));
    if (player.seat.value !== null) named.set("seat", String(player.seat.value));
    if (player.stage.value) named.set("panel", "none");
    else if (player.panel.value !== "call") named.set("panel", player.panel.value);
    if (!player.playing.value) keep(named);
  });
}
