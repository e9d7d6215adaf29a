/** A fingerprint for ETags and cache-busting URLs: equal texts give equal ones. It keeps no secrets. */
export function fingerprint(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + i), 0x85ebca6b);
  }
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
  return (hex(high) + hex(low) + text.length.toString(16).padStart(8, "0")).toUpperCase();
}
