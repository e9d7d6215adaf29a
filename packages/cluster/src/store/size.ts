/**
 * About as many bytes as the JSON of a value has. Counted without writing it: history asks for every change, and needs a
 * bound rather than a figure.
 */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item) + 1;
  else {
    // Objects out of JSON inherit nothing that could be counted, and a list of their entries takes six times as long.
    const members = value as Readonly<Record<string, unknown>>;
    for (const key in members) size += key.length + 4 + sizeOf(members[key]);
  }
  return size;
}
