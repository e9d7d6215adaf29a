/**
 * The operator beside other processes of itself: does what its coordinator says, begins with that when its caches are
 * full, and lets go when everything has ended and is written.
 *
 * What must stay true: what this process holds is released only when nothing of it runs any more.
 */
import type { Client, KindDescription, KubeBody } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { Coordinated, Coordinator, CoordinatorParts } from "../coordination/index.ts";
import { Aborted, type CoordinationPlan } from "../declare/index.ts";
import type { CoordinationHealth, Elsewhere, Logger } from "../report/index.ts";
import type { Ownership } from "../runtime/index.ts";
import { errorFields } from "../turn/index.ts";
import type { Activities } from "./activities.ts";
import { within } from "./ending.ts";

/** A part of the operator that works on what is this process's. */
export interface Owner {
  /** Lets go of what is lost and takes up what is gained; resolves when nothing runs any more for what is lost. */
  ownershipChanged(why: string): Promise<void>;
  /** Other objects are worth their memory than before; `gained`: more of them. */
  keepingChanged?(gained: boolean): void;
}

/** What {@link Coordinating} is made of. */
export interface CoordinatingParts {
  readonly coordinator: Coordinator;
  /** As they are at the moment: kinds come and go. */
  readonly owners: () => readonly Owner[];
  readonly activities: Pick<Activities, "lead" | "follow">;
  /** Not fenced: what `on.follow` gets. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the operator stops. */
  readonly stopping: AbortSignal;
  /** How long a handler of `on.follow` is waited for. */
  readonly graceMs: number;
}

/** See the module comment. */
export class Coordinating implements Coordinated {
  readonly #parts: CoordinatingParts;
  #running: Promise<void> | undefined;
  #fail: (error: unknown) => void = () => {};
  /** Rejects when the coordination can never work. */
  readonly failed: Promise<never>;
  /** What is lost comes to its end. */
  #leaving: Promise<unknown> = Promise.resolve();
  /** The handlers of `on.lead` and `on.follow`, one after another. */
  #activity: Promise<void> = Promise.resolve();
  #present: AbortController | undefined;
  #following: Promise<void> = Promise.resolve();
  /** There may be something to give back. */
  #takesPart = false;
  #released: Promise<void> | undefined;

  constructor(parts: CoordinatingParts) {
    this.#parts = parts;
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  /** Whose objects are whose. */
  get ownership(): Ownership {
    return this.#parts.coordinator;
  }

  health(): CoordinationHealth {
    return this.#parts.coordinator.health();
  }

  /** Why this process does not work on an object that is not its own. */
  elsewhere(body: KubeBody, kind: KindDescription): Elsewhere {
    const { identity, state, reason, ...health } = this.health();
    const holder = this.#parts.coordinator.ownerOf?.(body, kind) ?? health.holder;
    return { identity, state, ...(holder !== undefined && { holder }), ...(reason !== undefined && { reason }) };
  }

  /** Before anything is listed: finds out what of it will be worth its memory. Never rejects. */
  async prepare(): Promise<void> {
    const { coordinator, stopping } = this.#parts;
    if (stopping.aborted || !coordinator.prepare) return;
    this.#takesPart = true;
    await coordinator.prepare(this, stopping);
  }

  /** The caches are full: takes part from now on. */
  begin(): void {
    const { coordinator, stopping } = this.#parts;
    if (stopping.aborted) return;
    const onStop = () => this.#present?.abort(new Aborted("shutdown", "the operator stops"));
    stopping.addEventListener("abort", onStop, { once: true });
    this.#takesPart = true;
    this.#running = coordinator.run(this, stopping).catch((error: unknown) => {
      if (!stopping.aborted) this.#fail(error);
    });
  }

  /** Everything has ended and is written: others may go on at once. May be called again. Never rejects. */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    if (!this.#takesPart) return;
    await Promise.all([this.#running, this.#activity]);
    await this.#parts.coordinator.release();
  }

  async ownershipChanged(why: string): Promise<void> {
    const { owners, logger, clock, graceMs } = this.#parts;
    const leaving = Promise.all(owners().map((one) => one.ownershipChanged(why))).catch((error: unknown) =>
      logger.error("what ran for other processes' objects did not end well", errorFields(error, true)),
    );
    this.#leaving = leaving;
    await leaving;
    // Standing by goes on when the handlers of `on.follow` have had their time.
    await within(clock, graceMs, this.#following);
  }

  keepingChanged(gained: boolean): void {
    for (const owner of this.#parts.owners()) owner.keepingChanged?.(gained);
  }

  leads(leading: boolean): void {
    const { activities, client, coordinator, stopping } = this.#parts;
    this.#present?.abort(new Aborted("ownership", leading ? "this process leads" : "another process may lead"));
    if (stopping.aborted) return;
    const present = new AbortController();
    this.#present = present;
    this.#activity = this.#activity.then(async () => {
      if (leading) return activities.lead(client.with({ guard: () => coordinator.pass() }), present.signal);
      await this.#leaving;
      await activities.follow(client, present.signal);
    });
    if (!leading) this.#following = this.#activity;
  }
}

/** Makes what an operator's plan asks for; undefined when it is alone, and then nothing of it is loaded. `make`: for tests. */
export async function coordinate(
  plan: CoordinationPlan,
  make: ((parts: CoordinatorParts) => Coordinator) | undefined,
  parts: CoordinatorParts,
  operator: Pick<CoordinatingParts, "owners" | "activities" | "stopping" | "graceMs">,
): Promise<Coordinating | undefined> {
  if (plan.type === "alone" && !make) return undefined;
  const { createCoordinator } = await import("../coordination/index.ts");
  const coordinator = make?.(parts) ?? (await createCoordinator(plan, parts));
  const { client, clock, logger } = parts;
  return coordinator && new Coordinating({ coordinator, client, clock, logger, ...operator });
}
