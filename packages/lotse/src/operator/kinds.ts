/**
 * The kinds of an operator: each is looked up, listed and followed once, for handlers and readers alike. A kind that is
 * not there, or not allowed, is waited for; a reconciler that wants to read it meanwhile hears why it cannot be read. A
 * kind that vanishes is given up with all that was made for it, and is another one when it comes back.
 */
import { type Client, type KindClass, type KindDescription, NotFoundError, UnknownKindError } from "@lotse/client";
import { type Clock, errorMessage, type KindKey, kindKey } from "@lotse/client/meta";
import {
  isResourceClass,
  type Kept,
  type KindPlan,
  type ResourceDeclaration,
  selects,
  TemporaryError,
  type WokenObject,
} from "../declare/index.ts";
import { awaitKind, firstOfSignals, type KindCapabilities } from "../informers/index.ts";
import type { KindView, TrackedKinds } from "../reconcile/index.ts";
import type { Logger } from "../report/index.ts";
import { Controller, type ControllerParts } from "./controller.ts";

/** A kind on its way. */
export interface StartedKind {
  readonly plan: KindPlan;
  /** Resolves when all its objects are known, or without a controller when it was given up before. */
  readonly ready: Promise<Controller | undefined>;
  /** The same, for kinds that feed an index. */
  readonly indexed: Promise<Controller | undefined> | undefined;
  /** Resolves when its streams have ended. */
  readonly streams: Promise<void>;
  /** Rejects with what keeps it from being known, the first time that something does. */
  readonly trouble: Promise<never>;
}

/** And how it is given up. */
interface Entry extends StartedKind {
  readonly giveUp: () => void;
  controller: Controller | undefined;
}

/** What {@link Kinds} is made of. */
export interface KindsParts {
  readonly declarations: readonly ResourceDeclaration[];
  readonly tracked: TrackedKinds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/** See the module comment. */
export class Kinds {
  readonly #parts: KindsParts;
  readonly #started = new Map<KindKey, Entry>();
  /** Those that the cluster does not have. */
  readonly #missing = new Set<KindKey>();
  /** Looks a kind up at once that is waited for. */
  readonly #lookups = new Map<KindKey, Set<() => void>>();
  /** Kinds that are being given up. */
  readonly #ending = new Map<KindKey, Promise<void>>();
  #begin: ((plan: KindPlan) => StartedKind) | undefined;

  constructor(parts: KindsParts) {
    this.#parts = parts;
  }

