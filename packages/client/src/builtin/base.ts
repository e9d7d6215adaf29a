import { builtinDescription, type KindDescription, type ObjectBody } from "../kinds/index.ts";
import { type GenStatics, gen, type KindClass, KubeObject } from "../objects/index.ts";

/**
 * An object of a kind whose objects all have a `spec`: the compiler does not ask whether it is there. An object that was
 * made from a name alone has none before it is read.
 */
export class SpecObject<out B extends ObjectBody> extends KubeObject<B> {
  override get spec(): NonNullable<B["spec"]> {
    return this.body.spec as NonNullable<B["spec"]>;
  }
}

/** The class of a built-in kind without methods of its own. */
export type BuiltinClass<T extends KubeObject<ObjectBody>> = KindClass<T> & GenStatics<T["body"]>;

/** A class for a built-in kind that has no `spec`. */
export function plainKind<B extends ObjectBody>(group: string, version: string, kind: string) {
  return described<KubeObject<B>>(class extends KubeObject<B> {}, group, version, kind);
}

/** A class for a built-in kind whose objects have a `spec`. */
export function specKind<B extends ObjectBody>(group: string, version: string, kind: string) {
  return described<SpecObject<B>>(class extends SpecObject<B> {}, group, version, kind);
}

/** Gives a class its description when a program first asks: few programs use more than a handful of the kinds. */
function described<T extends KubeObject<ObjectBody>>(
  Class: object,
  group: string,
  version: string,
  kind: string,
): BuiltinClass<T> {
  let description: KindDescription | undefined;
  Object.defineProperty(Class, "description", {
    get: () => {
      description ??= builtinDescription(group, version, kind);
      return description;
    },
  });
  Object.defineProperty(Class, "gen", { value: gen });
  return Class as BuiltinClass<T>;
}
