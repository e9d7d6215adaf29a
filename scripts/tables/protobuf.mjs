// Protobuf messages: field names and numbers, from the .proto files, completed from the Go structs.
import { parseGoTypes } from "./go-structs.mjs";
import { shortName } from "./names.mjs";

/**
 * @typedef {object} Field
 * @property {string} name in JSON
 * @property {number} number
 * @property {string} type a type code, or the name of a message as in OpenAPI ("io.k8s.api.core.v1.Pod")
 * @property {"" | "[" | "{"} container none, list or map with strings as keys
 * @property {string} flags of FLAGS
 *
 * @typedef {object} Message
 * @property {boolean} list the message is a list in JSON: its only field holds the items
 * @property {Field[]} fields in the order of the Go struct, in which JSON has them, too
 */

const SCALARS = { string: "s", bytes: "y", int32: "i", int64: "l", bool: "b", double: "d" };

/** Pointer in Go; written to JSON even when zero; the fields of this message stand in the parent's JSON. */
const FLAGS = { pointer: "*", always: "!", inline: "^" };

/** Messages of requests and answers that are no kind of a group. */
const META_ROOTS = [
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
].map((type) => `io.k8s.apimachinery.pkg.apis.meta.v1.${type}`);

const RUNTIME_ROOTS = ["RawExtension", "TypeMeta", "Unknown"].map((type) => `io.k8s.apimachinery.pkg.runtime.${type}`);

/** @type {[module: import("./sources.mjs").ModuleName, folder: string][]} */
const MACHINERY = [
  ["apimachinery", "pkg/api/resource"],
  ["apimachinery", "pkg/apis/meta/v1"],
  ["apimachinery", "pkg/runtime"],
  ["apimachinery", "pkg/util/intstr"],
  ["apiextensions", "pkg/apis/apiextensions/v1"],
  ["aggregator", "pkg/apis/apiregistration/v1"],
];

/**
 * @param {import("./sources.mjs").Sources} sources
 * @param {Map<string, import("./schemas.mjs").Schema>} schemas
 * @returns {Map<string, Message>} reachable messages by name as in OpenAPI, sorted
 */
export function readMessages(sources, schemas) {
  /** @type {Map<string, Message>} */
  const all = new Map();
  for (const [module, folder] of [...MACHINERY, ...apiFolders(schemas)]) {
    const goFiles = sources
      .files(module, folder)
      .filter((file) => file.endsWith(".go") && !/^(zz_generated|generated)|_test\.go$/.test(file));
    const go = parseGoTypes(goFiles.map((file) => sources.text(module, `${folder}/${file}`)).join("\n"));
    for (const [name, message] of parseProto(sources.text(module, `${folder}/generated.proto`), go))
      all.set(name, message);
  }
  const kinds = [...schemas].filter(([, schema]) => schema["x-kubernetes-group-version-kind"]).map(([name]) => name);
  return reachable(all, [...kinds.filter((name) => all.has(name)), ...META_ROOTS, ...RUNTIME_ROOTS]);
}

/**
 * @param {Map<string, unknown>} schemas
 * @returns {[module: "api", folder: string][]}
 */
function apiFolders(schemas) {
  const folders = [...schemas.keys()].flatMap((name) => {
    const match = /^io\.k8s\.api\.(\w+)\.(\w+)\.\w+$/.exec(name);
    return match ? [`${match[1]}/${match[2]}`] : [];
  });
  return [...new Set(folders)].map((folder) => ["api", folder]);
}

/**
 * @param {string} text
 * @param {import("./go-structs.mjs").GoTypes} go
 * @returns {Map<string, Message>}
 */
function parseProto(text, go) {
  /** @type {Map<string, Message>} */
  const messages = new Map();
  const protoPackage = /^package ([\w.]+);$/m.exec(text)?.[1] ?? "";
  let message = /** @type {Message | undefined} */ (undefined);
  let type = "";
  for (const line of text.split("\n")) {
    const start = /^message (\w+) \{$/.exec(line);
    if (start?.[1] !== undefined) {
      type = start[1];
      message = { list: go.lists.has(type), fields: [] };
      messages.set(componentName(`${protoPackage}.${type}`), message);
      continue;
    }
    if (line === "}") {
      const places = [...(go.structs.get(type)?.keys() ?? [])];
      message?.fields.sort((a, b) => places.indexOf(a.number) - places.indexOf(b.number) || a.number - b.number);
      message = undefined;
    }
    if (message === undefined) continue;
    const field = parseField(line, protoPackage, go.structs.get(type));
    if (field !== undefined) message.fields.push(field);
    else if (/^\s*[^\s/]/.test(line))
      throw new Error(`The generator does not understand the line "${line}" of ${type}`);
  }
  return messages;
}

/**
 * @param {string} line
 * @param {string} protoPackage
 * @param {Map<number, import("./go-structs.mjs").GoField> | undefined} struct
 * @returns {Field | undefined}
 */
function parseField(line, protoPackage, struct) {
  const parts = /^ {2}(optional|repeated|map<string,) ([\w.]+)>? (\w+) = (\d+);$/.exec(line);
  if (parts === null) return undefined;
  const [, label = "", protoType = "", protoName = "", digits = ""] = parts;
  const number = Number(digits);
  const go = struct?.get(number);
  const absolute = protoType.startsWith(".") ? protoType.slice(1) : `${protoPackage}.${protoType}`;
  return {
    name: go?.json ?? protoName,
    number,
    type: SCALARS[/** @type {keyof typeof SCALARS} */ (protoType)] ?? componentName(absolute),
    container: label === "optional" ? "" : label === "repeated" ? "[" : "{",
    flags: [
      go?.pointer ? FLAGS.pointer : "",
      go?.json !== undefined && !go.omitEmpty ? FLAGS.always : "",
      go?.inline ? FLAGS.inline : "",
    ].join(""),
  };
}

/**
 * The same type is "k8s.io.api.core.v1.Pod" in protobuf and "io.k8s.api.core.v1.Pod" in OpenAPI; protobuf has no dashes.
 * @param {string} protoName
 */
function componentName(protoName) {
  return protoName
    .replace(/^k8s\.io\./, "io.k8s.")
    .replace("apiextensions_apiserver", "apiextensions-apiserver")
    .replace("kube_aggregator", "kube-aggregator");
}

/**
 * @param {Map<string, Message>} all
 * @param {string[]} roots
 */
function reachable(all, roots) {
  /** @type {Map<string, Message>} */
  const found = new Map();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    const message = all.get(name);
    if (message === undefined) throw new Error(`No .proto file defines ${name}`);
    found.set(name, message);
    for (const { type } of message.fields) if (type.includes(".")) open.push(type);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * One line for each message: its short name ("[]" behind it when it is a list in JSON), then its fields as
 * name:number:type, where type is a code or a short name, behind "[" in a list and "{" in a map, before its flags.
 * @param {Map<string, Message>} messages
 */
export function encodeMessages(messages) {
  return [...messages].map(([name, { list, fields }]) =>
    [
      shortName(name) + (list ? "[]" : ""),
      ...fields.map(
        (field) =>
          `${field.name}:${field.number}:${field.container}${field.type.includes(".") ? shortName(field.type) : field.type}${field.flags}`,
      ),
    ].join(" "),
  );
}
