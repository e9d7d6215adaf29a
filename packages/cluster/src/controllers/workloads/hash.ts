/** Letters and digits that make no words: what the API uses wherever it makes up a name. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

/** A short hash of a value, the same for the same content whatever the order of its keys; `probe` tells apart what collides. */
export function safeHash(value: unknown, probe = 0): string {
  const text = canonical(value) + (probe > 0 ? String(probe) : "");
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join("");
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
  fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}
