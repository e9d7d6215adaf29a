import { createNameExpander, linesByName } from "./lines.ts";
import { messageLines } from "./protobuf.ts";
import { indexKinds } from "./schema-table.ts";
import { schemaLines } from "./schemas.ts";

/** The scalar types that Kubernetes' messages use. */
export type ScalarType = "string" | "bytes" | "int32" | "int64" | "bool" | "double";

/** One field of a message. */
export interface MessageField {
  /** Its name in JSON; of a field that JSON does not have (an inlined one), its name in protobuf. */
  readonly name: string;
  readonly number: number;
  readonly type:
    | { readonly scalar: ScalarType }
    /** The name of a message in this table. */
    | { readonly message: string };
  readonly repeated: boolean;
  /** A map from strings to `type`: on the wire repeated entries of 1 key and 2 value. */
  readonly map: boolean;
  /** Its zero says something else than its absence. Of any other scalar, a zero on the wire says nothing. */
  readonly pointer: boolean;
  /** A server writes it to JSON even when it is zero. */
  readonly always: boolean;
  /** In JSON the fields of this message stand in the parent. */
  readonly inline: boolean;
}

/** The fields of a message. */
export interface MessageFields {
  /** The name of its OpenAPI component, such as `io.k8s.api.core.v1.Pod`. */
  readonly name: string;
  readonly fields: ReadonlyMap<number, MessageField>;
  /** In JSON it is a list: the items of its only field. */
  readonly list: boolean;
}

/** The protobuf messages of the built-in types, each decoded when it is first asked for. */
export interface MessageTable {
  /** By the name of the OpenAPI component, such as `io.k8s.api.core.v1.Pod`. */
  get(messageName: string): MessageFields | undefined;
  /** The names of all messages, sorted. */
  names(): string[];
  /** The message that an envelope's `apiVersion` and `kind` stand for. */
  nameOfKind(apiVersion: string, kind: string): string | undefined;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** These belong to every group version, those of custom resources too. */
const SHARED_KINDS: ReadonlySet<string> = new Set([
  "CreateOptions",
  "DeleteOptions",
  "GetOptions",
  "ListOptions",
  "PatchOptions",
  "UpdateOptions",
  "Status",
  "WatchEvent",
  "List",
  "PartialObjectMetadata",
  "PartialObjectMetadataList",
]);

/**
 * Opens the table of protobuf messages.
 *
 * @example
 * ```ts
 * const table = createMessageTable();
 * table.get(table.nameOfKind("v1", "Pod") ?? "")?.fields.get(2)?.name; // "spec"
 * ```
 */
export function createMessageTable(): MessageTable {
  const expand = createNameExpander();
  const open = new Map<string, { readonly list: boolean; readonly code: string }>();
  for (const [name, code] of linesByName(messageLines)) {
    const list = name.endsWith("[]");
    open.set(expand(list ? name.slice(0, -2) : name), { list, code });
  }
  const decoded = new Map<string, MessageFields>();
  let kinds: ReadonlyMap<string, string> | undefined;
  return {
    get(name) {
      let message = decoded.get(name);
      const line = open.get(name);
      if (message === undefined && line !== undefined) {
        message = { name, fields: decodeFields(line.code, expand), list: line.list };
        decoded.set(name, message);
      }
      return message;
    },
    names: () => [...open.keys()],
    nameOfKind(apiVersion, kind) {
      kinds ??= indexKinds(linesByName(schemaLines));
      const short = kinds.get(`${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}/${kind}`);
      const name = short === undefined ? undefined : expand(short);
      if (name !== undefined && open.has(name)) return name;
      return SHARED_KINDS.has(kind) ? `${META}.${kind}` : undefined;
    },
  };
}

function decodeFields(code: string, expand: (short: string) => string): ReadonlyMap<number, MessageField> {
  const fields = new Map<number, MessageField>();
  if (code === "") return fields;
  for (const text of code.split(" ")) {
    const parts = /^(.+):(\d+):([[{]?)([\w.]+)([*!^]*)$/.exec(text);
    if (parts === null) throw new Error(`The table of messages has an unreadable field "${text}"`);
    const [, name = "", digits, container, type = "", flags = ""] = parts;
    const number = Number(digits);
    fields.set(number, {
      name,
      number,
      type: type.includes(".") ? { message: expand(type) } : { scalar: scalarOf(type) },
      repeated: container === "[",
      map: container === "{",
      pointer: flags.includes("*"),
      always: flags.includes("!"),
      inline: flags.includes("^"),
    });
  }
  return fields;
}

function scalarOf(letter: string): ScalarType {
  switch (letter) {
    case "s":
      return "string";
    case "y":
      return "bytes";
    case "i":
      return "int32";
    case "l":
      return "int64";
    case "b":
      return "bool";
    case "d":
      return "double";
    default:
      throw new Error(`The table of messages has an unknown type "${letter}"`);
  }
}
