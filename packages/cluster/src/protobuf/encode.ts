/**
 * Objects in the protobuf of Kubernetes, from what their JSON would be and the table of messages: the way back of the
 * decoder in `transport/`. As Go does it, every field that is no pointer is written, also when it is zero.
 */
import {
  isRecord,
  type MessageField,
  type MessageFields,
  type MessageTable,
  type ScalarType,
} from "../registry/index.ts";
import { ProtobufWriter } from "./writer.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const API_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const encoder = new TextEncoder();

/** Writes values of the types in a table of messages. */
export class ProtobufEncoder {
  readonly #messages: MessageTable;
  readonly #fields = new Map<string, readonly MessageField[]>();

  constructor(messages: MessageTable) {
    this.#messages = messages;
  }

  /** Whether a type has a form in protobuf. */
  knows(name: string): boolean {
    return this.#messages.get(name) !== undefined;
  }

  /** The message of a kind, undefined when there is none. */
  nameOfKind(apiVersion: string, kind: string): string | undefined {
    return this.#messages.nameOfKind(apiVersion, kind);
  }

  /** The bytes of a message, without an envelope. */
  encode(name: string, value: unknown): Uint8Array {
    const writer = new ProtobufWriter();
    this.#message(writer, name, value);
    return writer.bytes();
  }

  #message(writer: ProtobufWriter, name: string, value: unknown): void {
    const special = SPECIAL.get(name);
    if (special !== undefined) {
      special(writer, value, (inner, type, part) => this.#message(inner, type, part));
      return;
    }
    const message = this.#messages.get(name);
    if (message === undefined) throw new Error(`no protobuf message is named ${name}`);
    const object = message.list ? asList(message, value) : isRecord(value) ? value : {};
    for (const field of this.#byNumber(message)) this.#field(writer, field, object);
  }

  #byNumber(message: MessageFields): readonly MessageField[] {
    let fields = this.#fields.get(message.name);
    if (fields === undefined) {
      fields = [...message.fields.values()].sort((a, b) => a.number - b.number);
      this.#fields.set(message.name, fields);
    }
    return fields;
  }

  #field(writer: ProtobufWriter, field: MessageField, object: Readonly<Record<string, unknown>>): void {
    // Fields of an inlined message stand in the JSON of its parent.
    if (field.inline) {
      this.#value(writer, field, object);
      return;
    }
    const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    if (field.map) {
      for (const key of Object.keys(isRecord(value) ? value : {}).sort()) {
        writer.message(field.number, (entry) => {
          entry.text(1, key);
          this.#value(entry, { ...field, number: 2 }, (value as Record<string, unknown>)[key]);
        });
      }
    } else if (field.repeated) {
      for (const item of Array.isArray(value) ? value : []) this.#value(writer, field, item);
    } else if (value !== undefined && value !== null) this.#value(writer, field, value);
    else if (!field.pointer) this.#zero(writer, field);
  }

  #zero(writer: ProtobufWriter, field: MessageField): void {
    if ("scalar" in field.type && field.type.scalar === "bytes") return;
    this.#value(writer, field, undefined);
  }

  #value(writer: ProtobufWriter, field: MessageField, value: unknown): void {
    const { type, number } = field;
    if ("message" in type) writer.message(number, (inner) => this.#message(inner, type.message, value));
    else writeScalar(writer, number, type.scalar, value);
  }
}

/** A message that is a list in JSON: the list becomes its only field. */
function asList(message: MessageFields, value: unknown): Record<string, unknown> {
  const [items] = message.fields.values();
  return items === undefined ? {} : { [items.name]: value };
}

function writeScalar(writer: ProtobufWriter, number: number, type: ScalarType, value: unknown): void {
  switch (type) {
    case "string":
      writer.text(number, typeof value === "string" ? value : "");
      break;
    case "bytes":
      writer.chunk(number, fromBase64(typeof value === "string" ? value : ""));
      break;
    case "int32":
    case "int64":
      writer.varint(number, typeof value === "number" ? value : 0);
      break;
    case "bool":
      writer.varint(number, value === true ? 1 : 0);
      break;
    case "double":
      writer.double(number, typeof value === "number" ? value : 0);
  }
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

// --- messages whose JSON has a form of its own ----------------------------------------------------------------------

type Inner = (writer: ProtobufWriter, type: string, value: unknown) => void;
type Special = (writer: ProtobufWriter, value: unknown, inner: Inner) => void;

const SCHEMA = `${API_EXTENSIONS}.JSONSchemaProps`;

const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  [`${META}.Time`, (writer, value) => writeTime(writer, value, false)],
  [`${META}.MicroTime`, (writer, value) => writeTime(writer, value, true)],
  [`${META}.FieldsV1`, writeRaw],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", writeRaw],
  [`${API_EXTENSIONS}.JSON`, writeRaw],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", (writer, value) => writer.text(1, String(value ?? "0"))],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", writeIntOrString],
  [`${SCHEMA}OrArray`, writeSchemaOrArray],
  [`${SCHEMA}OrStringArray`, writeSchemaOrTexts],
  [`${SCHEMA}OrBool`, writeSchemaOrBool],
]);

/** No time at all is an empty message. */
function writeTime(writer: ProtobufWriter, value: unknown, micro: boolean): void {
  if (typeof value !== "string") return;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return;
  const fraction = micro ? (/\.(\d{1,6})/.exec(value)?.[1] ?? "") : "";
  writer.varint(1, Math.floor(ms / 1_000));
  writer.varint(2, Number(fraction.padEnd(6, "0")) * 1_000);
}

function writeRaw(writer: ProtobufWriter, value: unknown): void {
  if (value !== undefined && value !== null) writer.chunk(1, encoder.encode(JSON.stringify(value)));
}

function writeIntOrString(writer: ProtobufWriter, value: unknown): void {
  const text = typeof value === "string";
  writer.varint(1, text ? 1 : 0);
  writer.varint(2, typeof value === "number" ? value : 0);
  writer.text(3, text ? value : "");
}

function writeSchemaOrArray(writer: ProtobufWriter, value: unknown, inner: Inner): void {
  if (!Array.isArray(value)) writer.message(1, (part) => inner(part, SCHEMA, value));
  else for (const item of value) writer.message(2, (part) => inner(part, SCHEMA, item));
}

function writeSchemaOrTexts(writer: ProtobufWriter, value: unknown, inner: Inner): void {
  if (!Array.isArray(value)) writer.message(1, (part) => inner(part, SCHEMA, value));
  else for (const item of value) writer.text(2, String(item));
}

function writeSchemaOrBool(writer: ProtobufWriter, value: unknown, inner: Inner): void {
  writer.varint(1, value === false ? 0 : 1);
  if (isRecord(value)) writer.message(2, (part) => inner(part, SCHEMA, value));
}
