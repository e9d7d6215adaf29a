import { type ApiObject, create, StatusError, storeKey, type Target, timestamp, update } from "../../registry/index.ts";
import type { ControllerContext } from "../controller.ts";

const TABLE = "events";
/** How many different events are remembered to be counted on. */
const REMEMBERED = 4_096;
/** From so many events on that differ in their message only, the next ones are one. */
const SIMILAR = 10;
const SIMILAR_FOR = 600_000;

/** Something that happened to an object, for people to read. */
export interface EventNote {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The part of the object that it is about: `spec.containers{main}`. */
  readonly fieldPath?: string;
}

/** Who tells it. */
export interface EventSource {
  readonly component: string;
  /** The node that it runs on, if it is one of a node. */
  readonly host?: string;
}

/** Messages of one reason about one object. */
interface Topic {
  readonly messages: Set<string>;
  last: number;
}

/**
 * Writes events. One that says what another has said before is counted on instead of written again; where many differ in
 * their message only, the later ones are told as one.
 */
export class EventRecorder {
  readonly #context: ControllerContext;
  readonly #known = new Map<string, string>();
  readonly #topics = new Map<string, Topic>();
  #count = 0;
  #pending = 0;
  /** One after the other, so that two that say the same are one. */
  #last: Promise<void> = Promise.resolve();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** Whether all that was told is written. */
  get idle(): boolean {
    return this.#pending === 0;
  }

  /**
   * Never rejects. An Event that the API server refuses, because its namespace goes for instance, is not worth a word: no
   * controller depends on it. Whatever else keeps it from being written is told to people.
   */
  record(source: EventSource, object: ApiObject, note: EventNote): Promise<void> {
    this.#pending++;
    this.#last = this.#last.then(() => this.#record(source, object, note)).finally(() => this.#pending--);
    return this.#last;
  }

  async #record(source: EventSource, object: ApiObject, note: EventNote): Promise<void> {
    const { namespace = "default", uid } = object.metadata;
    const topic = [source.component, uid, note.fieldPath, note.type, note.reason].join("\n");
    const combined = this.#isOneOfMany(topic, note.message);
    const said = combined ? { ...note, message: `(combined from similar events): ${note.message}` } : note;
    const same = combined ? topic : `${topic}\n${note.message}`;
    try {
      const rest = this.#context.backend.pace.rest();
      if (rest) await rest;
      if (!(await this.#countOn(namespace, this.#known.get(same), said.message))) {
        remember(this.#known, same, await this.#write(source, namespace, object, said));
      }
    } catch (error) {
      if (error instanceof StatusError) return;
      this.#context.backend.troubles.report(`Events of ${source.component} are not written`, error);
    }
  }

  #isOneOfMany(key: string, message: string): boolean {
    const now = this.#context.backend.clock.now();
    let topic = this.#topics.get(key);
    if (!topic || now - topic.last > SIMILAR_FOR) {
      topic = { messages: new Set(), last: now };
      remember(this.#topics, key, topic);
    }
    topic.last = now;
    if (topic.messages.has(message)) return false;
    if (topic.messages.size >= SIMILAR - 1) return true;
    topic.messages.add(message);
    return false;
  }

  async #countOn(namespace: string, name: string | undefined, message: string): Promise<boolean> {
    const { backend, requester } = this.#context;
    if (name === undefined || !backend.store.get(TABLE, storeKey(namespace, name))) return false;
    const target = this.#target(namespace, name);
    const lastTimestamp = timestamp(backend.clock.now());
    await update(backend, requester, target, this.#options, {
      by: "patch",
      tracked: false,
      next: (event) => ({ ...structuredClone(event), count: Number(event.count ?? 1) + 1, lastTimestamp, message }),
    });
    return true;
  }

  async #write(
    { component, host }: EventSource,
    namespace: string,
    object: ApiObject,
    { fieldPath, ...note }: EventNote,
  ): Promise<string> {
    const { backend, requester } = this.#context;
    const { name, uid, resourceVersion } = object.metadata;
    const now = backend.clock.now();
    const time = timestamp(now);
    const involvedObject = {
      kind: object.kind,
      ...(object.metadata.namespace === undefined ? {} : { namespace }),
      name,
      uid,
      apiVersion: object.apiVersion,
      resourceVersion,
      ...(fieldPath === undefined ? {} : { fieldPath }),
    };
    // Like the clock's nanoseconds in the names of real events, and never the same twice.
    const suffix = (BigInt(Math.floor(now)) * 1_000_000n + BigInt(this.#count++)).toString(16);
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.${suffix}`, namespace },
      involvedObject,
      ...note,
      source: { component, ...(host === undefined ? {} : { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: host ?? "",
    };
    const written = await create(
      backend,
      requester,
      this.#target(namespace, undefined),
      event as unknown as ApiObject,
      this.#options,
    );
    return written.metadata.name;
  }

  get #options() {
    return { dryRun: false, fieldManager: this.#context.requester.defaultManager, fieldValidation: "Ignore" } as const;
  }

  #target(namespace: string, name: string | undefined): Target {
    const endpoint = this.#context.backend.catalog.storage("", "events");
    if (!endpoint) throw new StatusError({ code: 404, message: "events are not served" });
    return { endpoint, namespace, name, subresource: undefined };
  }
}

/** Keeps an entry, and no more than so many. */
function remember<T>(entries: Map<string, T>, key: string, value: T): void {
  if (entries.size >= REMEMBERED) {
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
  entries.set(key, value);
}
