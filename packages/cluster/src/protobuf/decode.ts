import { isObject, setKey } from "@lotse/client/meta";
import type { MessageField, MessageFields, MessageTable, ScalarType } from "../registry/index.ts";
import { ProtobufReader, WIRE } from "./reader.ts";

/** A body that is not the protobuf that its envelope promises. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** What was in the envelope. `object` has its `apiVersion` and `kind`. */
export interface DecodedProtobuf {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: Record<string, unknown>;
}

/** "k8s" and a zero byte, before every object in protobuf. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00] as const;

/** No built-in type nests deeper, apart from the schemas of custom resources, which people write by hand. */
const MAX_DEPTH = 500;

const TYPE_META = "io.k8s.apimachinery.pkg.runtime.TypeMeta";

/**
 * Turns a body of `application/vnd.kubernetes.protobuf` into the object that its JSON would have been.
 *
 * @example
 * ```ts
 * const { kind, object } = decodeKubernetesProtobuf(body, createMessageTable());
 * ```
 */
export function decodeKubernetesProtobuf(bytes: Uint8Array, table: MessageTable): DecodedProtobuf {
  if (!hasMagic(bytes)) throw new ProtobufError("the body does not start with the Kubernetes protobuf prefix");
  const decoder: Decoder = { table, depth: 0 };
  try {
    return decodeEnvelope(decoder, new ProtobufReader(bytes.subarray(MAGIC.length)));
  } catch (error) {
    if (error instanceof ProtobufError) throw error;
    throw new ProtobufError(
      `the body is not valid protobuf: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

interface Decoder {
  readonly table: MessageTable;
  depth: number;
}

function hasMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

function decodeEnvelope(decoder: Decoder, reader: ProtobufReader): DecodedProtobuf {
  let type: Record<string, unknown> = {};
  let raw = new Uint8Array();
  let contentType = "";
  while (!reader.atEnd()) {
    const { number, wire } = reader.tag();
    if (number === 1) type = decodeObject(decoder, messageNamed(decoder, TYPE_META), reader.message());
    else if (number === 2) raw = reader.bytes();
    else if (number === 4) contentType = reader.string();
    else reader.skip(wire);
  }
  const { apiVersion = "", kind = "" } = type as { apiVersion?: string; kind?: string };
  return { apiVersion, kind, object: decodeContent(decoder, apiVersion, kind, raw, contentType) };
}

function decodeContent(
  decoder: Decoder,
  apiVersion: string,
  kind: string,
  raw: Uint8Array,
  contentType: string,
): Record<string, unknown> {
  if (contentType.startsWith("application/json")) {
    const value = parseJson(raw);
    if (!isObject(value)) throw new ProtobufError("the body embeds a document that is not an object");
    return value;
  }
  const name = decoder.table.nameOfKind(apiVersion, kind);
  if (name === undefined) throw new ProtobufError(`no protobuf message is known for kind "${kind}" of "${apiVersion}"`);
  return { apiVersion, kind, ...decodeObject(decoder, messageNamed(decoder, name), new ProtobufReader(raw)) };
}

function messageNamed(decoder: Decoder, name: string): MessageFields {
  const message = decoder.table.get(name);
  if (message === undefined) throw new ProtobufError(`no protobuf message is named ${name}`);
  return message;
}

/** The JSON value of a message. `undefined` is its zero: what a server shows as null or not at all. */
function decodeMessage(decoder: Decoder, message: MessageFields, reader: ProtobufReader): unknown {
  const special = SPECIAL.get(message.name);
  if (special !== undefined) return special(decoder, message, reader);
  const object = decodeObject(decoder, message, reader);
  if (!message.list) return object;
  const [items] = message.fields.values();
  return items === undefined ? [] : (object[items.name] ?? []);
}

function decodeObject(decoder: Decoder, message: MessageFields, reader: ProtobufReader): Record<string, unknown> {
  if (decoder.depth >= MAX_DEPTH) throw new ProtobufError(`the body nests deeper than ${MAX_DEPTH} messages`);
  decoder.depth += 1;
  const object: Record<string, unknown> = {};
  while (!reader.atEnd()) {
    const { number, wire } = reader.tag();
    const field = message.fields.get(number);
    // A field that this version does not know: a newer client wrote it.
    if (field === undefined) reader.skip(wire);
    else decodeField(decoder, field, wire, reader, object);
  }
  decoder.depth -= 1;
  return object;
}

function decodeField(
  decoder: Decoder,
  field: MessageField,
  wire: number,
  reader: ProtobufReader,
  object: Record<string, unknown>,
): void {
  if (field.map) {
    const [key, value] = decodeEntry(decoder, field, reader.message());
    const map = object[field.name] as Record<string, unknown> | undefined;
    const target = map ?? {};
    setKey(target, key, value);
    if (map === undefined) object[field.name] = target;
    return;
  }
  if (field.repeated) {
    const list = object[field.name] as unknown[] | undefined;
    const target = list ?? [];
    decodeItems(decoder, field, wire, reader, target);
    if (list === undefined) object[field.name] = target;
    return;
  }
  const value = decodeValue(decoder, field, wire, reader);
  if (field.inline && typeof value === "object") Object.assign(object, value);
  else if (value !== undefined && (field.pointer || field.always || !isZero(field, value))) object[field.name] = value;
}

function decodeItems(
  decoder: Decoder,
  field: MessageField,
  wire: number,
  reader: ProtobufReader,
  list: unknown[],
): void {
  const itemWire = wireOf(field);
  if (wire === WIRE.bytes && itemWire !== WIRE.bytes) {
    // Packed: a writer may put all numbers of a list into one field.
    const items = reader.message();
    while (!items.atEnd()) list.push(decodeValue(decoder, field, itemWire, items));
  } else {
    list.push(decodeValue(decoder, field, wire, reader) ?? null);
  }
}

/** An entry without a key or a value has the zero of its type there. */
function decodeEntry(decoder: Decoder, field: MessageField, reader: ProtobufReader): [key: string, value: unknown] {
  let key = "";
  let value: unknown;
  while (!reader.atEnd()) {
    const { number, wire } = reader.tag();
    if (number === 1) key = reader.string();
    else if (number === 2) value = decodeValue(decoder, field, wire, reader);
    else reader.skip(wire);
  }
  if (value !== undefined) return [key, value];
  if ("scalar" in field.type) return [key, zeroOf(field.type.scalar)];
  const empty = new ProtobufReader(new Uint8Array());
  return [key, decodeMessage(decoder, messageNamed(decoder, field.type.message), empty) ?? null];
}

function decodeValue(decoder: Decoder, field: MessageField, wire: number, reader: ProtobufReader): unknown {
  if (wire !== wireOf(field)) {
    throw new ProtobufError(`the field ${field.name} (${field.number}) has the wire type ${wire}`);
  }
  return "message" in field.type
    ? decodeMessage(decoder, messageNamed(decoder, field.type.message), reader.message())
    : decodeScalar(field.type.scalar, reader);
}

function decodeScalar(type: ScalarType, reader: ProtobufReader): unknown {
  switch (type) {
    case "string":
      return reader.string();
    case "bytes":
      return reader.base64();
    case "int32":
      return reader.int32();
    case "int64":
      return reader.int64();
    case "bool":
      return reader.bool();
    case "double":
      return reader.double();
  }
}

function wireOf(field: MessageField): number {
  if ("message" in field.type) return WIRE.bytes;
  switch (field.type.scalar) {
    case "string":
    case "bytes":
      return WIRE.bytes;
    case "int32":
    case "int64":
    case "bool":
      return WIRE.varint;
    case "double":
      return WIRE.fixed64;
  }
}

function zeroOf(type: ScalarType): unknown {
  switch (type) {
    case "string":
    case "bytes":
      return "";
    case "int32":
    case "int64":
    case "double":
      return 0;
    case "bool":
      return false;
  }
}

/** Protobuf writes every field that is no pointer, so a zero there says no more than its absence. */
function isZero(field: MessageField, value: unknown): boolean {
  if ("scalar" in field.type) return value === zeroOf(field.type.scalar);
  return field.type.message === INT_OR_STRING && value === 0;
}

// --- messages whose JSON has a form of its own ----------------------------------------------------------------------

type Special = (decoder: Decoder, message: MessageFields, reader: ProtobufReader) => unknown;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  [`${META}.Time`, (...args) => decodeTime(0, ...args)],
  [`${META}.MicroTime`, (...args) => decodeTime(6, ...args)],
  [`${META}.FieldsV1`, decodeRaw],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", decodeRaw],
  [`${APIEXTENSIONS}.JSON`, decodeRaw],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", decodeQuantity],
  [INT_OR_STRING, decodeIntOrString],
  [`${APIEXTENSIONS}.JSONSchemaPropsOrArray`, (...args) => decodeUnion("jSONSchemas", ...args)],
  [`${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`, (...args) => decodeUnion("property", ...args)],
  [`${APIEXTENSIONS}.JSONSchemaPropsOrBool`, decodeSchemaOrBool],
]);

/** RFC 3339 in UTC. A time with neither field set is the zero time. */
function decodeTime(
  digits: 0 | 6,
  decoder: Decoder,
  message: MessageFields,
  reader: ProtobufReader,
): string | undefined {
  if (reader.atEnd()) return undefined;
  const { seconds = 0, nanos = 0 } = decodeObject(decoder, message, reader) as { seconds?: number; nanos?: number };
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError(`${seconds} seconds is no time`);
  const whole = date.toISOString().slice(0, -5);
  const fraction = digits === 0 ? "" : `.${String(Math.floor(nanos / 1000)).padStart(6, "0")}`;
  return `${whole}${fraction}Z`;
}

function decodeQuantity(decoder: Decoder, message: MessageFields, reader: ProtobufReader): string {
  const { string = "0" } = decodeObject(decoder, message, reader) as { string?: string };
  return string;
}

function decodeIntOrString(decoder: Decoder, message: MessageFields, reader: ProtobufReader): number | string {
  const parts = decodeObject(decoder, message, reader) as { type?: number; intVal?: number; strVal?: string };
  return parts.type === 1 ? (parts.strVal ?? "") : (parts.intVal ?? 0);
}

/** Embedded JSON; an embedded object may also be protobuf with an envelope of its own. */
function decodeRaw(decoder: Decoder, _message: MessageFields, reader: ProtobufReader): unknown {
  let raw = new Uint8Array();
  while (!reader.atEnd()) {
    const { number, wire } = reader.tag();
    if (number === 1) raw = reader.bytes();
    else reader.skip(wire);
  }
  if (raw.length === 0) return undefined;
  if (!hasMagic(raw)) return parseJson(raw);
  return decodeEnvelope(decoder, new ProtobufReader(raw.subarray(MAGIC.length))).object;
}

/** A schema, or the list in the field named `list`. */
function decodeUnion(list: string, decoder: Decoder, message: MessageFields, reader: ProtobufReader): unknown {
  const parts = decodeObject(decoder, message, reader);
  return parts[list] ?? parts.schema;
}

function decodeSchemaOrBool(decoder: Decoder, message: MessageFields, reader: ProtobufReader): unknown {
  const parts = decodeObject(decoder, message, reader);
  return parts.schema ?? parts.allows ?? false;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new ProtobufError("the body embeds a document that is not JSON");
  }
}
