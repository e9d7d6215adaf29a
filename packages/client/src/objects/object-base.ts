/** What can be told of an object without asking a server: its body, its name, its kind, and how it is written down. */
import { inspect } from "node:util";
import { apiVersionOf, type KindDescription, type KubeBody, type ObjectBody, type ObjectMeta } from "../kinds/index.ts";
import { ConfigError, parseJsonPointer } from "../meta/index.ts";
import { guessKind, named } from "./identity.ts";
import { manifestOf, stateOf } from "./manifest.ts";

/** Frozen, so that a label that a program puts here is an error and not lost. */
const NONE: Readonly<Record<string, string>> = Object.freeze({});

/** Plain JSON and what follows from it; {@link KubeObject} adds the verbs. */
export abstract class ObjectBase<out B extends ObjectBody = KubeBody> {
  /** What is known of the kind; on concrete classes. */
  static readonly description: KindDescription | undefined;

  /** The whole object as it is in JSON. */
  body: B;
  readonly #given: KindDescription | undefined;

  /** Takes the body as it is, with `apiVersion` and `kind` added where a list left them out. */
  constructor(body: B, description?: KindDescription) {
    this.#given = description ?? new.target.description;
    this.body = named(body, this.#given);
  }

  /** Where an object that names no namespace lives: that of its client. */
  protected abstract get clientNamespace(): string | undefined;

  /** The kind of this object. Guessed from `apiVersion` and `kind` when neither a class nor the server said it. */
  get description(): KindDescription {
    return this.#given ?? guessKind(this.body);
  }

  /** Whether the kind is known and not guessed. */
  get hasDescription(): boolean {
    return this.#given !== undefined;
  }

  /** The same as `body`. */
  get raw(): B {
    return this.body;
  }

  get metadata(): ObjectMeta {
    return this.body.metadata ?? {};
  }

  get spec(): B["spec"] {
    return this.body.spec;
  }

  get status(): B["status"] {
    return this.body.status;
  }

  /** Throws while only `generateName` is set: the server gives the name at creation. Can be set before that. */
  get name(): string {
    const { name, generateName } = this.metadata;
    if (name) return name;
    throw new ConfigError(`this ${this.kindName} has no name yet`, {
      hint: generateName
        ? `the server makes one from generateName "${generateName}" when it is created`
        : "set metadata.name or metadata.generateName",
    });
  }

  set name(name: string) {
    this.body = { ...this.body, metadata: { ...this.metadata, name } };
  }

  get namespace(): string | undefined {
    return this.metadata.namespace ?? (this.description.namespaced ? this.clientNamespace : undefined);
  }

  get uid(): string | undefined {
    return this.metadata.uid;
  }

  /** Change them with `label()`. */
  get labels(): Readonly<Record<string, string>> {
    return this.metadata.labels ?? NONE;
  }

  /** Change them with `annotate()`. */
  get annotations(): Readonly<Record<string, string>> {
    return this.metadata.annotations ?? NONE;
  }

  /** One text for one object of the cluster: `apps/v1/Deployment/default/web`. For the keys of a Map. */
  get key(): string {
    const parts = [apiVersionOf(this.description), this.description.kind, this.namespace, this.name];
    return parts.filter((part) => part !== undefined).join("/");
  }

  /** Whether `other` means the same object of the cluster, whatever its content. */
  is(other: ObjectBase<ObjectBody>): boolean {
    return this.key === other.key;
  }

  /**
   * The value at a JSON pointer: `pod.at("/spec/containers/0/image")`; `undefined` when there is none.
   */
  at<T = unknown>(pointer: string): T | undefined {
    const segments = parseJsonPointer(pointer);
    if (segments === undefined) {
      throw new ConfigError(`"${pointer}" is not a JSON pointer`, { hint: 'write "/spec/containers/0/image"' });
    }
    let value: unknown = this.body;
    for (const segment of segments) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
      value = (value as Record<string, unknown>)[segment];
    }
    return value as T;
  }

  toJSON(): B {
    return this.body;
  }

  /** A copy with only what its author wrote: no status, and nothing of what the server adds to the metadata. */
  toManifest(): B {
    return manifestOf(this.body as ObjectBody as KubeBody) as ObjectBody as B;
  }

  /** The whole body as YAML. */
  async toYAML(): Promise<string> {
    const { yamlOf } = await import("./manifest-yaml.ts");
    return yamlOf(this.body as ObjectBody as KubeBody);
  }

  /** What it is called in a sentence: `Pod default/web`, `Node worker-1`. Never throws. */
  toString(): string {
    const { name, generateName, namespace } = this.metadata;
    const called = name ?? (generateName ? `${generateName}*` : "(unnamed)");
    const place = namespace ?? (this.#given?.namespaced ? this.clientNamespace : undefined);
    return `${this.kindName} ${place ? `${place}/` : ""}${called}`;
  }

  /** `Pod default/web (Running)` */
  [inspect.custom](): string {
    const state = stateOf(this.body as ObjectBody as KubeBody);
    return `${this}${state ? ` (${state})` : ""}`;
  }

  get [Symbol.toStringTag](): string {
    return this.kindName;
  }

  protected get kindName(): string {
    return this.#given?.kind ?? this.body.kind ?? "object";
  }
}
