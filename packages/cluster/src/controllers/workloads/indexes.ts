/** Numbers as a Job writes them down: `0-2,5,7`. */

export function parseIndexes(text: string | undefined, count: number): Set<number> {
  const found = new Set<number>();
  for (const part of text ? text.split(",") : []) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const last = Math.min(Number(match[2] ?? match[1]), count - 1);
    for (let index = Number(match[1]); index <= last; index++) found.add(index);
  }
  return found;
}

/** Indexes as a Job's status writes them: `1,3-5`. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] as number;
    let last = first;
    while (sorted[++at] === last + 1) last++;
    parts.push(last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
  }
  return parts.join(",");
}
