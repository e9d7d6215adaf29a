import type { Answer, Recorded } from "./player.ts";
import type { Json } from "./script.ts";

/** A transcript without what may differ between two servers. */
export interface Transcript {
  readonly steps: ReadonlyMap<string, Answer>;
  /** The symbols of all resource versions of objects, oldest first. */
  readonly history: readonly string[];
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const GO_DIFFERENCE =
  /(immutable after creation(?: except resources\.requests and volumeAttributesClassName for bound claims)?)[\s\S]*$/;
const age = /^(<unknown>|(\d+[ydhms])+)$/;

/**
 * Replaces what may differ by a symbol that says in which step the value was first seen, so that equal values stay equal,
 * different ones stay different, and one surplus value does not rename all that follow.
 */
export function normalise(records: readonly Recorded[], serverUrl: string): Transcript {
  const symbols = new Symbols(serverUrl);
  const steps = new Map<string, Answer>();
  for (const { step, answer } of records) {
    symbols.enter(step.name, step.body);
    // An error is compared as it is, whatever the step looks for in a success.
    const { view, verdictOnly } = step;
    const whole = view === undefined || (answer.status >= 400 && !verdictOnly);
    const viewed = whole ? answer.body : view(answer.body);
    const body = symbols.value(step.anyOrder ? inOrder(viewed) : viewed);
    const given = step.anyOrder ? withSortedWarnings(answer.headers) : answer.headers;
    const headers = verdictOnly ? {} : (symbols.value(given) as Answer["headers"]);
    steps.set(step.name, { status: answer.status, headers, body });
  }
  return { steps, history: symbols.history() };
}

class Symbols {
  readonly #host: string;
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  readonly #prefixes = new Set<string>();
  #step = "";
  #count = 0;

  constructor(serverUrl: string) {
    this.#host = new URL(serverUrl).host;
  }

  /** Begins a step; `sent` is its body. */
  enter(step: string, sent: Json | undefined): void {
    this.#step = step;
    this.#count = 0;
    const { generateName } = ((sent as { metadata?: Json })?.metadata ?? {}) as { generateName?: Json };
    if (typeof generateName === "string") this.#prefixes.add(generateName.slice(0, 58));
  }

  history(): string[] {
    return [...this.#versions].sort(([a], [b]) => Number(a) - Number(b)).map(([, symbol]) => symbol);
  }

  value(value: Json | undefined): Json {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== "object" || value === null) return value ?? null;
    return this.#object(value as Readonly<Record<string, Json>>);
  }

  #object(object: Readonly<Record<string, Json>>): Json {
    const collection = Array.isArray(object.items) || object.kind === "Table";
    const result: Record<string, Json> = {};
    for (const [key, value] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (key === "metadata" && collection) result[key] = this.#listMeta(value);
      else if (key === "resourceVersion" && typeof value === "string") result[key] = this.#version(value);
      else if (key === "managedFields" && Array.isArray(value)) result[key] = this.#managers(value);
      else if (key === "causes" && Array.isArray(value)) result[key] = this.#causes(value);
      else if (key === "cells" && Array.isArray(value)) result[key] = value.map((cell) => this.#cell(cell));
      else if (key === "continue" && typeof value === "string") result[key] = value === "" ? "" : "<continue>";
      else if (key === "object" && object.type === "BOOKMARK") result[key] = this.#bookmark(value);
      else result[this.#text(key)] = this.value(value);
    }
    // Symbols are named in the order of keys, whatever order these come in, which is compared, too.
    return Object.fromEntries(Object.keys(object).map((key) => [this.#text(key), result[this.#text(key)] as Json]));
  }

  /** The version of a list is that of the whole server, on which unrelated writes of controllers count too. */
  #listMeta(value: Json | undefined): Json {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return this.value(value);
    const { resourceVersion, ...rest } = value as Record<string, Json>;
    return { ...(this.value(rest) as object), resourceVersion: revision(resourceVersion) };
  }

  #bookmark(value: Json | undefined): Json {
    const object = value as { metadata?: Record<string, Json> };
    const { resourceVersion, ...rest } = object.metadata ?? {};
    return this.value({ ...object, metadata: { ...rest, "the server's revision": revision(resourceVersion) } } as Json);
  }

  /** Entries of the same second have no promised order between managers. */
  #managers(entries: readonly Json[]): Json {
    const key = (entry: Json) => {
      const { operation = "", manager = "", subresource = "", apiVersion = "" } = entry as Record<string, Json>;
      return JSON.stringify([operation, manager, subresource, apiVersion]);
    };
    return entries.map((entry) => this.value(entry)).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  /** The real server makes some checks in two places and lists what they find twice, in its sentence but once. */
  #causes(causes: readonly Json[]): Json {
    const texts = new Set(causes.map((cause) => JSON.stringify(this.value(cause))));
    return [...texts].map((text) => JSON.parse(text) as Json);
  }

  #cell(cell: Json): Json {
    return typeof cell === "string" && age.test(cell) ? "<age>" : this.value(cell);
  }

