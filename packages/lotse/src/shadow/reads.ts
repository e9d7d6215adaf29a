/** The shadow's world, as it is listed, read and watched. */
import { Readable } from "node:stream";
import { apiVersionOf, type KubeBody, type RawRequest, type RawResponse } from "@lotse/client";
import {
  type Clock,
  isObject,
  matchesFields,
  matchesLabels,
  objectKeyOf,
  parseFieldSelector,
  parseLabelSelector,
} from "@lotse/client/meta";
import { valueAt } from "../declare/index.ts";
import { answer, notFound, streamAnswer } from "./answers.ts";
import type { KindWorld, WorldEvent } from "./kind-world.ts";
import type { RequestTarget } from "./request-target.ts";

/** Well below the silence after which a watch counts as dead. */
const BOOKMARK_MS = 30_000;

/** One object. */
export function read(world: KindWorld, target: RequestTarget, request: RawRequest): RawResponse {
  const key = world.keyOf(objectKeyOf(target.namespace, target.name ?? ""));
  const would = world.fork(key)?.would;
  if (!would) throw notFound(target, request);
  return answer(would);
}

/** All objects that are meant, at once: pages are for servers that have more of them. */
export function list(world: KindWorld, target: RequestTarget, request: RawRequest, version: number): RawResponse {
  const isMeant = selectionOf(target, request);
  const items = [...world.bodies()].filter(isMeant).sort(byKey);
  const { kind } = world;
  const metadata = { resourceVersion: String(version) };
  return answer({ apiVersion: apiVersionOf(kind), kind: `${kind.kind}List`, metadata, items });
}

/** The names of what is meant, for a deletion of all of them. */
export function selected(world: KindWorld, target: RequestTarget, request: RawRequest): KubeBody[] {
  return [...world.bodies()].filter(selectionOf(target, request)).sort(byKey);
}

/** What happens from the version on that the request names, or from now on after all that there is. */
export function watch(
  world: KindWorld,
  target: RequestTarget,
  request: RawRequest,
  version: number,
  clock: Clock,
): RawResponse {
  const isMeant = selectionOf(target, request);
  const since = Number(request.query?.resourceVersion ?? 0);
  const stream = new Readable({ read: () => {} });
  const send = (type: string, object: object) => stream.push(Buffer.from(`${JSON.stringify({ type, object })}\n`));
  const onEvent = (event: WorldEvent) => {
    const type = typeFor(event, isMeant);
    if (type) send(type, event.body);
  };
  const mark = (at: number, annotations?: Readonly<Record<string, string>>) => {
    const { kind } = world;
    const metadata = { resourceVersion: String(at), creationTimestamp: null, ...(annotations && { annotations }) };
    send("BOOKMARK", { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata });
  };
  if (!(since > 0)) for (const body of [...world.bodies()].filter(isMeant)) send("ADDED", body);
  if (String(request.query?.sendInitialEvents) === "true") mark(version, { "k8s.io/initial-events-end": "true" });
  const forget = world.listen(since > 0 ? since : version, onEvent);
  let last = version;
  const bookmark = () => {
    if (!stream.destroyed) mark(last);
    cancel = clock.after(BOOKMARK_MS, bookmark);
  };
  const counting = world.listen(version, (event) => {
    last = event.version;
  });
  let cancel = clock.after(BOOKMARK_MS, bookmark);
  const onAbort = () => stream.destroy();
  request.signal?.addEventListener("abort", onAbort, { once: true });
  stream.once("close", () => {
    cancel();
    forget();
    counting();
    request.signal?.removeEventListener("abort", onAbort);
  });
  if (request.signal?.aborted) stream.destroy();
  return streamAnswer(stream);
}

/** An object that comes to match has been added for whoever watches, and one that no longer does is gone. */
function typeFor({ type, body, before }: WorldEvent, isMeant: (body: KubeBody) => boolean): string | undefined {
  const [was, is] = [before !== undefined && isMeant(before), isMeant(body)];
  if (type === "DELETED") return was ? type : undefined;
  if (is) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
}

function selectionOf({ namespace, name }: RequestTarget, { query = {} }: RawRequest): (body: KubeBody) => boolean {
  const labels = parseLabelSelector(textOf(query.labelSelector));
  const fields = parseFieldSelector(textOf(query.fieldSelector));
  return (body) =>
    (namespace === undefined || body.metadata?.namespace === namespace) &&
    (name === undefined || body.metadata?.name === name) &&
    matchesLabels(labels, body.metadata?.labels) &&
    matchesFields(fields, (path) => fieldOf(body, path));
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === "" ? undefined : String(value);
}

function fieldOf(body: KubeBody, path: string): string {
  const value = valueAt(body, path.split("."));
  return value === undefined || value === null || isObject(value) ? "" : String(value);
}

function byKey(a: KubeBody, b: KubeBody): number {
  const key = ({ metadata }: KubeBody) => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
  return key(a) < key(b) ? -1 : 1;
}
