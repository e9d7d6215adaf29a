/** What the shadow writes: tried on the API server, and then so in the shadow's world. */
import { type KubeBody, type ManagedFieldsEntry, NotFoundError, type RawRequest } from "@lotse/client";
import {
  type Clock,
  deepEqual,
  isObject,
  type JsonObject,
  JsonPatchError,
  type ObjectKey,
  objectKey,
  objectKeyOf,
} from "@lotse/client/meta";
import type { Actor } from "../report/index.ts";
import { alreadyExists, conflict, invalid, notFound, success } from "./answers.ts";
import type { DryRun } from "./dry-run.ts";
import { type Fields, fieldsOfEntries, fieldsOfPatch, WHOLE } from "./fields.ts";
import { bound, type Fork, marked, removed, wrote } from "./fork.ts";
import type { KindWorld } from "./kind-world.ts";
import { acceptedOf, answeredOf, askedOf, changed, deltaOf, type PatchKind, wishedBy } from "./local-change.ts";
import { replaceFields } from "./replace-fields.ts";
import { pathTo, type RequestTarget } from "./request-target.ts";
import { asStored } from "./secrets.ts";
import type { Worker } from "./worker.ts";

/** What {@link Writes} is made of. */
export interface WritesParts {
  readonly dryRun: DryRun;
  readonly worker: Worker;
  readonly clock: Clock;
  /** Whether the shadow's world has a namespace that the cluster has not. */
  readonly hasNamespace: (name: string) => boolean;
}

/** One write, of whom, and where. */
export interface Write {
  readonly world: KindWorld;
  readonly target: RequestTarget;
  readonly request: RawRequest;
  readonly actor: Actor | undefined;
}

/** See the module comment. */
export class Writes {
  readonly #parts: WritesParts;
  /** Ends of objects that take their time. */
  readonly #ending = new Set<() => void>();
  /** Objects that could not be tried on a server have uids that this counts. */
  #made = 0;

  constructor(parts: WritesParts) {
    this.#parts = parts;
  }

  /** Makes an object. */
  async create({ world, target, request, actor }: Write): Promise<KubeBody> {
    const { namespace } = target;
    const body = withNamespace(bodyOf(request), namespace);
    const { name } = body.metadata ?? {};
    const wanted = name === undefined ? undefined : world.keyOf(objectKeyOf(namespace, name));
    const known = wanted && world.fork(wanted);
    if (known?.would) throw alreadyExists(target, name ?? "", request);
    const tried = await this.#tryCreate(request, body, namespace, known?.is !== undefined);
    const made = tried ?? this.#untried(asStored(body));
    const fields = (tried && fieldsOf(tried, request, "Update")) ?? fieldsOfBody(asStored(body));
    const key = objectKey(made);
    const fork = world.fork(key);
    // Another handler of the shadow was faster.
    if (fork?.would) throw alreadyExists(target, name ?? "", request);
    const would = fork?.is ? bound(made, fields, fork.is, this.#parts.worker) : made;
    world.put(key, wrote(fork, would, fields, actor));
    return bodyIn(world, world.bindOwn(key), would);
  }

  async #tryCreate(
    request: RawRequest,
    body: KubeBody,
    namespace: string | undefined,
    taken: boolean,
  ): Promise<KubeBody | undefined> {
    try {
      return await this.#parts.dryRun.create(request, body, taken);
    } catch (error) {
      if (namespace !== undefined && this.#isOnlyOurs(namespace, error)) return undefined;
      throw error;
    }
  }

  #isOnlyOurs(namespace: string, error: unknown): boolean {
    return error instanceof NotFoundError && error.details.name === namespace && this.#parts.hasNamespace(namespace);
  }

