/** Builders for the tests of this room: objects as a server keeps them, with who has set what. */
import { Readable } from "node:stream";
import { Client, type KindDescription, type KubeBody, type ManagedFieldsEntry, type Transport } from "@lotse/client";
import { Aliases } from "./aliases.ts";
import { answer, streamAnswer } from "./answers.ts";
import { type Fields, fieldsOfPatch } from "./fields.ts";
import type { Outlook } from "./fork.ts";
import { KindWorld, type KindWorldParts } from "./kind-world.ts";
import type { Lens } from "./normal-form.ts";
import { Worker } from "./worker.ts";

/** The manager of the version that works, in all tests of this room. */
export const OLD = "boxes";

/** A version that works. */
export const worker = new Worker([OLD]);

/** What somebody has set: the fields of `part`. */
export function entry(manager: string, part: unknown, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return { manager, operation: "Update", fieldsV1: fieldsOfPatch(part) as Fields & object, ...more };
}

/** A ConfigMap; `by` has set its data, and somebody else the rest. */
export function map(data: Record<string, string>, by = "kubectl", metadata: KubeBody["metadata"] = {}): KubeBody {
  const managedFields = [entry(by, { data })];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "one", namespace: "default", uid: "u1", resourceVersion: "1", managedFields, ...metadata },
    data,
  };
}

/** Looks at everything as it is. */
export function lens(finalizers: readonly string[] = []): Lens {
  return { aliases: new Aliases(), bookkeeping: { clear: (body) => body, finalizers: new Set(finalizers) } };
}

/** What is new is kept from the shadow, and no owner goes. */
export function outlook(more: Partial<Outlook> = {}): Outlook {
  return { worker, isNew: (_, initial) => !initial, ownerGoes: () => false, ...more };
}

/** ConfigMaps, as a server describes them. */
export const CONFIG_MAPS: KindDescription = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  singular: "configmap",
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
};

/** A world of ConfigMaps. */
export function kindWorld(more: Partial<KindWorldParts> = {}): KindWorld {
  let version = 1_000;
  return new KindWorld({
    kind: CONFIG_MAPS,
    outlook: outlook(),
    lens: lens(),
    version: () => version,
    nextVersion: () => ++version,
    onChanged: () => {},
    onGone: () => {},
    ...more,
  });
}

/** A request that a server has got. */
export interface Got {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A client of a server that answers as it is told, and all that it was asked. Whatever is thrown is its refusal. */
export async function clientOf(
  answers: (got: Got) => object | undefined,
): Promise<{ readonly client: Client; readonly got: Got[] }> {
  const got: Got[] = [];
  const transport: Transport = {
    async request({ method, path, query = {}, body, signal, stream }) {
      const one = { method, path, query, body };
      got.push(one);
      if (stream && query.watch) return streamAnswer(silent(signal));
      return answer(answers(one) ?? {});
    },
    async webSocket({ path }) {
      got.push({ method: "WEBSOCKET", path, query: {}, body: undefined });
      throw new Error("there are no containers");
    },
    async close() {},
  };
  return { client: await Client.connect({ url: "http://server.example.com", transport }), got };
}

/** A watch that shows nothing. */
function silent(signal: AbortSignal | undefined): Readable {
  const stream = new Readable({ read: () => {} });
  signal?.addEventListener("abort", () => stream.destroy(), { once: true });
  return stream;
}
