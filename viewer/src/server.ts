// Requests to the server that this page came from.

import { token } from "./place";

/** Sends a request to our server, with the token in a header. */
export function ask(path: string, more: RequestInit = {}): Promise<Response> {
  return fetch(path, { ...more, headers: { "x-referee-token": token(), ...more.headers } });
}

/** Whether our server answers: a page left without one could not come back. */
export async function isThere(): Promise<boolean> {
  try {
    await ask("/favicon.ico");
    return true;
  } catch {
    return false;
  }
}