  /** As it was sent: no server has filled anything in. */
  #untried(body: KubeBody): KubeBody {
    const creationTimestamp = this.#time();
    const { generateName, name = `${generateName ?? ""}shadow-${this.#made}` } = body.metadata ?? {};
    const uid = `shadow-${++this.#made}`;
    return { ...body, metadata: { ...body.metadata, name, uid, creationTimestamp, generation: 1 } };
  }

  /** Applies an object: makes it, or merges what this manager wants with what others want. */
  async apply({ world, target, request, actor }: Write): Promise<KubeBody> {
    const { namespace, name = "", subresource } = target;
    const manifest = withNamespace(bodyOf(request), namespace);
    const key = world.keyOf(objectKeyOf(namespace, name));
    const before = world.fork(key);
    this.#checkMeant(before?.would, manifest, target, request);
    if (!before?.would && subresource !== undefined) throw notFound(target, request);
    const { resourceVersion: _, uid: __, ...metadata } = manifest.metadata ?? {};
    const tried = await this.#tryApply({ world, target, request, actor }, { ...manifest, metadata }, key);
    const made = tried ?? this.#untried(asStored(manifest));
    const fields = (tried && fieldsOf(tried, request, "Apply", subresource)) ?? fieldsOfBody(asStored(manifest));
    const fork = world.fork(key);
    const would = this.#merged(fork, made, fields, request, subresource);
    world.put(key, wrote(fork, would, fields, actor));
    return bodyIn(world, key, would);
  }

  async #tryApply({ target, request }: Write, manifest: KubeBody, key: ObjectKey): Promise<KubeBody | undefined> {
    try {
      return await this.#parts.dryRun.apply(request, { ...target, name: nameOf(key) }, manifest);
    } catch (error) {
      if (target.namespace !== undefined && this.#isOnlyOurs(target.namespace, error)) return undefined;
      throw error;
    }
  }

  /** What the apply has made of the shadow's object. What this manager applied before and does not any more goes. */
  #merged(
    fork: Fork | undefined,
    made: KubeBody,
    fields: Fields,
    request: RawRequest,
    subresource: string | undefined,
  ): KubeBody {
    const { worker } = this.#parts;
    if (!fork?.would) return fork?.is ? bound(made, fields, fork.is, worker) : made;
    const isOwn = isEntryOf(request, "Apply", subresource);
    const off = fieldsOfEntries(fork.would, isOwn);
    const next = replaceFields(fork.would, { off, on: fields, from: made });
    const others = fork.would.metadata?.managedFields?.filter((entry) => !isOwn(entry)) ?? [];
    const own = made.metadata?.managedFields?.filter(isOwn) ?? [];
    const { generation } = fork.would.metadata ?? {};
    const grown =
      generation !== undefined && Object.keys(fields).some((key) => key !== "f:metadata" && key !== "f:status")
        ? { generation: isEqualSpec(fork.would, next) ? generation : generation + 1 }
        : {};
    return { ...next, metadata: { ...next.metadata, ...grown, managedFields: [...others, ...own] } };
  }

  /** Patches or replaces an object, or its status. */
  async update({ world, target, request, actor }: Write, how: PatchKind | "replace"): Promise<KubeBody> {
    const { namespace, name = "", subresource } = target;
    const key = world.keyOf(objectKeyOf(namespace, name));
    const before = world.fork(key);
    if (!before?.would) throw notFound(target, request);
    const body = bodyOf(request);
    if (!Array.isArray(body)) this.#checkMeant(before.would, body, target, request);
    const real = before.is && { ...target, name: nameOf(key) };
    let accepted: JsonObject | undefined;
    if (how === "strategic" && real) {
      const answer = await this.#parts.dryRun.patch(request, real, how, body);
      const wished = applied(before.would, answeredOf(body, answer ?? body) as JsonObject);
      accepted = deltaOf(before.would, wished, subresource, world.kind);
    } else {
      const delta = deltaOf(
        before.would,
        this.#wished(before.would, how, { target, request }),
        subresource,
        world.kind,
      );
      const asked = delta && askedOf(delta);
      const answer = asked && real && (await this.#tryUpdate(request, real, how, before.is, asked));
      accepted = delta && acceptedOf(delta, asked, answer || undefined);
    }
    if (!accepted) return before.would;
    return this.#put(world, key, target, accepted, actor, request);
  }

  #tryUpdate(
    request: RawRequest,
    real: RequestTarget,
    how: PatchKind | "replace",
    is: KubeBody | undefined,
    asked: JsonObject,
  ): Promise<KubeBody | undefined> {
    const { dryRun } = this.#parts;
    return how === "replace" && is
      ? dryRun.replace(request, real, is, asked)
      : dryRun.patch(request, real, "merge", asked);
  }

  #wished(
    would: KubeBody,
    how: PatchKind | "replace",
    { target, request }: Pick<Write, "target" | "request">,
  ): KubeBody {
    try {
      return wishedBy(would, how, bodyOf(request));
    } catch (error) {
      throw error instanceof JsonPatchError ? invalid(target, error.message, request) : error;
    }
  }

  #put(
    world: KindWorld,
    key: ObjectKey,
    target: RequestTarget,
    accepted: JsonObject,
    actor: Actor | undefined,
    request: RawRequest,
  ): KubeBody {
    // It may have changed while the server was asked.
    const fork = world.fork(key);
    if (!fork?.would) throw notFound(target, request);
    const would = changed(fork.would, accepted);
    const next = wrote(fork, would, fieldsOfPatch(accepted), actor);
    if (!isOver(would)) {
      world.put(key, next);
      return bodyIn(world, key, would);
    }
    // Its last finalizer is off.
    world.put(key, removed(next, actor));
    return would;
  }

  /** How many replicas there shall be. The server answers with a form of its own. */
  async scale({ world, target, request, actor }: Write, how: PatchKind | "replace"): Promise<KubeBody | undefined> {
    const key = world.keyOf(objectKeyOf(target.namespace, target.name ?? ""));
    const fork = world.fork(key);
    if (!fork?.would) throw notFound(target, request);
    const { spec } = fork.would;
    if (!fork.is || !isObject(spec) || typeof spec.replicas !== "number" || how === "json") return undefined;
    const body = bodyOf(request);
    const { resourceVersion: _, ...metadata } = body.metadata ?? {};
    const real = { ...target, name: nameOf(key) };
    const unbound = { ...body, metadata };
    const answer =
      how === "replace"
        ? await this.#parts.dryRun.send(request, { path: pathTo(real), body: unbound })
        : await this.#parts.dryRun.patch(request, real, "merge", unbound);
    const replicas = isObject(answer?.spec) ? answer.spec.replicas : undefined;
    if (typeof replicas !== "number") return undefined;
    this.#put(world, key, target, { spec: { replicas } }, actor, request);
    return answer;
  }

  /** Deletes an object; `tried`: the server has been asked already, in another way. */
  async remove({ world, target, request, actor }: Write, { tried = false } = {}): Promise<KubeBody> {
    const key = world.keyOf(objectKeyOf(target.namespace, target.name ?? ""));
    const before = world.fork(key);
    if (!before?.would) throw notFound(target, request);
    const options = isObject(request.body) ? request.body : {};
    if (isObject(options.preconditions)) {
      this.#checkMeant(before.would, { metadata: options.preconditions as KubeBody["metadata"] & {} }, target, request);
    }
    const answer = before.is && !tried && (await this.#parts.dryRun.remove(request, { ...target, name: nameOf(key) }));
    const fork = world.fork(key);
    if (!fork?.would) throw notFound(target, request);
    const grace = (answer && answer.kind !== "Status" && answer.metadata?.deletionGracePeriodSeconds) || 0;
    const held = (fork.would.metadata?.finalizers ?? []).length > 0;
    if (!held && grace === 0) {
      world.put(key, removed(fork, actor));
      return success(target, fork.would.metadata?.uid);
    }
    const mark = { deletionTimestamp: this.#time(), deletionGracePeriodSeconds: grace };
    const would = fork.would.metadata?.deletionTimestamp
      ? fork.would
      : { ...fork.would, metadata: { ...fork.would.metadata, ...mark } };
    world.put(key, marked(fork, would, actor));
    if (grace > 0) this.#endAfter(world, key, grace * 1_000, actor);
    return bodyIn(world, key, would);
  }

  /** No kubelet ends what only the shadow has deleted. */
  #endAfter(world: KindWorld, key: ObjectKey, ms: number, actor: Actor | undefined): void {
    const cancel = this.#parts.clock.after(ms, () => {
      this.#ending.delete(cancel);
      const fork = world.fork(key);
      if (fork?.deletion === "own" && fork.would && isOver(fork.would)) world.put(key, removed(fork, actor));
    });
    this.#ending.add(cancel);
  }

  /** What is being deleted stays so. */
  close(): void {
    for (const cancel of this.#ending) cancel();
    this.#ending.clear();
  }

  /** Whoever names a version or a uid means that one. */
  #checkMeant(would: KubeBody | undefined, meant: KubeBody, target: RequestTarget, request: RawRequest): void {
    const { resourceVersion, uid } = meant.metadata ?? {};
    const name = target.name ?? "";
    if (uid !== undefined && uid !== would?.metadata?.uid) {
      throw conflict(target, name, `the UID in the precondition (${uid}) does not match the UID in record`, request);
    }
    if (resourceVersion !== undefined && would && resourceVersion !== would.metadata?.resourceVersion) {
      throw conflict(
        target,
        name,
        "the object has been modified; please apply your changes to the latest version",
        request,
      );
    }
  }

  #time(): string {
    return new Date(this.#parts.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }
}

