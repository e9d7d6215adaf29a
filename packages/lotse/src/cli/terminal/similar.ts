/** The names that a user who typed `wanted` may have meant, the most similar first. */
export function similarNames(wanted: string, names: readonly string[]): string[] {
  const stem = stemOf(wanted);
  return names
    .map((name) => ({ name, distance: stemOf(name) === stem ? 0 : editDistance(stem, stemOf(name)) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(stem.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

function stemOf(name: string): string {
  return name.toLowerCase().replace(/\.[cm]?[jt]sx?$/, "");
}

/** How many letters to insert, leave out or replace to get from `a` to `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
