/** The kinds that handlers of requests and policies are for, as they come and go. */
import { type KindDescription, MutatingAdmissionPolicy, mayBeHidden } from "@lotse/client";
import { kindKey } from "@lotse/client/meta";
import { type JudgedKind, judgedKinds, RegistrationError } from "../admission/index.ts";
import {
  type Declarations,
  type KindPlan,
  needsDiscovery,
  type ResourceDeclaration,
  type ResourceInput,
} from "../declare/index.ts";
import { KindScanner, retryForever } from "../informers/index.ts";
import type { Reporting } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { errorFields } from "../turn/index.ts";

/** See the module comment. */
export class JudgedKinds {
  readonly #runtime: Runtime;
  readonly #reporting: Reporting;
  readonly #declarations: Declarations;
  readonly #onChange: () => void;
  readonly #found = new Map<string, KindDescription>();
  #current: readonly JudgedKind[] = [];
  #following: Promise<void> = Promise.resolve();

  constructor(runtime: Runtime, reporting: Reporting, declarations: Declarations, onChange: () => void) {
    this.#runtime = runtime;
    this.#reporting = reporting;
    this.#declarations = declarations;
    this.#onChange = onChange;
  }

  /** Those that are judged by handlers. */
  get current(): readonly JudgedKind[] {
    return this.#current;
  }

  /** Those of the cluster that a name or a predicate means. */
  get discovered(): readonly KindDescription[] {
    return [...this.#found.values()];
  }

  /** Finds out which there are, and follows them. Rejects when declarations contradict each other. */
  async begin(): Promise<void> {
    const { client, clock, random, stopping: signal, plan, settings } = this.#runtime;
    const { logger } = this.#reporting;
    const declared: ResourceInput[] = [...this.#declarations.admission, ...this.#declarations.policies].map(
      ({ resource }) => resource,
    );
    const declarations: ResourceDeclaration[] = [...new Set(declared)].map((resource) => ({ resource, handlers: [] }));
    // Classes say what they are: nothing has to be looked up, and they are judged before the cluster has their kind.
    if (!needsDiscovery(declarations)) return this.#look();
    const scanner = new KindScanner({
      client,
      declarations,
      clock,
      random,
      logger,
      signal,
      namespace: () => undefined,
      intervalMs: plan.scanIntervalMs,
    });
    const retrying = { clock, random, logger, signal };
    const plans = await retryForever(
      "the kinds of the cluster could not be found out",
      () => scanner.first(),
      retrying,
    );
    for (const { kind } of plans) this.#found.set(kindKey(kind), kind);
    this.#look();
    if (settings.scanning.disabled) return;
    this.#following = scanner
      .follow({
        found: ({ kind }: KindPlan) => this.#changed(() => this.#found.set(kindKey(kind), kind)),
        there: () => {},
        vanished: (kind) => this.#changed(() => this.#found.delete(kindKey(kind))),
      })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        logger.error("the kinds that are judged are not followed any more", errorFields(error, true));
      });
  }

  /** Classes whose kinds the cluster does not have are registered all the same, and judge nothing until it does. */
  async tellMissing(): Promise<void> {
    const { client } = this.#runtime;
    const { logger } = this.#reporting;
    const classes = this.#current.filter(({ kindClass }) => kindClass !== undefined);
    if (classes.length === 0) return;
    // What cannot be looked up is not known to be missing.
    const discovered = await client.discover({ refresh: true }).catch(() => undefined);
    for (const { kind, handlers } of discovered ? classes : []) {
      if (discovered?.kinds.some((one) => kindKey(one) === kindKey(kind)) !== false) continue;
      if (discovered && mayBeHidden(discovered, kind.group)) continue;
      logger.warn("requests are judged for a kind that the cluster does not have, none will come before it does", {
        kind: kindKey(kind),
        handlers: handlers.map(({ id }) => id).join(", "),
        hint: 'install its CRD, or start the operator with crds: "install"',
      });
    }
  }

  /** The version in which the cluster serves policies that change objects; undefined where none is declared. */
  async mutatingVersion(): Promise<string | undefined> {
    const changing = this.#declarations.policies.find(({ mutate }) => mutate.length > 0);
    if (!changing) return undefined;
    const { client, clock, random, stopping: signal } = this.#runtime;
    const retrying = { clock, random, logger: this.#reporting.logger, signal };
    const discover = () => client.discover({ refresh: true });
    const { kinds } = await retryForever("the kinds of the cluster could not be found out", discover, retrying);
    const { group, plural } = MutatingAdmissionPolicy.description;
    const served = kinds.find((kind) => kind.group === group && kind.plural === plural);
    if (served) return served.version;
    const where = changing.sourceLocation === undefined ? "" : ` (${changing.sourceLocation})`;
    throw new RegistrationError(
      `the policy "${changing.id}"${where} changes objects, and this cluster has no MutatingAdmissionPolicy`,
      { hint: "Kubernetes has it from 1.36 on, and as beta from 1.34 on; use on.mutate instead" },
    );
  }

  async end(): Promise<void> {
    await this.#following;
  }

  #changed(change: () => void): void {
    change();
    this.#look();
    this.#onChange();
  }

  #look(): void {
    this.#current = judgedKinds(this.#declarations.admission, this.discovered);
  }
}