/** What a request says. */
function bodyOf({ body }: RawRequest): KubeBody {
  return (typeof body === "string" ? JSON.parse(body) : body) as KubeBody;
}

function withNamespace(body: KubeBody, namespace: string | undefined): KubeBody {
  return namespace === undefined ? body : { ...body, metadata: { ...body.metadata, namespace } };
}

function nameOf(key: ObjectKey): string {
  return key.slice(key.indexOf("/") + 1);
}

/** The object as the shadow's world has it now. */
function bodyIn(world: KindWorld, key: ObjectKey, otherwise: KubeBody): KubeBody {
  return world.fork(key)?.would ?? otherwise;
}

function isOver({ metadata }: KubeBody): boolean {
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
}

function applied(would: KubeBody, patch: JsonObject): KubeBody {
  return wishedBy(would, "merge", patch);
}

function isEntryOf({ query = {} }: RawRequest, operation: string, subresource: string | undefined) {
  return (entry: ManagedFieldsEntry) =>
    entry.manager === query.fieldManager &&
    entry.operation === operation &&
    (entry.subresource || undefined) === subresource;
}

/** What the server says that the request has set. */
function fieldsOf(
  answer: KubeBody,
  request: RawRequest,
  operation: string,
  subresource?: string | undefined,
): Fields | undefined {
  return fieldsOfEntries(answer, isEntryOf(request, operation, subresource));
}

/** What a manifest sets, where no server has told. */
function fieldsOfBody({ apiVersion: _, kind: __, metadata = {}, ...rest }: KubeBody): Fields {
  const { labels, annotations, ownerReferences, finalizers, generateName } = metadata;
  const said = { labels, annotations, ...(generateName !== undefined && { generateName }) };
  const whole = {
    ...(ownerReferences && { "f:ownerReferences": WHOLE }),
    ...(finalizers && { "f:finalizers": WHOLE }),
  };
  const { "f:metadata": plain, ...fields } = fieldsOfPatch({ ...rest, metadata: said });
  const all = { ...plain, ...whole };
  return Object.keys(all).length > 0 ? { ...fields, "f:metadata": all } : fields;
}

function isEqualSpec(before: KubeBody, now: KubeBody): boolean {
  const content = ({ metadata: _, status: __, ...rest }: KubeBody) => rest;
  return deepEqual(content(before), content(now));
}
