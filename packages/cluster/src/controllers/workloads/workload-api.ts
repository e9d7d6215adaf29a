import { deepClone, deepEqual, type LabelSelector, lookup } from "@lotse/client/meta";
import {
  type ApiMeta,
  type ApiObject,
  create,
  fromStore,
  type Propagation,
  remove,
  StatusError,
  storeKey,
  type Target,
  update,
} from "../../registry/index.ts";
import type { ControllerContext } from "../controller.ts";
import type { ChildIndexes, ClaimIndexes } from "./children.ts";
import { claim, type matcher } from "./claim.ts";
import type { EventNote, EventRecorder } from "./events.ts";
import { type Claim, controllerReference, type Pod, type Table } from "./tables.ts";

type Fields = Record<string, unknown>;

/**
 * Everything through which a workload controller touches the cluster. Reads see every write that was awaited, because
 * they go to the store itself; so no controller has to remember what it expects to see.
 */
export class WorkloadApi {
  readonly #context: ControllerContext;
  readonly #children: ChildIndexes;
  readonly #events: EventRecorder;
  readonly #component: string;

  constructor(context: ControllerContext, children: ChildIndexes, events: EventRecorder, component: string) {
    this.#context = context;
    this.#children = children;
    this.#events = events;
    this.#component = component;
  }

  get now(): number {
    return this.#context.backend.clock.now();
  }

  read<T extends ApiObject>(table: Table<T>, key: string): T | undefined {
    const entry = this.#context.backend.store.get(table.name, key);
    return entry && (fromStore(entry.object) as T);
  }

  /** All objects of a kind, in one namespace if given. */
  list<T extends ApiObject>(table: Table<T>, namespace?: string): T[] {
    const prefix = namespace === undefined ? "" : `${namespace}/`;
    return this.#context.backend.store.list(table.name, prefix).map((entry) => fromStore(entry.object) as T);
  }

  /** How many objects of a kind there are. */
  total<T extends ApiObject>(table: Table<T>): number {
    return this.#context.backend.store.count(table.name);
  }

  /** Between two parts of a turn that look at many objects each: lets others in when it is their turn. */
  async pause(): Promise<void> {
    const rest = this.#context.backend.pace.rest();
    if (rest) await rest;
  }

  ofOwner<T extends ApiObject>(table: Table<T>, uid: string): T[] {
    return this.#children.of(table).ofOwner(uid) as T[];
  }

  /** How many objects of a kind the owner with this uid manages. */
  countOf<T extends ApiObject>(table: Table<T>, uid: string | undefined): number {
    return uid === undefined ? 0 : this.#children.of(table).count(uid);
  }

  /** The objects of a namespace that a selector matches. */
  select<T extends ApiObject>(table: Table<T>, namespace: string | undefined, selector: LabelSelector): T[] {
    return this.#children.labels(table).select(namespace, selector) as T[];
  }

  /** How many objects {@link select} looks at. */
  weigh<T extends ApiObject>(table: Table<T>, namespace: string | undefined, selector: LabelSelector): number {
    return this.#children.labels(table).weigh(namespace, selector);
  }

  /** The pods that mount a claim. */
  mounting(claim: Claim): Pod[] {
    return this.#children.mounts.at(keyOf(claim)) as Pod[];
  }

  /** Claims and volumes, by whom they have. */
  get claims(): ClaimIndexes {
    return this.#children.claims;
  }

  /** The children that `owner` manages, after adopting those that fit and releasing those that no longer do. */
  async claim<O extends ApiObject, T extends ApiObject>(
    owners: Table<O>,
    owner: O,
    table: Table<T>,
    matches: ReturnType<typeof matcher>,
    worthAdopting: (candidate: T) => boolean = () => true,
  ): Promise<T[]> {
    const candidates = (this.#children.of(table).candidates(owner) as T[]).filter(
      (candidate) => candidate.metadata.ownerReferences?.some((one) => one.controller) || worthAdopting(candidate),
    );
    const { mine, adopt, release } = claim(owner, candidates, matches);
    for (const orphan of adopt) {
      const reference = controllerReference(owners, owner);
      await this.changeMeta(table, orphan, (meta) => ({
        ...meta,
        ownerReferences: [...(meta.ownerReferences ?? []), reference],
      }));
    }
    for (const stray of release) {
      await this.changeMeta(table, stray, (meta) => {
        const { ownerReferences = [], ...rest } = meta;
        const kept = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
        return kept.length > 0 ? { ...rest, ownerReferences: kept } : rest;
      });
    }
    return adopt.length === 0 ? [...mine] : mine.flatMap((one) => this.read(table, keyOf(one)) ?? []);
  }

