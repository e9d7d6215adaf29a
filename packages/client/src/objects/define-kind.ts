import {
  apiVersionOf,
  describeKind,
  type KindDescription,
  type KindSketch,
  type KubeBody,
  type ObjectBody,
  type ObjectMeta,
} from "../kinds/index.ts";
import { type KindClass, KubeObject } from "./object.ts";
import { ScalableObject, type ScalePaths } from "./scale.ts";

/** The metadata that `gen` takes beside a kind's own fields. */
export interface GenMeta {
  name?: string | undefined;
  generateName?: string | undefined;
  namespace?: string | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
}

/** `gen` of a kind without a helper of its own: metadata, and the body's other fields. */
export interface GenStatics<B extends ObjectBody = KubeBody> {
  gen<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    o: GenMeta & Partial<Omit<B, "apiVersion" | "kind" | "metadata">>,
  ): T;
}

/** A kind that the client does not know: what can be derived may be left out. */
export interface KindDefinition extends KindSketch {
  /** For kinds with replicas: where they are, unless in `.spec.replicas`. Gives objects `scale()`. */
  readonly scale?: ScalePaths | undefined;
}

/**
 * A class for a kind that the client does not know. Plural, singular and scope are derived when they are left out; a
 * subclass may add methods.
 *
 * @example
 * ```ts
 * type WidgetBody = KubeBody & { spec?: { size: number } };
 * class Widget extends defineKind<WidgetBody>({ group: "example.com", version: "v1", kind: "Widget" }) {
 *   get size() { return this.spec?.size ?? 0; }
 * }
 * const widget = await client.get(Widget, "first");
 * ```
 */
export function defineKind<B extends ObjectBody = KubeBody>(
  definition: KindDefinition & { readonly scale: ScalePaths },
): KindClass<ScalableObject<B>> & GenStatics<B>;
export function defineKind<B extends ObjectBody = KubeBody>(
  definition: KindDefinition,
): KindClass<KubeObject<B>> & GenStatics<B>;
export function defineKind<B extends ObjectBody = KubeBody>({
  scale,
  ...sketch
}: KindDefinition): KindClass<KubeObject<B>> & GenStatics<B> {
  const description = describeKind(sketch);
  if (scale === undefined) {
    return class extends KubeObject<B> {
      static override readonly description: KindDescription = description;
      static gen = gen;
    } as unknown as KindClass<KubeObject<B>> & GenStatics<B>;
  }
  const scalePaths: ScalePaths = scale;
  return class extends ScalableObject<B> {
    static override readonly description: KindDescription = description;
    static override readonly scalePaths: ScalePaths = scalePaths;
    static gen = gen;
  } as unknown as KindClass<KubeObject<B>> & GenStatics<B>;
}

/** The general `gen`: a static method, so that a subclass makes its own objects. */
export function gen<T extends KubeObject<ObjectBody>>(this: KindClass<T>, o: GenMeta): T {
  const { meta, rest } = splitMeta(o);
  return new this({ ...headerOf(this.description), metadata: meta, ...rest } as unknown as T["body"]);
}

/** `apiVersion` and `kind` as a manifest starts with them. */
export function headerOf(description: KindDescription): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(description), kind: description.kind };
}

/** Separates the metadata from the rest, leaving out what is `undefined`. */
export function splitMeta<O extends GenMeta>(o: O): { meta: ObjectMeta; rest: Omit<O, keyof GenMeta> } {
  const { name, generateName, namespace, labels, annotations, finalizers, ...rest } = o;
  return { meta: defined({ name, generateName, namespace, labels, annotations, finalizers }), rest };
}

/** The object without the keys whose value is `undefined`. */
export function defined<O extends object>(o: O): { [K in keyof O]: Exclude<O[K], undefined> } {
  return Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as never;
}
