import type { MessageTable } from "../registry/index.ts";
import { ProtobufEncoder } from "./encode.ts";
import { ProtobufWriter } from "./writer.ts";

/** "k8s" and a zero byte, before every object in protobuf. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

interface Typed {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/**
 * Answers in protobuf. What is stored never changes, so the bytes of an object are kept for as long as it is there, for
 * all who list and watch it.
 */
export class ProtobufAnswers {
  readonly #encoder: ProtobufEncoder;
  readonly #bytes = new WeakMap<object, Uint8Array>();

  constructor(messages: MessageTable) {
    this.#encoder = new ProtobufEncoder(messages);
  }

  /** Whether an object of this kind can be written. */
  knows(apiVersion: string, kind: string): boolean {
    return this.#encoder.nameOfKind(apiVersion, kind) !== undefined;
  }

  /** An object, a Status or metadata in the envelope that says what is in it. */
  object(value: object): Uint8Array {
    return this.#envelope(value as Typed, this.#raw(value));
  }

  /** A list; its items are written once for all lists that they are in. */
  list(value: { readonly metadata: unknown; readonly items: readonly object[] } & Typed, itemKind: Typed): Uint8Array {
    const writer = new ProtobufWriter();
    writer.chunk(1, this.#encoder.encode("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", value.metadata));
    for (const item of value.items) writer.chunk(2, this.#raw(item, itemKind));
    return this.#envelope(value, writer.bytes());
  }

  /** An event of a watch with the length of what follows before it. */
  event(type: string, object: object): Uint8Array {
    const writer = new ProtobufWriter();
    writer.text(1, type);
    writer.message(2, (raw) => raw.chunk(1, this.object(object)));
    const body = writer.bytes();
    const frame = new Uint8Array(4 + body.length);
    new DataView(frame.buffer).setUint32(0, body.length);
    frame.set(body, 4);
    return frame;
  }

  #raw(value: object, { apiVersion, kind }: Typed = value as Typed): Uint8Array {
    let bytes = this.#bytes.get(value);
    if (bytes === undefined) {
      const name = this.#encoder.nameOfKind(String(apiVersion), String(kind));
      if (name === undefined) throw new Error(`${String(kind)} of ${String(apiVersion)} has no form in protobuf`);
      bytes = this.#encoder.encode(name, value);
      this.#bytes.set(value, bytes);
    }
    return bytes;
  }

  #envelope({ apiVersion, kind }: Typed, raw: Uint8Array): Uint8Array {
    const writer = new ProtobufWriter();
    writer.message(1, (type) => {
      type.text(1, String(apiVersion));
      type.text(2, String(kind));
    });
    writer.chunk(2, raw);
    // Neither packed nor of another type than what the envelope says.
    writer.text(3, "");
    writer.text(4, "");
    const body = writer.bytes();
    const whole = new Uint8Array(MAGIC.length + body.length);
    whole.set(MAGIC);
    whole.set(body, MAGIC.length);
    return whole;
  }
}
