/**
 * About as many bytes as the JSON of a value has. Counted without writing it: history asks for every change, and needs a
 * bound rather than a figure.
 */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item) + 1;
  else for (const [key, member] of Object.entries(value)) size += key.length + 4 + sizeOf(member);
  return size;
}
