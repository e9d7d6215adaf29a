/**
 * The way to the cluster of a shadow's client. Reads come from the shadow's world, writes are tried and then so in that
 * world; nothing leaves here that changes anything.
 *
 * What must stay true: every request that is no read goes through `DryRun`, is a question that changes nothing, or is
 * refused.
 */
import type {
  Client,
  KubeBody,
  RawRequest,
  RawResponse,
  Transport,
  WebSocketConnection,
  WebSocketRequest,
} from "@lotse/client";
import { type Clock, isObject, objectKeyOf } from "@lotse/client/meta";
import type { Actor } from "../report/index.ts";
import type { Actors } from "./actors.ts";
import { answer, success } from "./answers.ts";
import type { DryRun } from "./dry-run.ts";
import type { KindWorld } from "./kind-world.ts";
import { patchKindOf } from "./local-change.ts";
import { list, read, selected, watch } from "./reads.ts";
import { noDryRun } from "./refusal.ts";
import { pathTo, type RequestTarget, resourceOf, targetOf, withQueryApart } from "./request-target.ts";
import type { World } from "./world.ts";
import type { Write, Writes } from "./writes.ts";

/** What a {@link ShadowTransport} is made of. */
export interface ShadowTransportParts {
  /** Of the cluster, past the shadow. */
  readonly client: Client;
  readonly world: World;
  readonly writes: Writes;
  readonly dryRun: DryRun;
  readonly actors: Actors;
  readonly clock: Clock;
  /** Whether commands in containers are really run. */
  readonly allowExec: boolean;
  /** Something could not be tried, or is not compared. */
  readonly onUntried: (what: string, refused: boolean, actor: Actor | undefined) => void;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Asked by creating an object that the server does not keep. */
const QUESTIONS: ReadonlySet<string> = new Set(["authorization.k8s.io", "authentication.k8s.io"]);
/** What the cluster itself is made of: the shadow sees it as it is. */
const AS_IT_IS: ReadonlySet<string> = new Set([
  "customresourcedefinitions.apiextensions.k8s.io",
  "apiservices.apiregistration.k8s.io",
]);
const EVENTS: ReadonlySet<string> = new Set(["events", "events.events.k8s.io"]);
/** Reaches programs, which know nothing of dry runs. */
const THROUGH = /^(?:exec|attach|portforward|proxy)(?:\/|$)/;

/** See the module comment. */
export class ShadowTransport implements Transport {
  readonly #parts: ShadowTransportParts;

  constructor(parts: ShadowTransportParts) {
    this.#parts = parts;
  }

  async request(asked: RawRequest): Promise<RawResponse> {
    const request = withQueryApart(asked);
    const { client } = this.#parts;
    const target = targetOf(request.path);
    const reads = READS.has(request.method);
    if (!target) {
      if (reads) return client.raw(request);
      throw this.#refuse(`${request.method} ${request.path}`);
    }
    if (QUESTIONS.has(target.group)) return client.raw(request);
    const resource = resourceOf(target);
    if (EVENTS.has(resource)) return reads ? client.raw(request) : answer(dropped(request));
    if (AS_IT_IS.has(resource) || wantsAnotherForm(request))
      return reads ? client.raw(request) : this.#notCompared(request, target);
    if (target.subresource !== undefined && THROUGH.test(target.subresource) && !reads) {
      throw this.#refuse(`${target.subresource} in ${resource} ${nameOf(target)}`);
    }
    return reads ? this.#read(request, target) : this.#write(request, target);
  }

  async webSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
    const target = targetOf(request.path);
    const what = target ? `${target.subresource} in ${resourceOf(target)} ${nameOf(target)}` : request.path;
    if (!this.#parts.allowExec || !target || target.subresource !== "exec") throw this.#refuse(what);
    return this.#parts.client.webSocket({ ...request, path: pathTo(await this.#real(target)) });
  }

  async reauthenticate(): Promise<void> {
    await this.#parts.client.reauthenticate();
  }

  async close(): Promise<void> {}

