/**
 * In which namespaces does the operator work? Patterns say so; a namespace belongs if any of them takes it.
 *
 *     team-a                        this namespace
 *     team-a, team-b                these
 *     team-*                        globs: * any text, ? one character, [a-f] and [!a-f] one of a set
 *     team-*, !team-x               all that begin with team-, but not team-x
 *     !kube-*                       all others: a negation in front means "all, but not"
 *     app-*, !*-pr-*, *-pr-123      taken out, and one of them taken in again
 *
 * A pattern is read from left to right. What stands before its first negation decides which names are candidates at all;
 * after that, negations take candidates out and globs take candidates in again, never another name: `otherapp-pr-123`
 * is not meant by the last example. Patterns do not know of each other: a negation in one takes nothing out of another.
 */
import { ConfigError } from "@lotse/client/meta";

/** Which namespaces are meant. */
export interface NamespaceFilter {
  /** Whether the namespace belongs. */
  matches(name: string): boolean;
  /** All that can belong, when the patterns name each of them: namespaces need not be watched. */
  readonly exact: readonly string[] | undefined;
  /** Those that the patterns name in full: what is left to serve where listing namespaces is forbidden. */
  readonly named: readonly string[];
}

/** One pattern, read. */
interface Pattern {
  readonly matches: (name: string) => boolean;
  /** Namespaces that are named in full and belong. */
  readonly named: readonly string[];
  /** Whether others may belong too. */
  readonly open: boolean;
}

/**
 * Reads patterns; regular expressions must match the whole name. Throws a {@link ConfigError} for one that no
 * namespace can ever match.
 *
 * @example
 * ```ts
 * parseNamespaces(["team-*, !team-x"]).matches("team-a"); // true
 * ```
 */
export function parseNamespaces(patterns: readonly (string | RegExp)[]): NamespaceFilter {
  if (patterns.length === 0) {
    throw new ConfigError("no namespace is given", { hint: "leave the namespaces out to work in the whole cluster" });
  }
  const read = patterns.map((pattern) => (pattern instanceof RegExp ? fromRegExp(pattern) : parsePattern(pattern)));
  const named = [...new Set(read.flatMap((pattern) => pattern.named))];
  return {
    matches: (name) => read.some((pattern) => pattern.matches(name)),
    exact: read.some(({ open }) => open) ? undefined : named,
    named,
  };
}

function fromRegExp(pattern: RegExp): Pattern {
  // Without the flags that make a regular expression remember where it stopped.
  const whole = new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, ""));
  return { matches: (name) => whole.test(name), named: [], open: true };
}

interface Part {
  readonly negated: boolean;
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

function parsePattern(pattern: string): Pattern {
  const parts = pattern.split(",").map((part) => parsePart(pattern, part.trim()));
  const negation = parts.findIndex(({ negated }) => negated);
  const first = negation < 0 ? parts : parts.slice(0, negation);
  const rest = parts.slice(first.length);
  const isCandidate = (name: string) => first.length === 0 || first.some((part) => part.matches(name));
  const matches = (name: string) =>
    isCandidate(name) && rest.reduce((taken, part) => (part.matches(name) ? !part.negated : taken), true);
  const named = first.filter(({ text }) => NAME.test(text) && matches(text)).map(({ text }) => text);
  const open = first.length === 0 || first.some(({ text }) => !NAME.test(text));
  if (!open && named.length === 0) throw refused(pattern, "takes out every namespace that it names");
  return { matches, named, open };
}

const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
/** A character of a name, `*`, `?`, or a set of characters in brackets. */
const TOKEN = /[-a-z0-9]|[*?]|\[!?[-a-z0-9]+\]/g;

function parsePart(pattern: string, part: string): Part {
  const negated = part.startsWith("!");
  // Stars in a row mean one star, and would only cost time.
  const text = (negated ? part.slice(1).trim() : part).replace(/\*+/g, "*");
  if (text === "") throw refused(pattern, "has an empty part");
  const tokens = text.match(TOKEN) ?? [];
  if (NAME.test(text)) return { negated, text, matches: (name) => name === text };
  if (tokens.join("") !== text || !/[*?[]/.test(text)) {
    throw refused(pattern, `has a part that no namespace can match: ${text}`);
  }
  let glob: RegExp;
  try {
    glob = new RegExp(`^${tokens.map(tokenSource).join("")}$`);
  } catch (cause) {
    throw refused(pattern, `has a set of characters that is none: ${text}`, cause);
  }
  return { negated, text, matches: (name) => glob.test(name) };
}

function tokenSource(token: string): string {
  if (token === "*") return ".*";
  if (token === "?") return ".";
  return token.startsWith("[!") ? `[^${token.slice(2)}` : token;
}

function refused(pattern: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError(`the namespace pattern "${pattern}" ${why}`, {
    hint: 'write names of namespaces, globs or negations: "team-a", "team-*", "team-*, !team-x"',
    cause,
  });
}