  async create<T extends ApiObject>(table: Table<T>, object: T): Promise<T> {
    const { backend, requester } = this.#context;
    const target = this.#target(table, object.metadata.namespace, undefined, undefined);
    const rest = backend.pace.rest();
    if (rest) await rest;
    return (await create(backend, requester, target, deepClone(object), this.#options)) as T;
  }

  /** Changes an object, if it is still there and still the same one. Returns what it is now. */
  async change<T extends ApiObject>(
    table: Table<T>,
    object: T,
    next: (current: T) => T,
    subresource?: string,
  ): Promise<T | undefined> {
    const { backend, requester } = this.#context;
    const { namespace, name, uid } = object.metadata;
    const target = this.#target(table, namespace, name, subresource);
    const rest = backend.pace.rest();
    if (rest) await rest;
    try {
      const { object: written } = await update(backend, requester, target, this.#options, {
        by: "patch",
        tracked: false,
        next: (current) => deepClone(current.metadata.uid === uid ? next(current as T) : current),
      });
      return written as T;
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async changeMeta<T extends ApiObject>(table: Table<T>, object: T, next: (meta: ApiMeta) => ApiMeta): Promise<void> {
    await this.change(table, object, (current) => ({ ...current, metadata: next(current.metadata) }));
  }

  /** Writes a status, and annotations with it, if they are other than those that are there. */
  async report<T extends ApiObject>(
    table: Table<T>,
    object: T,
    status: Fields,
    annotations?: Record<string, string>,
  ): Promise<T | undefined> {
    const current = this.read(table, keyOf(object));
    const known = current?.metadata.annotations ?? {};
    const same = Object.entries(annotations ?? {}).every(([key, value]) => lookup(known, key) === value);
    if (current && same && deepEqual(current.status, status)) return current;
    const next = (one: T): T => {
      if (annotations === undefined) return { ...one, status };
      return {
        ...one,
        status,
        metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...annotations } },
      };
    };
    return this.change(table, object, next, "status");
  }

  /** Whether the object was there to be deleted. */
  async remove<T extends ApiObject>(table: Table<T>, object: T, propagationPolicy?: Propagation): Promise<boolean> {
    const { backend, requester } = this.#context;
    const { namespace, name, uid } = object.metadata;
    const target = this.#target(table, namespace, name, undefined);
    const rest = backend.pace.rest();
    if (rest) await rest;
    try {
      await remove(backend, requester, target, { propagationPolicy, preconditions: { uid }, dryRun: false });
      return true;
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 409)) return false;
      throw error;
    }
  }

  async event(object: ApiObject, type: EventNote["type"], reason: string, message: string): Promise<void> {
    await this.#events.record({ component: this.#component }, object, { type, reason, message });
  }

  get #options() {
    return { dryRun: false, fieldManager: this.#context.requester.defaultManager, fieldValidation: "Ignore" } as const;
  }

  #target<T extends ApiObject>(
    table: Table<T>,
    namespace: string | undefined,
    name: string | undefined,
    subresource: string | undefined,
  ): Target {
    const endpoint = this.#context.backend.catalog.storage(table.group, table.plural);
    if (!endpoint) throw new StatusError({ code: 404, message: "the server could not find the requested resource" });
    return { endpoint, namespace, name, subresource };
  }
}

/** The key of an object in its table of the store, and in the queues of the controllers. */
export const keyOf = (object: ApiObject): string => storeKey(object.metadata.namespace, object.metadata.name);

/** Whether an error is an answer of the API with this code. */
export const isStatus = (error: unknown, code: number): error is StatusError =>
  error instanceof StatusError && error.code === code;

/** Nothing can be created any more because the whole namespace goes; the controller that tried need not try again. */
export const isNamespaceGoing = (error: unknown): boolean =>
  isStatus(error, 403) && error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true;