  async #read(request: RawRequest, target: RequestTarget): Promise<RawResponse> {
    const { client, world, clock } = this.#parts;
    const { name, subresource } = target;
    const isObject = subresource === undefined || subresource === "status";
    if (!isObject) return client.raw({ ...request, path: pathTo(await this.#real(target)) });
    const kind = await world.of(target);
    if (!kind) return client.raw(request);
    const watches = request.query?.watch !== undefined && request.query.watch !== false;
    if (watches) return watch(kind, target, request, world.version, clock);
    return name === undefined ? list(kind, target, request, world.version) : read(kind, target, request);
  }

  async #write(request: RawRequest, target: RequestTarget): Promise<RawResponse> {
    const { world, writes, actors } = this.#parts;
    request.beforeSend?.();
    // Whoever only asks what would become of a write does not change the shadow's world either.
    if (isDryRun(request)) return answer(await this.#tryIt(request, target));
    const kind = await world.of(target);
    if (!kind) return this.#notCompared(request, target);
    const write = { world: kind, target, request, actor: actors.current };
    const { subresource } = target;
    if (subresource === "scale") return this.#scale(write);
    if (subresource === "eviction") {
      await this.#parts.dryRun.send(request, { path: pathTo(await this.#real(target)) });
      return answer(await writes.remove({ ...write, target: { ...target, subresource: undefined } }, { tried: true }));
    }
    if (subresource !== undefined && subresource !== "status") return this.#notCompared(request, target);
    switch (request.method) {
      case "POST":
        return answer(await writes.create(write), 201);
      case "PUT":
        return answer(await writes.update(write, "replace"));
      case "PATCH": {
        const how = patchKindOf(request);
        return answer(how === "apply" ? await writes.apply(write) : await writes.update(write, how));
      }
      case "DELETE":
        return answer(target.name === undefined ? await this.#removeAll(write) : await writes.remove(write));
      default:
        throw this.#refuse(`${request.method} ${request.path}`);
    }
  }

  async #scale(write: Write): Promise<RawResponse> {
    const { request, target } = write;
    const scaled = await this.#parts.writes.scale(write, request.method === "PUT" ? "replace" : patchKindOf(request));
    return scaled ? answer(scaled) : this.#notCompared(request, target);
  }

  async #removeAll(write: Write): Promise<KubeBody> {
    const { world, target, request } = write;
    await this.#parts.dryRun.send(request);
    for (const { metadata } of selected(world, target, request)) {
      const one = { ...target, namespace: metadata?.namespace, name: metadata?.name };
      const alone = { ...write, target: one, request: { ...request, query: undefined } };
      await this.#parts.writes.remove(alone, { tried: true });
    }
    return success(target, undefined);
  }

  /** Tried, and then forgotten: the shadow's world has no place for it. */
  async #notCompared(request: RawRequest, target: RequestTarget): Promise<RawResponse> {
    const made = await this.#tryIt(request, target);
    const below = target.subresource === undefined ? "" : `/${target.subresource}`;
    this.#note(`${request.method} ${resourceOf(target)}${below} ${nameOf(target)}`, false);
    return answer(made);
  }

  async #tryIt(request: RawRequest, target: RequestTarget): Promise<KubeBody> {
    const { dryRun } = this.#parts;
    if (request.method === "POST" && target.name === undefined) {
      // The name may be taken by the version that works: that is no refusal.
      const body = request.body as KubeBody;
      return (await dryRun.create(request, body, false)) ?? body;
    }
    return dryRun.send(request, { path: pathTo(await this.#real(target)) });
  }

  /** The same target under the name that the cluster knows. */
  async #real(target: RequestTarget): Promise<RequestTarget> {
    if (target.name === undefined) return target;
    const world: KindWorld | undefined = this.#parts.world.kinds.find(
      ({ kind }) => kind.plural === target.plural && kind.group === target.group,
    );
    const key = world?.keyOf(objectKeyOf(target.namespace, target.name));
    return key === undefined ? target : { ...target, name: key.slice(key.indexOf("/") + 1) };
  }

  #refuse(what: string): Error {
    this.#note(what, true);
    const hint = what.startsWith("exec ")
      ? "--allow-exec runs commands that only look; what follows is not compared"
      : undefined;
    return noDryRun(what, hint);
  }

  #note(what: string, refused: boolean): void {
    this.#parts.onUntried(what, refused, this.#parts.actors.current);
  }
}

function isDryRun({ query, body }: RawRequest): boolean {
  return query?.dryRun !== undefined || (isObject(body) && body.dryRun !== undefined);
}

/** Tables and bare metadata: the server makes them. */
function wantsAnotherForm({ headers }: RawRequest): boolean {
  const accept = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === "accept")?.[1];
  return accept !== undefined && String(accept).includes("as=");
}

/** An Event that nobody posts, in the form of one that was. */
function dropped({ body }: RawRequest): KubeBody {
  return { ...(body as KubeBody), metadata: { ...(body as KubeBody | undefined)?.metadata } };
}

function nameOf({ namespace, name }: RequestTarget): string {
  return `${namespace === undefined ? "" : `${namespace}/`}${name ?? "*"}`;
}
