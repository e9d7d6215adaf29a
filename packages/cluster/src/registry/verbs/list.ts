import { type Entry, RevisionExpired } from "../../store/index.ts";
import { badRequest, expired, tooLargeResourceVersion } from "../errors.ts";
import { type ApiObject, fromStore, isRecord } from "../object.ts";
import type { Endpoint } from "../resource.ts";
import type { Backend } from "./request.ts";
import { type Selection, selects, selectsEverything } from "./select.ts";

/** What a list asks for besides the selection: how many, from where, and of which version. */
export interface ListOptions {
  readonly limit: number;
  readonly continueToken: string | undefined;
  /** As the client wrote it; undefined or empty means the present. */
  readonly resourceVersion: string | undefined;
  readonly match: "Exact" | "NotOlderThan" | undefined;
}

/** One page of a list, and where the next one begins. */
export interface Listing {
  readonly items: readonly ApiObject[];
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
  /** The part of the collection that this is; undefined: all of it. */
  readonly shard?: string | undefined;
}

interface Token {
  /** The revision of the first page, or -1: go on with whatever is there now. */
  readonly revision: number;
  /** The last key that was shown; the next page starts after it. */
  readonly after: string;
}

const TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** One page of a collection, as it was at one revision. */
export async function list(
  backend: Backend,
  endpoint: Endpoint,
  selection: Selection,
  options: ListOptions,
): Promise<Listing> {
  const prefix = prefixOf(selection);
  const token = options.continueToken ? decodeToken(options.continueToken, prefix) : undefined;
  if (token && options.resourceVersion && options.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const revision = token ? token.revision : revisionOf(backend, options);
  const { entries, at } = read(backend, endpoint, prefix, revision, token);
  // A list that may be served from a cache is never cut into pages.
  const limit = options.resourceVersion === "0" && options.match !== "Exact" ? 0 : options.limit;
  const { codec } = endpoint.version;
  if (codec.prepareReads) {
    const after = entries.filter((entry) => !token || entry.key > token.after);
    // Selectors look at objects in the version that was asked for, so that all of them have to be in it.
    const needed = limit > 0 && selectsEverything(selection) ? after.slice(0, limit + 1) : after;
    await codec.prepareReads(needed.map((entry) => fromStore(entry.object)));
  }
  return page(endpoint, selection, entries, at, limit, token);
}

function read(
  backend: Backend,
  endpoint: Endpoint,
  prefix: string,
  revision: number | undefined,
  token: Token | undefined,
): { entries: Entry[]; at: number } {
  const { store } = backend;
  const present = revision === undefined || revision < 0;
  try {
    return {
      entries: store.list(endpoint.resource.table, prefix, present ? undefined : revision),
      at: present ? store.revision : revision,
    };
  } catch (error) {
    if (!(error instanceof RevisionExpired)) throw error;
    if (!token) throw expired("The resourceVersion for the provided list is too old.");
    throw expired(TOO_OLD, encodeToken({ revision: -1, after: token.after }, prefix));
  }
}

function page(
  endpoint: Endpoint,
  selection: Selection,
  entries: readonly Entry[],
  at: number,
  limit: number,
  token: Token | undefined,
): Listing {
  const items: ApiObject[] = [];
  let last: string | undefined;
  let index = 0;
  for (; index < entries.length; index++) {
    const entry = entries[index] as Entry;
    if (token && entry.key <= token.after) continue;
    const object = endpoint.version.codec.fromStorage(fromStore(entry.object));
    if (!selects(selection, endpoint, object)) continue;
    if (limit > 0 && items.length === limit) break;
    items.push(object);
    last = entry.key;
  }
  const more = index < entries.length && last !== undefined;
  return {
    items,
    resourceVersion: String(at),
    continueToken: more ? encodeToken({ revision: at, after: last as string }, prefixOf(selection)) : undefined,
    remaining: more && selectsEverything(selection) ? entries.length - index : undefined,
    ...(selection.shard && { shard: selection.shard.selector }),
  };
}

function revisionOf(backend: Backend, options: ListOptions): number | undefined {
  const wanted = options.resourceVersion;
  if (wanted === undefined || wanted === "") return undefined;
  const revision = parseRevision(wanted);
  if (revision > backend.store.revision) throw tooLargeResourceVersion(wanted, backend.store.revision);
  if (options.match === "Exact") return revision;
  // With a limit and no word on how to match, a real server takes the version for an exact one.
  if (options.match === undefined && options.limit > 0 && revision > 0) return revision;
  return undefined;
}

/** A version out of a query, where anything but digits is the client's fault. */
export function parseRevision(text: string): number {
  const complaint = revisionComplaint(text);
  if (complaint === undefined) return Number(text);
  throw badRequest(`invalid resource version: ${complaint}`);
}

const LARGEST_REVISION = 2n ** 64n - 1n;

/**
 * What is wrong with a version, if something is. One that is larger than any number here can tell is still one: it only
 * has to be seen that it lies in the future.
 */
export function revisionComplaint(text: string): string | undefined {
  const digits = /^\d+$/.test(text);
  if (digits && BigInt(text) <= LARGEST_REVISION) return undefined;
  const quoted = JSON.stringify(text);
  const why = digits ? "value out of range" : "invalid syntax";
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`;
}

/** Where the keys of a selection start. */
function prefixOf({ namespace }: Selection): string {
  return namespace === undefined ? "" : `${namespace}/`;
}

/** Keys in tokens leave out what the path of the request says already. */
function encodeToken(token: Token, prefix: string): string {
  const start = `${token.after.slice(prefix.length)}\u0000`;
  const json = JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start });
  const bytes = String.fromCharCode(...new TextEncoder().encode(json));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Null is a token that says nothing, and what is no object is none. */
function token(value: unknown, fail: (why: string) => Error): { v?: unknown; rv?: unknown; start?: unknown } {
  if (value === null) return {};
  if (isRecord(value)) return value;
  const name = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  throw fail(`json: cannot unmarshal ${name} into Go value of type storage.continueToken`);
}

function decodeToken(text: string, prefix: string): Token {
  const fail = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let value: unknown;
  let json = "";
  const illegal = text.search(/[^-\w]/);
  if (illegal >= 0) throw fail(`illegal base64 data at input byte ${illegal}`);
  let bytes = "";
  try {
    bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    json = new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
    value = JSON.parse(json);
  } catch {
    const code = bytes.charCodeAt(0);
    const printable = code >= 0x20 && code < 0x7f;
    const first = printable ? bytes[0] : `\\u${code.toString(16).padStart(4, "0")}`;
    throw fail(`invalid character '${first}' looking for beginning of value`);
  }
  const { v = "", rv, start } = token(value, fail);
  if (v !== "meta.k8s.io/v1") throw fail(`server does not recognize this encoded version ${v}`);
  if (typeof rv !== "number" || rv === 0) {
    throw fail("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof start !== "string" || start === "") throw fail("encoded start key empty (version meta.k8s.io/v1)");
  // A key that climbs out of its place could show what the request did not ask for.
  if (start.split("/").some((part) => part === "" || part === "." || part === "..")) throw fail(start);
  return { revision: rv, after: prefix + (start.endsWith("\u0000") ? start.slice(0, -1) : start) };
}