  /** Of the kinds that are followed. */
  get controllers(): readonly Controller[] {
    return [...this.#started.values()].flatMap(({ controller }) => controller ?? []);
  }

  /** Kinds that the cluster does not have, as `plural.group`. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** From now on kinds can be read that the operator does not declare; `begin` starts one. */
  onRead(begin: (plan: KindPlan) => StartedKind): void {
    this.#begin = begin;
  }

  /** The controller of a kind, whatever its version. */
  find(kind: Pick<KindDescription, "plural" | "group">): Controller | undefined {
    return this.#started.get(kindKey(kind))?.controller;
  }

  /** Wakes an object for what has happened outside of the cluster; false when it is not known. */
  wake({ kind, namespace, name }: WokenObject, why: string): boolean {
    // All of them: a name may mean several kinds, of which one has the object.
    return this.controllers
      .filter((controller) => selects(kind, controller.kind))
      .map((controller) => controller.wake({ namespace, name }, why))
      .some((known) => known);
  }

  /** Begins to follow a kind. */
  start(plan: KindPlan, parts: ControllerParts): StartedKind {
    const key = kindKey(plan.kind);
    const over = new AbortController();
    let known: (controller: Controller | undefined) => void = () => {};
    let fail: (error: unknown) => void = () => {};
    const ready = new Promise<Controller | undefined>((resolve) => {
      known = resolve;
    });
    const trouble = new Promise<never>((_, reject) => {
      fail = reject;
    });
    trouble.catch(() => {});
    // Set below, before anything of it is called.
    let entry: Entry | undefined;
    const follow = async () => {
      await this.#ending.get(key);
      const capabilities = await this.resolve(plan, parts.runtime.client, over.signal, fail);
      // Given up in the same moment.
      if (over.signal.aborted) return;
      const controller = new Controller(parts, plan.handlers, capabilities);
      if (entry) entry.controller = controller;
      controller.trouble.catch(fail);
      const told = controller.synced.then(() => {
        if (over.signal.aborted) return;
        // Of which only a part is known, that is not for reconcilers to read.
        if (!controller.isPartial) this.#parts.tracked.add(controller.view);
        known(controller);
      });
      const ended = controller.streams();
      await Promise.all([ended, Promise.race([told, ended])]);
    };
    const streams = follow().catch((error: unknown) => {
      if (!this.#parts.stopping.aborted && !over.signal.aborted) throw error;
    });
    const giveUp = () => {
      over.abort();
      known(undefined);
      fail(new TemporaryError(`${plan.kind.kind} is not there: the cluster serves no such kind any more`));
    };
    const indexing = plan.handlers.some(({ type }) => type === "index");
    entry = { plan, ready, streams, trouble, indexed: indexing ? ready : undefined, giveUp, controller: undefined };
    this.#started.set(key, entry);
    return entry;
  }

  /** The kind is gone: nothing of it is followed, timed or remembered any more. Resolves when what runs has ended. */
  giveUp(kind: KindDescription): Promise<void> {
    const key = kindKey(kind);
    const entry = this.#started.get(key);
    if (!entry) return Promise.resolve();
    this.#started.delete(key);
    this.#missing.delete(key);
    entry.giveUp();
    const end = (async () => {
      const { controller } = entry;
      if (!controller) return;
      // First its objects are gone, for all who have read them, and then the kind.
      const vanished = controller.vanish();
      this.#parts.tracked.remove(controller.view);
      await vanished;
    })().finally(() => {
      if (this.#ending.get(key) === end) this.#ending.delete(key);
    });
    this.#ending.set(key, end);
    return end;
  }

  /** The kind is served: lookups and streams that wait for it try at once. */
  there(key: KindKey): void {
    for (const wake of [...(this.#lookups.get(key) ?? [])]) wake();
    this.#started.get(key)?.controller?.served();
  }

  /** Looks a kind up, for as long as it takes; `onMissing` hears why it takes longer. */
  async resolve(
    { kind, kindClass }: KindPlan,
    client: Client,
    over: AbortSignal,
    onMissing: (error: unknown) => void = () => {},
  ): Promise<KindCapabilities> {
    const { clock, logger, stopping } = this.#parts;
    const key = kindKey(kind);
    const { signal, letGo } = firstOfSignals([stopping, over]);
    try {
      return await awaitKind(client, kind, kindClass, {
        clock,
        signal,
        onMissing: (error) => {
          this.#missing.add(key);
          onMissing(error);
          logger.warn(...waitingFor(key, kindClass, error));
        },
        onWait: (wake) => this.#onLookup(key, wake),
      });
    } finally {
      letGo();
      this.#missing.delete(key);
    }
  }

  /**
   * A reconciler reads a kind: resolves when all its objects are known, and rejects with the reason when that has to wait
   * for something. The reconciler is tried again; it does not wait here and keep other objects from their turn.
   */
  async read(kind: KindDescription, kindClass: KindClass | undefined, wanted: Kept): Promise<KindView> {
    const { ready, trouble } = this.#started.get(kindKey(kind)) ?? this.#follow(kind, kindClass);
    // In this order: what is known by now counts, whatever the trouble was before.
    const controller = (await Promise.race([ready, trouble])) ?? (await trouble);
    if (!this.#parts.tracked.known(kind)) {
      await controller.whole();
      // Another reader may have been first.
      if (!this.#parts.tracked.known(kind)) this.#parts.tracked.add(controller.view);
    }
    if (!controller.view.covers(wanted)) await controller.widen(wanted);
    return controller.view;
  }

  #onLookup(key: KindKey, wake: () => void): () => void {
    const lookups = this.#lookups.get(key) ?? new Set();
    this.#lookups.set(key, lookups.add(wake));
    return () => {
      lookups.delete(wake);
      if (lookups.size === 0) this.#lookups.delete(key);
    };
  }

  #follow(kind: KindDescription, kindClass: KindClass | undefined): StartedKind {
    const { declarations, logger } = this.#parts;
    const declared = declarations.some(({ resource, handlers }) => handlers.length > 0 && selects(resource, kind));
    if (!this.#begin || declared) {
      throw new TemporaryError(`${kind.kind} is not known yet: the operator has still to find it in the cluster`);
    }
    logger.info("a kind is followed because a reconciler reads it", { kind: kindKey(kind) });
    return this.#begin({ kind, kindClass, handlers: [] });
  }
}

/** What is said of a kind that cannot be looked up: that it is not there, or that the API server does not tell. */
function waitingFor(kind: string, kindClass: KindClass | undefined, error: unknown): [string, Record<string, unknown>] {
  const text = errorMessage(error);
  if (!(error instanceof NotFoundError) && !(error instanceof UnknownKindError)) {
    const { hint } = (error ?? {}) as { hint?: string };
    return ["a kind cannot be looked up, the operator waits for it", { kind, error: text, hint }];
  }
  const hint = isResourceClass(kindClass)
    ? 'install its CRD, or start the operator with crds: "install"'
    : "install it, or check its name and your permissions";
  return ["waiting for a kind that the cluster does not have", { kind, error: text, hint }];
}