  #version(value: string): string {
    if (!/^[1-9]\d*$/.test(value)) return value;
    return this.#symbol(this.#versions, value, "version");
  }

  #symbol(table: Map<string, string>, value: string, what: string): string {
    let symbol = table.get(value);
    if (symbol === undefined) {
      this.#count++;
      symbol = `<${what} of "${this.#step}"${this.#count > 1 ? ` ${this.#count}` : ""}>`;
      table.set(value, symbol);
    }
    return symbol;
  }

  /** Sentences quote objects as JSON, with their fields in the order of the Go structures. */
  #echoes(text: string): string {
    return text.replaceAll(/Invalid value: ("\{.*\}"|\{.*\}|\[\{.*\}\]): /g, (whole, quoted: string) => {
      try {
        const value = JSON.parse(quoted) as Json;
        const object = typeof value === "string" ? (JSON.parse(value) as Json) : value;
        // A whole object has its own version and times in it, which say nothing about the mistake.
        const whole = typeof object === "object" && object !== null && "apiVersion" in object && "kind" in object;
        if (whole && "metadata" in object) return "Invalid value: <the object>: ";
        return `Invalid value: ${JSON.stringify(sorted(object)).replaceAll("[]", "null")}: `;
      } catch {
        return whole;
      }
    });
  }

  #text(text: string): string {
    // What follows is how the real server prints its own Go values, and where they differ.
    let result = this.#echoes(text.replace(GO_DIFFERENCE, "$1"))
      // Whether an empty list or map was sent, or none, is not kept.
      .replaceAll("Unsupported value: {}: ", "Unsupported value: null: ")
      .replaceAll(/Invalid value: (\[\]|\{\}): /g, "Invalid value: null: ")
      .replaceAll(this.#host, "<server>")
      .replaceAll(uuid, (id) => this.#symbol(this.#uids, id, "uid"));
    for (const prefix of this.#prefixes) {
      result = result.replaceAll(
        new RegExp(`\\b${prefix}[bcdfghjklmnpqrstvwxz2456789]{5}\\b`, "g"),
        `${prefix}<generated>`,
      );
    }
    result = result.replaceAll(time, (_, fraction: string | undefined, zone: string) => {
      return `<time${fraction === undefined ? "" : ` with ${fraction.length - 1} digits`}${zone === "Z" ? "" : zone}>`;
    });
    result = result.replaceAll(/(resource version: \d+, current: )\d+/g, "$1<revision>");
    result = result.replaceAll(/(too old resource version: \d+ \()\d+/g, "$1<revision>");
    // In a sentence a version stands in brackets or after its name; other numbers that happen to be one are left alone.
    return result.replaceAll(
      /(\(|[vV]ersion(?:\\*":\s*\\*"|: ))([1-9]\d*)\b/g,
      (whole, before: string, number: string) => {
        const symbol = this.#versions.get(number);
        return symbol === undefined ? whole : `${before}${symbol}`;
      },
    );
  }
}

function withSortedWarnings({ warning, ...rest }: Answer["headers"]): Answer["headers"] {
  return warning === undefined ? rest : { ...rest, warning: [...(warning as string[])].sort() };
}

/** A Status with its causes in the order of the alphabet, in its sentence too. */
function inOrder(body: Json): Json {
  if (body === null) return body;
  const { message, details, ...rest } = body as { message?: string; details?: { causes?: Cause[] } };
  const causes = [...(details?.causes ?? [])];
  if (message === undefined || causes.length < 2) return body;
  const sentence = () => `[${causes.map((cause) => `${cause.field}: ${cause.message}`).join(", ")}]`;
  const found = sentence();
  causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    ...rest,
    message: message.replace(found, () => sentence()),
    details: { ...details, causes },
  } as unknown as Json;
}

interface Cause {
  readonly field: string;
  readonly message: string;
}

/** Keys in the order of the alphabet, all the way down. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sorted(item as Json));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Record<string, Json>).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

function revision(value: Json | undefined): Json {
  return typeof value === "string" && /^[1-9]\d*$/.test(value) ? "<revision>" : (value ?? null);
}
