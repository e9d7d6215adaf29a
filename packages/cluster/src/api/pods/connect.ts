import { lookup } from "@lotse/client/meta";
import { admitPosted } from "../../registry/index.ts";
import { isTrue } from "../request-info.ts";
import type { ResourceCall } from "../resources/resource-call.ts";

type Read = (query: URLSearchParams, key: string) => unknown;

const flag: Read = (query, key) => (isTrue(query.get(key)) ? true : undefined);
const text: Read = (query, key) => query.get(key) || undefined;
const texts: Read = (query, key) => (query.getAll(key).length > 0 ? query.getAll(key) : undefined);
const numbers: Read = (query, key) => {
  const ports = query.getAll(key).flatMap((list) => list.split(","));
  return ports.length > 0 ? ports.map(Number) : undefined;
};

const STREAMS = { stdin: flag, stdout: flag, stderr: flag, tty: flag, container: text } as const;

/** What a connection into a pod is described by, and where its query says that. */
const OPTIONS: Readonly<Record<string, { readonly kind: string; readonly fields: Readonly<Record<string, Read>> }>> = {
  exec: { kind: "PodExecOptions", fields: { ...STREAMS, command: texts } },
  attach: { kind: "PodAttachOptions", fields: STREAMS },
  portforward: { kind: "PodPortForwardOptions", fields: { ports: numbers } },
};

/** A connection into a pod is a request like any other to those who are asked for admission. */
export async function admitConnection(call: ResourceCall, subresource: string): Promise<void> {
  const known = lookup(OPTIONS, subresource);
  if (!known) return;
  const { backend, requester, target, request } = call;
  const object: Record<string, unknown> = { kind: known.kind, apiVersion: "v1" };
  for (const [key, read] of Object.entries(known.fields)) {
    const value = read(request.query, key);
    if (value !== undefined) object[key] = value;
  }
  await admitPosted(backend, requester, target, { operation: "CONNECT", object, dryRun: false, options: {} });
}
