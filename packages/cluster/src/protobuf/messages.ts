/** Messages of protocol buffers as tables: the fields of each by the names that they have in JSON. */
import { isRecord } from "../registry/index.ts";
import { ProtobufWriter } from "./writer.ts";

/** Writes one field of a message. */
export type Field = (out: ProtobufWriter, number: number, value: unknown) => void;

/** The fields of a message: their JSON names, numbers and kinds. */
export interface Message {
  readonly fields: Readonly<Record<string, readonly [number: number, field: Field]>>;
  /** The number of the field that takes what starts with `x-`. */
  readonly extensions?: number;
}

/** A field of type string. */
export const text: Field = (out, number, value) => out.text(number, String(value));
/** A field of type bool. */
export const flag: Field = (out, number, value) => out.varint(number, value === true ? 1 : 0);
/** A field of an integer type. */
export const count: Field = (out, number, value) => out.varint(number, Number(value));
/** A field of type double. */
export const real: Field = (out, number, value) => out.double(number, Number(value));
/** Whatever it is, it stands there as YAML, which JSON is. */
export const anything: Field = (out, number, value) =>
  out.message(number, (inner) => inner.text(2, JSON.stringify(value) ?? "null"));

/** A repeated field. */
export const each =
  (field: Field): Field =>
  (out, number, value) => {
    for (const one of Array.isArray(value) ? value : [value]) field(out, number, one);
  };

/** A field that holds another message; looked up late, because messages may hold themselves. */
export const message =
  (of: () => Message): Field =>
  (out, number, value) =>
    out.message(number, (inner) => writeMessage(inner, of(), value));

/** A message that does nothing but hold one field. */
export const inside =
  (number: number, field: Field): Field =>
  (out, outer, value) =>
    out.message(outer, (inner) => field(inner, number, value));

/** A map: entries of a name and a value, inside a message of their own. */
export const entries =
  (number: number, field: Field): Field =>
  (out, outer, value) =>
    out.message(outer, (inner) => {
      for (const [name, one] of Object.entries(isRecord(value) ? value : {})) {
        inner.message(number, (entry) => {
          entry.text(1, name);
          field(entry, 2, one);
        });
      }
    });

/** A repeated field of strings. */
export const texts = each(text);

/** The bytes of a value. */
export function encodeMessage(of: Message, value: Readonly<Record<string, unknown>>): Uint8Array {
  const out = new ProtobufWriter();
  writeMessage(out, of, value);
  return out.bytes();
}

function writeMessage(out: ProtobufWriter, { fields, extensions }: Message, value: unknown): void {
  if (!isRecord(value)) return;
  for (const [key, content] of Object.entries(value)) {
    if (content === undefined) continue;
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field) field[1](out, field[0], content);
    else if (extensions !== undefined && key.startsWith("x-")) {
      out.message(extensions, (entry) => {
        entry.text(1, key);
        anything(entry, 2, content);
      });
    }
  }
}
