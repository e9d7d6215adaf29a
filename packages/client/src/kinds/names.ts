/**
 * The spellings of a kind that kubectl's users have in their fingers, and ours beside them:
 *
 *     po · pod · pods · Pod                      short name, singular, plural, kind
 *     deployments.apps · deployment.v1.apps      with the group, with version and group
 *     apps/v1/deployments · v1/pods              group/version/plural
 *     deployments.apps/v1                        group and version behind a slash
 *
 * Letter case never matters.
 */
import { KubeError } from "../meta/index.ts";
import { apiVersionOf, type KindDescription } from "./description.ts";

/** No kind of the server goes by this name. */
export class UnknownKindError extends KubeError {
  override readonly code: string = "LOTSE_UNKNOWN_KIND";
  /** The name as it was asked for. */
  readonly kindName: string;
  /** Names that are close to it. */
  readonly suggestions: readonly string[];

  constructor(kindName: string, suggestions: readonly string[], o: { hint?: string } = {}) {
    super(`the server has no kind "${kindName}"`, {
      hint:
        suggestions.length > 0
          ? `did you mean ${suggestions.join(" or ")}?`
          : (o.hint ?? "is its CustomResourceDefinition installed?"),
    });
    this.kindName = kindName;
    this.suggestions = suggestions;
  }
}

interface Wanted {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
}

const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/;

/** Readings of a spelling, the most specific first: dots are ambiguous between a version and a part of the group. */
function readingsOf(text: string): Wanted[] {
  const slashes = text.split("/");
  if (slashes.length === 3) {
    const [group, version, name] = slashes as [string, string, string];
    return [{ name, group, version }];
  }
  if (slashes.length === 2) {
    const [left, right] = slashes as [string, string];
    if (VERSION.test(left)) return [{ name: right, group: "", version: left }];
    const { name, group } = splitGroup(left);
    return [{ name, group: group ?? "", version: right }];
  }
  if (slashes.length > 3) return [];
  const { name, group: rest } = splitGroup(text);
  if (rest === undefined) return [{ name }];
  const dot = rest.indexOf(".");
  const head = dot < 0 ? rest : rest.slice(0, dot);
  const readings: Wanted[] = [{ name, group: rest }];
  if (VERSION.test(head)) readings.unshift({ name, version: head, group: dot < 0 ? "" : rest.slice(dot + 1) });
  return readings;
}

function splitGroup(text: string): { name: string; group?: string } {
  const dot = text.indexOf(".");
  return dot < 0 ? { name: text } : { name: text.slice(0, dot), group: text.slice(dot + 1) };
}

/**
 * All kinds that `text` can mean, the one that kubectl would take first: a full name beats a short one, then the order
 * of `kinds` decides.
 *
 * @example
 * ```ts
 * const { kinds } = await client.discover();
 * findKinds(kinds, "deploy")[0]?.kind; // "Deployment"
 * ```
 */
export function findKinds(kinds: readonly KindDescription[], text: string): KindDescription[] {
  for (const wanted of readingsOf(text.trim().toLowerCase())) {
    if (wanted.name === "") continue;
    const there = kinds.filter(
      (d) =>
        (wanted.group === undefined || d.group.toLowerCase() === wanted.group) &&
        (wanted.version === undefined || d.version === wanted.version),
    );
    const full = there.filter((d) => fullNamesOf(d).includes(wanted.name));
    const short = there.filter((d) => !full.includes(d) && d.shortNames.some((s) => s.toLowerCase() === wanted.name));
    if (full.length + short.length > 0) return [...full, ...short];
  }
  return [];
}

function fullNamesOf(d: KindDescription): string[] {
  return [d.plural.toLowerCase(), d.singular.toLowerCase(), d.kind.toLowerCase()];
}

const SUGGESTIONS = 3;

/** Up to three names of `kinds` that `text` may be a slip of. */
export function nearestNames(kinds: readonly KindDescription[], text: string): string[] {
  const name = readingsOf(text.trim().toLowerCase())[0]?.name ?? text.toLowerCase();
  // One letter in three may be wrong; in a word of three letters any change makes another word.
  const limit = Math.max(1, Math.floor(name.length / 3));
  const ranked: { label: string; distance: number }[] = [];
  for (const d of kinds) {
    // A word cut short is the likelier slip than a wrong letter.
    const distance = Math.min(
      ...[...fullNamesOf(d), ...d.shortNames].map((known) =>
        name.length > 2 && known.startsWith(name) ? 0 : editDistance(name, known),
      ),
    );
    if (distance <= limit) ranked.push({ label: labelOf(d), distance });
  }
  ranked.sort((a, b) => a.distance - b.distance);
  return [...new Set(ranked.map(({ label }) => label))].slice(0, SUGGESTIONS);
}

const labelOf = (d: KindDescription): string => (d.group === "" ? d.plural : `${d.plural}.${d.group}`);

/** Insertions, deletions, replacements and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;

/** The kind that serves `apiVersion` and `kind`, as a manifest names them. */
export function findManifestKind(
  kinds: readonly KindDescription[],
  manifest: { apiVersion: string; kind: string },
): KindDescription | undefined {
  return kinds.find((d) => d.kind === manifest.kind && apiVersionOf(d) === manifest.apiVersion);
}
