/** From what a handler is declared for to the types of its objects. */
import type { KindClass, KubeBody, KubeObject } from "@lotse/client";

/** The body type of a resource: exact for classes, loose for names. */
export type BodyOf<R> = R extends KindClass<infer T> ? (T["body"] extends KubeBody ? T["body"] : KubeBody) : LooseBody;

/** The objects of a resource: those of its class, with all its verbs, or of any kind for names. */
export type ObjectOf<R> = R extends KindClass<infer T> ? T : KubeObject<LooseBody>;

/** The body of an object whose kind is only known by name. */
export interface LooseBody extends KubeBody {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}
