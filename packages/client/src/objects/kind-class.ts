import type { KindDescription, KubeBody, ObjectBody } from "../kinds/index.ts";
import type { Client } from "./client.ts";
import type { ObjectList } from "./list.ts";
import type { KubeObject } from "./object.ts";
import type { GetOptions, ListOptions, SelectOptions } from "./options.ts";

/** With which client, where a class is asked and not an object. */
export interface ClientOption {
  /** Default: `Client.default()`. */
  readonly client?: Client | undefined;
}

/** What every class of objects can do by itself. */
export interface KindStatics {
  /** Reads one object: `Pod.get("web")`. */
  get<T extends KubeObject<ObjectBody>>(this: KindClass<T>, name: string, o?: GetOptions & ClientOption): Promise<T>;
  /** The objects of the kind: `Pod.list({ labelSelector: { app: "web" } })`. */
  list<T extends KubeObject<ObjectBody>>(this: KindClass<T>, o?: ListOptions & ClientOption): ObjectList<T>;
  /** The one object that the selectors mean; an AmbiguousError when there are several. */
  find<T extends KubeObject<ObjectBody>>(this: KindClass<T>, o: SelectOptions & ClientOption): Promise<T>;
  /** An object of which only the name is known. Sends nothing. */
  ref<T extends KubeObject<ObjectBody>>(
    this: KindClass<T>,
    name: string,
    o?: { readonly namespace?: string | undefined } & ClientOption,
  ): T;
}

/**
 * A class of objects: what `client.get(Pod, …)` takes. `Input` is the body that makes one, where that is not the body that
 * is read: a field that the server fills may be left out.
 */
export interface KindClass<T extends KubeObject<ObjectBody> = KubeObject, Input = BodyFor<T>> extends KindStatics {
  new (body: Input, client?: Client): T;
  readonly description: KindDescription;
}

/**
 * The body that a class takes. Where the class may be any class no body is wrong for the compiler: otherwise a class of a
 * known kind, which takes less than every body, would not pass as "some class".
 */
// biome-ignore lint/suspicious/noExplicitAny: the only type that is a fine argument for every class
type BodyFor<T extends KubeObject<ObjectBody>> = KubeBody extends T["body"] ? any : T["body"];
