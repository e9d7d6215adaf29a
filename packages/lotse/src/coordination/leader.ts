/** One process works, all others stand by: a Lease says which. The decisions are in lease/machine.ts. */
import { dns1123SubdomainErrors, errorMessage, formatDuration } from "@lotse/client/meta";
import { type CoordinationPlan, DeclarationError, FencedError } from "../declare/index.ts";
import type { Coordinated, CoordinationHealth, Coordinator, CoordinatorParts } from "./coordinator.ts";
import { leaseNamespace, newRun, processIdentity } from "./identity.ts";
import { isOwner, type LeaseClaim, LeaseKeeper, lossText, Tenure } from "./lease/index.ts";
import { describePause, PauseWatch } from "./pause/index.ts";

/** The plan of an operator of which one process works. */
export type LeaderPlan = Extract<CoordinationPlan, { readonly type: "leader" }>;

/** See the module comment. */
export class LeaderCoordinator implements Coordinator {
  readonly alone = false;
  readonly #claim: LeaseClaim;
  readonly #parts: CoordinatorParts;
  readonly #keeper: LeaseKeeper;
  readonly #tenure: Tenure;
  #coordinated: Coordinated | undefined;
  /** What the operator was told last. */
  #works = false;
  /** Work for what was lost may still run: until that is over nothing begins. */
  #settling = false;
  #released = false;
  /** Calls of the operator follow each other. */
  #told: Promise<void> = Promise.resolve();
  readonly #pauses: PauseWatch;

  /** Throws a `DeclarationError` when there can be no such Lease. */
  constructor(plan: LeaderPlan, parts: CoordinatorParts, run: string = newRun()) {
    this.#claim = claimOf(plan, parts, run);
    this.#parts = parts;
    const { client, clock, random, logger, metrics } = parts;
    this.#pauses = new PauseWatch({
      clock,
      logger,
      priority: plan.priority,
      ended: () => {
        this.#look();
        this.#evaluate();
      },
    });
    this.#keeper = new LeaseKeeper(this.#claim, {
      client,
      clock,
      random,
      logger,
      metrics,
      changed: (event) => {
        this.#look();
        this.#evaluate(event?.tell === "follow" ? `the Lease is lost: ${lossText(event.why)}` : undefined);
        // Where nothing worked, nothing has to end first.
        if (event?.tell === "follow" && !this.#settling) this.#keeper.settled();
      },
    });
    this.#tenure = new Tenure(this.#keeper);
  }

  owns(): boolean {
    return this.#works && this.#keeper.isOpen();
  }

  ownsTask(): boolean {
    return this.owns();
  }

  pass(): void {
    if (this.owns()) return;
    const { name, namespace } = this.#claim;
    throw new FencedError(`nothing was sent: ${this.#why()}`, {
      hint: `the Lease ${namespace}/${name} says who works; the work is done by whoever holds it`,
    });
  }

  async run(coordinated: Coordinated, stopping: AbortSignal): Promise<void> {
    this.#coordinated = coordinated;
    await this.#tenure.last(stopping);
  }

  async release(): Promise<void> {
    this.#released = true;
    this.#works = false;
    this.#pauses.stop();
    await this.#tenure.end(this.#parts.logger);
  }

  health(): CoordinationHealth {
    const { identity } = this.#claim;
    const { record } = this.#keeper.state.observed ?? {};
    const pause = this.#pauses.current;
    const works = this.owns();
    const isHeldByOther = record?.holder !== undefined && !isOwner(this.#keeper.state, this.#claim);
    const reason = pause ? describePause(pause) : this.#keeper.problem;
    const { renewedMs } = this.#keeper;
    return {
      type: "leader",
      identity,
      state: pause ? "paused" : works ? "working" : isHeldByOther ? "standby" : "waiting",
      ...(record?.holder !== undefined && { holder: record.holder }),
      ...(reason !== undefined && { reason }),
      ...(renewedMs !== undefined && { renewedMs }),
    };
  }

  /** Tells the operator when what it may do has changed. Closing takes effect at once, opening when all before has ended. */
  #evaluate(lost = "the Lease is lost"): void {
    const pause = this.#pauses.current;
    const works = this.#keeper.state.renewed !== undefined && !pause && !this.#settling;
    if (works === this.#works || !this.#coordinated || this.#released) return;
    this.#works = works;
    if (!works) this.#settling = true;
    const coordinated = this.#coordinated;
    const why = works ? "this process leads" : pause ? describePause(pause) : lost;
    this.#told = this.#told.then(() => this.#tell(coordinated, works, why));
  }

  /** Never rejects. */
  async #tell(coordinated: Coordinated, works: boolean, why: string): Promise<void> {
    try {
      coordinated.leads(works);
      await coordinated.ownershipChanged(why);
    } catch (error) {
      this.#parts.logger.error("the operator could not be told who leads", { error: errorMessage(error) });
    }
    if (works) return;
    this.#settling = false;
    this.#keeper.settled();
    this.#evaluate();
  }

  /** What the Lease says of a pause. */
  #look(): void {
    this.#pauses.look([this.#keeper.state.observed?.record?.body.metadata?.annotations]);
  }

  /** Why nothing may be sent. */
  #why(): string {
    const pause = this.#pauses.current;
    if (pause) return `the operator is ${describePause(pause)}`;
    if (this.#released) return "this process has given its Lease back";
    const { state, lastRenewedMs } = this.#keeper;
    const holder = state.observed?.record?.holder;
    if (holder !== undefined && !isOwner(state, this.#claim)) return `another process leads, ${holder}`;
    if (lastRenewedMs === undefined) return "this process has not taken its Lease yet";
    return `this process renewed its Lease ${formatDuration(Math.round(lastRenewedMs))} ago, and has to take it again`;
  }
}

function claimOf(plan: LeaderPlan, parts: CoordinatorParts, run: string): LeaseClaim {
  const { operator, environment, client } = parts;
  const { durationMs, renewMs, retryMs, name = operator } = plan;
  const [wrong] = dns1123SubdomainErrors(name);
  if (wrong !== undefined) {
    throw new DeclarationError(`${JSON.stringify(name)} is no name for a Lease: ${wrong}`, {
      hint: 'use lower case letters, digits and dashes: leader({ name: "exchange-rates" })',
    });
  }
  return {
    name,
    namespace: leaseNamespace(plan.namespace, environment, client),
    identity: plan.identity || processIdentity({ environment, run }),
    writer: run,
    durationMs,
    renewMs,
    retryMs,
  };
}
