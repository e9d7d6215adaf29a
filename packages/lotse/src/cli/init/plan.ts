/** What a new project consists of: pure decisions, no I/O. */

/** Something that the user can put right. */
export class CreateError extends Error {
  override readonly name = "CreateError";
  /** What to do about it. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** A file of the new project. */
export interface PlannedFile {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly content: string;
}

/** The name that the template's files carry. */
const TEMPLATE_NAME = "my-operator";
/** A name is a label of DNS, because it becomes part of an API group and of annotation keys. */
const LONGEST_NAME = 63;

/** Returns `name` when a project and its operator can have it; throws a {@link CreateError} otherwise. */
export function checkName(name: string): string {
  if (name.length <= LONGEST_NAME && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return name;
  const near = nearestName(name);
  throw new CreateError(
    `${JSON.stringify(name)} is not a name for an operator`,
    `use lower case letters, digits and dashes${near === undefined ? "" : `: --name ${near}`}`,
  );
}

/** A valid name that looks like `name`, if there is one. */
function nearestName(name: string): string | undefined {
  const near = name
    .normalize("NFKD")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST_NAME)
    .replace(/^-+|-+$/g, "");
  return near === "" ? undefined : near;
}

/**
 * The files of a project called `name`, from the template's files.
 *
 * @example
 * ```ts
 * planProject("exchange-rates", new Map([["README.md", "# my-operator\n"]]));
 * // [{ path: "README.md", content: "# exchange-rates\n" }]
 * ```
 */
export function planProject(name: string, templates: ReadonlyMap<string, string>): PlannedFile[] {
  checkName(name);
  return [...templates].map(([path, content]) => ({ path, content: content.replaceAll(TEMPLATE_NAME, name) }));
}

/** What a folder may hold and still count as empty: a fresh repository is a fine place for a project. */
const HARMLESS = new Set([".git", ".DS_Store", "Thumbs.db"]);

/** Throws unless a project may be written into a folder that holds `entries`. */
export function checkFolder(folder: string, entries: readonly string[], force: boolean): void {
  const there = entries.filter((entry) => !HARMLESS.has(entry)).sort();
  if (force || there.length === 0) return;
  const some = there.slice(0, 3).join(", ");
  throw new CreateError(
    `the folder ${folder} is not empty: it has ${some}${there.length > 3 ? ` and ${there.length - 3} more` : ""}`,
    "choose another folder, or overwrite the files of the same names with --force",
  );
}
