/**
 * The kinds of an operator: each is looked up, listed and followed once, whoever asks for it. A kind that is not there, or
 * not allowed, is waited for; whoever wants to read it meanwhile hears why it cannot be read.
 */
import type { Client, KindClass, KindDescription } from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import { isResourceClass, type ResourceDeclaration, TemporaryError } from "../declare/index.ts";
import { awaitKindFacts, type KindFacts } from "../informers/index.ts";
import type { KindView, World } from "../reconcile/index.ts";
import type { Logger } from "../report/index.ts";
import { Controller, type ControllerShared } from "./controller.ts";
import { type KindPlan, kindKey, means } from "./plan.ts";

/** A kind on its way. */
export interface StartedKind {
  readonly plan: KindPlan;
  /** Resolves when all its objects are known. */
  readonly ready: Promise<Controller>;
  /** The same, for kinds that feed an index. */
  readonly indexed: Promise<Controller> | undefined;
  /** Resolves when its streams have ended. */
  readonly streams: Promise<void>;
  /** Rejects with what keeps it from being known, the first time that something does. */
  readonly trouble: Promise<never>;
}

/** What {@link Kinds} is made of. */
export interface KindsParts {
  readonly declarations: readonly ResourceDeclaration[];
  readonly world: World;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/** See the module comment. */
export class Kinds {
  readonly controllers: Controller[] = [];
  /** Those that the cluster does not have. */
  readonly missing = new Set<string>();
  readonly #parts: KindsParts;
  readonly #started = new Map<string, StartedKind>();
  #begin: ((plan: KindPlan) => StartedKind) | undefined;

  constructor(parts: KindsParts) {
    this.#parts = parts;
  }

  /** From now on kinds can be read that nobody has declared; `begin` starts one. */
  onRead(begin: (plan: KindPlan) => StartedKind): void {
    this.#begin = begin;
  }

  /** The controller of a kind, whatever its version. */
  find(kind: KindDescription): Controller | undefined {
    return this.controllers.find((one) => kindKey(one.kind) === kindKey(kind));
  }

  /** Begins to follow a kind. */
  start(plan: KindPlan, shared: ControllerShared): StartedKind {
    const { stopping, world } = this.#parts;
    let known: (controller: Controller) => void = () => {};
    let fail: (error: unknown) => void = () => {};
    const ready = new Promise<Controller>((resolve) => {
      known = resolve;
    });
    const trouble = new Promise<never>((_, reject) => {
      fail = reject;
    });
    trouble.catch(() => {});
    const streams = (async () => {
      try {
        const controller = new Controller(shared, plan.handlers, await this.facts(plan, shared.client, fail));
        this.controllers.push(controller);
        controller.trouble.catch(fail);
        void controller.synced.then(() => {
          world.add(controller.view);
          known(controller);
        });
        await controller.streams();
      } catch (error) {
        if (!stopping.aborted) throw error;
      }
    })();
    const indexing = plan.handlers.some(({ type }) => type === "index");
    const started = { plan, ready, streams, trouble, indexed: indexing ? ready : undefined };
    this.#started.set(kindKey(plan.kind), started);
    return started;
  }

  /** Looks a kind up, for as long as it takes; `onMissing` hears why it takes longer. */
  async facts(
    { kind, kindClass }: KindPlan,
    client: Client,
    onMissing: (error: unknown) => void = () => {},
  ): Promise<KindFacts> {
    const { clock, logger, stopping } = this.#parts;
    const facts = await awaitKindFacts(client, kind, kindClass, clock, stopping, (error) => {
      this.missing.add(kindKey(kind));
      onMissing(error);
      logger.warn("waiting for a kind that the cluster does not have", {
        kind: kindKey(kind),
        error: errorMessage(error),
        hint: isResourceClass(kindClass)
          ? 'install its CRD, or start the operator with crds: "install"'
          : "install it, or check its name and your permissions",
      });
    });
    this.missing.delete(kindKey(kind));
    return facts;
  }

  /**
   * A reconciler reads a kind: resolves when all its objects are known, and rejects with the reason when that has to wait
   * for somebody. Whoever reads is tried again; nobody waits here and keeps others from their turn.
   */
  async read(kind: KindDescription, kindClass: KindClass | undefined): Promise<KindView> {
    const { ready, trouble } = this.#started.get(kindKey(kind)) ?? this.#follow(kind, kindClass);
    // In this order: what is known by now counts, whatever the trouble was before.
    const controller = await Promise.race([ready, trouble]);
    return controller.view;
  }

  #follow(kind: KindDescription, kindClass: KindClass | undefined): StartedKind {
    const { declarations, logger } = this.#parts;
    const declared = declarations.some(({ resource, handlers }) => handlers.length > 0 && means(resource, kind));
    if (!this.#begin || declared) {
      throw new TemporaryError(`${kind.kind} is not known yet: the operator has still to find it in the cluster`);
    }
    logger.info("a kind is followed because a reconciler reads it", { kind: kindKey(kind) });
    return this.#begin({ kind, kindClass, handlers: [] });
  }
}
