// Patches of positions, as harness/replay/viewer_frames.py makes them. protocol/vectors/frames.json tests both sides.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Patch = Json;

const GONE = "-";

/** Applies a patch. The result shares unchanged parts with `before`, which stays as it is. */
export function patched(before: Json | undefined, patch: Patch): Json {
  if (Array.isArray(patch)) return patch[0]!;
  const changes = patch as { [name: string]: Patch };
  if (Array.isArray(before)) {
    const after = before.slice();
    for (const at in changes) after[Number(at)] = patched(before[Number(at)], changes[at]!);
    return after;
  }
  const names = Object.keys(changes);
  if (names.length === 0) return before as Json;
  const after = { ...(before as { [name: string]: Json }) };
  for (const name of names) {
    if (changes[name] === GONE) delete after[name];
    else after[name] = patched(after[name], changes[name]!);
  }
  return after;
}
