/** What the functions and macros of expressions give, and what the loops behind macros cost. */
import { type SizedType, scalar, TEXT } from "./cel-sizes.ts";

/** The type of conditions. */
export const BOOL = scalar("bool");
/** The type of sizes and indexes. */
export const INT = scalar("int");
/** A list of which no bound is known. */
export const listOf = (element: SizedType): SizedType => ({ kind: "list", most: 0, least: 2, element });
/** A type that only functions look into, such as a quantity. */
export const opaque = (name: string): SizedType => ({ kind: "opaque", most: 0, least: 1, name });
/** What making a list costs, whatever is in it. */
export const NEW_LIST = 10;

/** How a macro such as `all` or `map` walks over a list. */
export interface Loop {
  /** What making the first result costs, each step, and taking the last result. */
  readonly start: number;
  readonly step: (...bodies: number[]) => number;
  readonly end: number;
  readonly makes: "bool" | "list";
}

/** The macros by the number of their bodies, as the loops that they are written out to. */
export const LOOPS: Readonly<Record<string, Readonly<Record<number, Loop>>>> = {
  all: { 1: { start: 0, step: (test = 0) => 3 + test, end: 1, makes: "bool" } },
  exists: { 1: { start: 0, step: (test = 0) => 4 + test, end: 1, makes: "bool" } },
  exists_one: { 1: { start: 0, step: (test = 0) => 2 + test, end: 2, makes: "bool" } },
  map: {
    1: { start: NEW_LIST, step: (made = 0) => 2 + NEW_LIST + made, end: 1, makes: "list" },
    2: { start: NEW_LIST, step: (test = 0, made = 0) => test + 2 + NEW_LIST + made, end: 1, makes: "list" },
  },
  filter: { 1: { start: NEW_LIST, step: (test = 0) => test + 3 + NEW_LIST, end: 1, makes: "list" } },
};

/** What functions give, where the cost of what is done with it depends on that. */
export const RESULTS: Readonly<Record<string, SizedType>> = {
  ...Object.fromEntries(
    [
      ...["matches", "contains", "startsWith", "endsWith", "isURL", "isIP", "isCIDR", "isQuantity", "isSorted"],
      ...["isSemver", "isInteger", "isGreaterThan", "isLessThan", "containsIP", "containsCIDR", "hasValue"],
      ...["sets.contains", "sets.intersects", "sets.equivalent", "bool", "ip.isCanonical", "isUnspecified"],
      ...["isLoopback", "isGlobalUnicast", "isLinkLocalUnicast", "isLinkLocalMulticast"],
    ].map((name) => [name, BOOL]),
  ),
  ...Object.fromEntries(
    [
      ...["size", "int", "indexOf", "lastIndexOf", "compareTo", "sign", "asInteger", "family", "prefixLength"],
      ...["major", "minor", "patch", "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek"],
      ...["getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds"],
    ].map((name) => [name, INT]),
  ),
  ...Object.fromEntries(
    [
      ...["string", "lowerAscii", "upperAscii", "substring", "trim", "replace", "join", "find", "format", "charAt"],
      ...["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "strings.quote", "reverse"],
    ].map((name) => [name, TEXT]),
  ),
  findAll: listOf(TEXT),
  double: scalar("double"),
  asApproximateFloat: scalar("double"),
  uint: scalar("uint"),
  bytes: scalar("bytes"),
  duration: scalar("duration"),
  timestamp: scalar("timestamp"),
  ip: opaque("ip"),
  cidr: opaque("cidr"),
  masked: opaque("cidr"),
  quantity: opaque("quantity"),
  add: opaque("quantity"),
  sub: opaque("quantity"),
  semver: opaque("semver"),
  url: opaque("url"),
};
