/** Reads the lines of kinds.ts. */

/** A path below an object, such as `/status`, and the kind that it speaks. */
export interface BuiltinSubresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** A kind that every Kubernetes server serves, as its discovery describes it. */
export interface BuiltinKind {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Is this the version that its group prefers? */
  readonly preferred: boolean;
  readonly subresources: readonly BuiltinSubresource[];
}

/** All kinds out of their lines. */
export function decodeKinds(lines: string): BuiltinKind[] {
  return lines.trim().split("\n").map(decodeKind);
}

/** One kind out of its line. */
export function decodeKind(line: string): BuiltinKind {
  const columns = line.split(" ").map((column) => (column === "-" ? "" : column));
  const [group = "", versionMark = "", kind = "", plural = "", singular = "", scope, short, categories, verbs, below] =
    columns;
  const preferred = versionMark.endsWith("*");
  const version = preferred ? versionMark.slice(0, -1) : versionMark;
  return {
    group,
    version,
    kind,
    plural,
    singular,
    namespaced: scope === "N",
    shortNames: decodeList(short),
    categories: decodeList(categories),
    verbs: decodeVerbs(verbs),
    preferred,
    subresources: decodeList(below).map((text) => decodeSubresource(text, { group, version, kind })),
  };
}

/** `name:verbs`, then nothing (the object's own kind), a kind of the object's group version, or group/version/kind. */
function decodeSubresource(
  text: string,
  parent: { readonly group: string; readonly version: string; readonly kind: string },
): BuiltinSubresource {
  const [name = "", verbs, type = parent.kind] = text.split(":");
  const path = type.split("/");
  const [group = "", version = "", kind = ""] = path.length === 3 ? path : [parent.group, parent.version, type];
  return { name, group, version, kind, verbs: decodeVerbs(verbs) };
}

function decodeList(text = ""): readonly string[] {
  return text === "" ? [] : text.split(",");
}

function decodeVerbs(letters = ""): readonly string[] {
  return Array.from(letters, verbOf);
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ["c", "create"],
  ["d", "delete"],
  ["x", "deletecollection"],
  ["g", "get"],
  ["l", "list"],
  ["p", "patch"],
  ["u", "update"],
  ["w", "watch"],
]);

function verbOf(letter: string): string {
  const verb = VERBS.get(letter);
  if (verb === undefined) throw new Error(`The table of kinds has an unknown verb "${letter}"`);
  return verb;
}
