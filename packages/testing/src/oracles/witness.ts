/**
 * Hears what an operator does and on whose behalf: each request, and each object that came back from a write. One for all
 * lives of all operators of a harness.
 */
import type { Client, KubeBody } from "@lotse/client";
import type { Actor } from "lotse";
import { currentActor } from "../world/index.ts";

/** One write that the server has accepted. */
export interface SeenWrite {
  readonly actor: Actor | undefined;
  readonly verb: string;
  /** What was written; of the framework's own write for handlers, the object that they work for. */
  readonly object: SeenObject;
}

/** What is remembered of an object. */
export interface SeenObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string | undefined;
  /** The uids of its owners. */
  readonly owners: readonly string[];
  readonly isDeleting: boolean;
}

/** A request that came when nothing should have run any more. */
export interface LateRequest {
  readonly actor: Actor | undefined;
  readonly method: string;
  readonly path: string;
}

const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** Questions in the form of a write. */
const REVIEWS = /reviews(?:\?|$)/;

/** See the module comment. */
export class Witness {
  readonly #writes: SeenWrite[] = [];
  readonly #late: LateRequest[] = [];

  /** All writes so far, in their order. */
  get writes(): readonly SeenWrite[] {
    return this.#writes;
  }

  /** Requests of operators that had stopped. */
  get late(): readonly LateRequest[] {
    return this.#late;
  }

  /** The client for one life of an operator; `over` says whether that life has ended. */
  listen(client: Client, over: () => boolean): Client {
    return client.with({
      onRequest: ({ method, path }) => {
        const actor = currentActor.getStore();
        if (over()) this.#late.push({ actor, method, path });
        if (!actor?.object || !WRITES.has(method) || REVIEWS.test(path) || !isOn(path, actor.object.name)) return;
        const { apiVersion, kind, namespace, name, uid } = actor.object;
        return {
          ended: (end) => {
            if ("error" in end || end.status >= 300) return;
            const object = { apiVersion, kind, namespace, name, uid, owners: [], isDeleting: false };
            this.#writes.push({ actor, verb: method === "DELETE" ? "delete" : "patch", object });
          },
        };
      },
      onWrite: (body, verb) => {
        this.#writes.push({ actor: currentActor.getStore(), verb, object: seen(body) });
      },
    });
  }
}

/** Whether a path leads to an object of this name, or to a part of it. */
function isOn(path: string, name: string): boolean {
  const words = path.split("?", 1)[0]?.split("/") ?? [];
  return words.slice(-2).includes(encodeURIComponent(name));
}

function seen({ apiVersion = "", kind = "", metadata = {} }: KubeBody): SeenObject {
  const { namespace, name = "", uid, ownerReferences = [], deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    namespace,
    name,
    uid,
    owners: ownerReferences.map((owner) => owner.uid),
    isDeleting: deletionTimestamp !== undefined,
  };
}
