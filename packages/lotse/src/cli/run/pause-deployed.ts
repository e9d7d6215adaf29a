/** A developer's process has deployed operators pause while it runs. Loaded only where that is asked for. */
import { type Client, ForbiddenError } from "@lotse/client";
import { errorMessage, systemClock } from "@lotse/client/meta";
import {
  findLeases,
  PAUSE_ANNOTATION,
  Pauser,
  parsePauses,
  personIdentity,
  placeOf,
} from "../../coordination/index.ts";
import { type Coordination, type OperatorOptions, planCoordination } from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { DEVELOPER_PRIORITY, type PrecedenceFlags, planned, priorityOf } from "./precedence-flags.ts";

/** So long after a developer's process has died the deployed operator goes on. */
const LIFETIME_MS = 30_000;

/** An operator, as far as its Lease is concerned. */
interface Named {
  readonly name: string;
  readonly options?: Pick<OperatorOptions, "coordination"> | undefined;
}

/** What {@link Precedence} is made of. */
export interface PrecedenceParts {
  readonly client: Client;
  readonly logger: Logger;
  readonly io: Pick<Io, "env">;
  readonly signal: AbortSignal;
  readonly flags: PrecedenceFlags;
  /** What the process is, for those who wonder why theirs pauses: `lotse dev`. */
  readonly command: string;
  /** That a deployed operator cannot be paused is a failure, and not only told. */
  readonly required: boolean;
}

/** Has deployed operators pause for as long as this process runs. Those that have a peering give way by that. */
export class Precedence {
  readonly #parts: PrecedenceParts;
  readonly #pausers = new Map<string, Pauser>();
  /** Operators of which people were told that several are deployed. */
  readonly #doubted = new Set<string>();

  constructor(parts: PrecedenceParts) {
    this.#parts = parts;
  }

  /** Resolves when the deployed processes of these operators have stopped; for each operator once. */
  async take(operators: readonly Named[]): Promise<void> {
    const { flags } = this.#parts;
    const peers = (own: Coordination | undefined) => planned(planCoordination(own), own, flags).type === "peering";
    const news = operators.filter(({ name, options }) => !this.#pausers.has(name) && !peers(options?.coordination));
    await Promise.all(news.map((operator) => this.#pause(operator)));
  }

  /** They may go on. Never rejects. */
  async end(): Promise<void> {
    await Promise.all([...this.#pausers.values()].map((pauser) => pauser.end()));
    this.#pausers.clear();
  }

  async #pause(operator: Named): Promise<void> {
    const { client, logger, io, signal, flags, command, required } = this.#parts;
    const by = `${personIdentity(io.env)}/${process.pid}`;
    const pauser = new Pauser({
      ...{ client, clock: systemClock, logger, by, lifetimeMs: LIFETIME_MS, message: command },
      priority: priorityOf(flags) ?? DEVELOPER_PRIORITY,
      find: () => this.#find(operator),
      onPaused: (lease) => {
        const { namespace, name } = placeOf(lease);
        const fields = { operator: operator.name, lease: `${namespace}/${name}` };
        logger.info("the deployed operator pauses while this process runs", fields);
        const { pauses } = parsePauses(lease.metadata?.annotations?.[PAUSE_ANNOTATION]);
        const others = pauses.filter((pause) => pause.by !== by && pause.priority >= DEVELOPER_PRIORITY);
        if (others.length === 0) return;
        logger.warn("another developer works on the same objects", {
          operator: operator.name,
          by: others.map((one) => one.by),
        });
      },
    });
    this.#pausers.set(operator.name, pauser);
    try {
      const leases = await pauser.begin(signal);
      if (leases.length > 0) return;
      logger.info("no deployed operator was found that could pause", {
        operator: operator.name,
        hint: "one that coordinates with nobody has no Lease, and would work beside this process: scale it down",
      });
    } catch (error) {
      if (signal.aborted) return;
      const hint =
        error instanceof ForbiddenError
          ? "ask for the right to get, list and patch leases.coordination.k8s.io, or scale the deployed operator down"
          : (error as { hint?: string }).hint;
      if (required) {
        const what = `the deployed operator ${operator.name} cannot be paused`;
        throw new Problem({ what, why: errorMessage(error), todo: hint }, { cause: error });
      }
      const fields = { operator: operator.name, error: errorMessage(error), hint };
      logger.warn("the deployed operator cannot be paused, and works beside this process", fields);
    }
  }

  /** Where the operator runs is not known here: its Lease is looked for everywhere, and taken if there is no doubt. */
  async #find({ name, options }: Named) {
    const { client, logger } = this.#parts;
    const plan = planCoordination(options?.coordination);
    const lease = plan.type === "leader" || plan.type === "shards" ? plan : undefined;
    const operator = lease?.name ?? name;
    if (lease?.namespace !== undefined) return findLeases(client, { operator, namespace: lease.namespace });
    const here = await findLeases(client, { operator, namespace: client.namespace });
    if (here.length > 0) return here;
    const all = await findLeases(client, { operator, namespace: undefined }).catch((error: unknown) => {
      // Who may look only here has seen what there is to see.
      if (error instanceof ForbiddenError) return [];
      throw error;
    });
    const namespaces = [...new Set(all.map((one) => placeOf(one).namespace))];
    if (namespaces.length < 2) return all;
    if (this.#doubted.has(name)) return [];
    this.#doubted.add(name);
    logger.warn("the operator is deployed in several namespaces, none of them pauses", {
      ...{ operator: name, namespaces },
      hint: "choose one as the namespace of the kubectl context",
    });
    return [];
  }
}
