/** How objections name what they are about. */

interface Named {
  readonly name: string;
}

/** `"a", "b"` */
export function quoted(items: Iterable<string>): string {
  return [...items].map((item) => `"${item}"`).join(", ");
}

/** Each value once, in the order of the alphabet. */
export function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** One word or the other, by how many there are. */
export function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

/** `container "a"`, `containers "a", "b"` */
export function named(containers: readonly Named[]): string {
  return `${plural(containers.length, "container", "containers")} ${quoted(containers.map(({ name }) => name))}`;
}

/** Who did it: the pod, containers of it, or both. */
export function setters(pod: boolean, containers: readonly Named[]): string {
  return [...(pod ? ["pod"] : []), ...(containers.length > 0 ? [named(containers)] : [])].join(" and ");
}
