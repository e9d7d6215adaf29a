/** What this operator knows of the objects of one kind, as the work for them sees it. */
import type { KindDescription, KubeBody, WriteVerb } from "@lotse/client";
import type { IdentityKey, ObjectKey } from "@lotse/client/meta";

/** How a handler wrote: its verb, and the reconciler that it is, if it is one. */
export interface HandlerWrite {
  readonly verb: WriteVerb;
  /** The reconciler that wrote; a room above knows its type. */
  readonly writer: unknown;
}

/** An object as the store finds it: by its name, and by its uid, for another one may have had the name before. */
export interface StoredObject {
  readonly objectKey: ObjectKey;
  readonly uid: string;
}

/** See the module comment. */
export interface KindStore {
  /** The newest known body of an object, this operator's own writes included. */
  readonly newest: (object: StoredObject) => KubeBody | undefined;
  /** Lays the API server's answer to a turn's own write over what the stream has shown. */
  readonly wrote: (body: KubeBody) => void;
  /** Lays the answer to a handler's write, of whatever kind, over what is known of that kind, and wakes that object. */
  readonly handlerWrote: (body: KubeBody, kind: KindDescription, how: HandlerWrite) => void;
  /** The object gets a turn. */
  readonly wake: (key: IdentityKey) => void;
}
