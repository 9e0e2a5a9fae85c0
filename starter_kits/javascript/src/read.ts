// Reads what the referee sent into the types of the games' files. A reader throws a TypeError for a value of another
// type, and `maybe` makes of that an absent member: some events show what a rival sent, and a rival may send anything.

/** A JSON object. */
export type Members = { [name: string]: unknown };

/** A function that reads a value. */
export type Reader<T> = (value: unknown) => T;

export function integer(value: unknown): number {
  return Number.isInteger(value) ? (value as number) : wrong("a whole number", value);
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : wrong("a number", value);
}

export function boolean(value: unknown): boolean {
  return typeof value === "boolean" ? value : wrong("true or false", value);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : wrong("a text", value);
}

/** An object's members. */
export function members(value: unknown): Members {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Members) : wrong("an object", value);
}

/** A list of anything. */
export function items(value: unknown): unknown[] {
  return Array.isArray(value) ? value : wrong("a list", value);
}

export function anything(value: unknown): unknown {
  return value;
}

export function list<T>(item: Reader<T>): Reader<T[]> {
  return (value) => items(value).map((each) => item(each));
}

/** One of these numbers or texts. */
export function oneOf<T>(options: readonly T[]): Reader<T> {
  const known: ReadonlySet<unknown> = new Set(options);
  return (value) => (known.has(value) ? (value as T) : wrong(`one of ${JSON.stringify(options)}`, value));
}

/** Two whole numbers. */
export function pair(value: unknown): [number, number] {
  const [a, b] = items(value);
  return [integer(a), integer(b)];
}

/** Something that may be null. */
export function nullable<T>(item: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : item(value));
}

/** A member that may be absent or null; of another type it counts as absent too. */
export function maybe<T>(value: unknown, item: Reader<T>): T | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    return item(value);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

export function wrong(wanted: string, value: unknown): never {
  const got = typeof value === "object" ? (Array.isArray(value) ? "a list" : String(value)) : JSON.stringify(value);
  throw new TypeError(`wanted ${wanted}, got ${got}`);
}
