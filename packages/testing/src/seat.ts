/** One operator of a harness, over all of its lives: how it is started, stopped and killed there. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Client, KubeError } from "@lotse/client";
import type { VirtualClock } from "@lotse/client/meta";
import type { Cluster } from "@lotse/cluster";
import { type LogSink, type Operator, parseRecording, requestRecorder, type StartOptions } from "lotse";
import type { Witness } from "./oracles/index.ts";
import type { Refusals } from "./refusals.ts";
import { type Deployed, deployOperator, type RbacOptions } from "./rights.ts";
import { servesWebhooks, WebhookCertificates } from "./webhook-certificates.ts";
import { type DueClock, type ExternalCall, Incarnation, type Interference, Life } from "./world/index.ts";

/** How long an operator may take to become ready after it was refused something. */
const REFUSED_AFTER_MS = 5_000;
/** So many turns of the event loop mean that a stop waits for the clock. */
const PATIENT_TURNS = 20;

/** What a {@link Seat} goes by. */
export interface SeatParts {
  readonly operator: Operator;
  readonly cluster: Cluster;
  /** Its requests carry this, so that they can be told from the test's. */
  readonly userAgent: string;
  readonly namespaces: readonly string[] | undefined;
  readonly start: Omit<StartOptions, "client" | "clock" | "namespaces">;
  /** The clock that the operator goes by, and the one that the test moves; both undefined in real time. */
  readonly clock: DueClock | undefined;
  readonly testClock: VirtualClock | undefined;
  readonly interference: Interference | undefined;
  /** Hears what it does; undefined where nobody asks. */
  readonly witness: Witness | undefined;
  readonly onExternal: (call: ExternalCall) => void;
  readonly log: LogSink;
  /** The number of its next life, counted over all operators. */
  readonly nextLife: () => number;
}

/** See the module comment. */
export class Seat {
  readonly operator: Operator;
  readonly #parts: SeatParts;
  /** Those that were killed: nothing of them may be left when the harness stops. */
  readonly #dead: Incarnation[] = [];
  /** Those that had the time to end what they did. */
  readonly #stopped = new WeakSet<Life>();
  #atWork: Incarnation | undefined;
  #deployed: Deployed | undefined;
  #certificates: WebhookCertificates | undefined;

  constructor(parts: SeatParts) {
    this.operator = parts.operator;
    this.#parts = parts;
  }

  /** The life that the operator lives now; undefined while it is stopped or dead. */
  get incarnation(): Incarnation | undefined {
    const atWork = this.#atWork;
    if (!atWork?.isDead) return atWork;
    this.#dead.push(atWork);
    this.#atWork = undefined;
    return undefined;
  }

  /** What it asked for and its role does not allow. */
  get refusals(): string[] {
    return this.#deployed?.refusals.texts ?? [];
  }

  /** Those of {@link refusals} for which a rule is missing in its role. */
  get lacking(): string[] {
    return this.#deployed?.refusals.lacking ?? [];
  }

  /** Gives it the account and the role that it is deployed with. */
  async deploy(rbac: RbacOptions, admin: Client): Promise<void> {
    const { operator, namespaces, log } = this.#parts;
    this.#deployed = await deployOperator({ operator, rbac, namespaces, admin, log, recording: recordingFile() });
  }

  async start(): Promise<void> {
    const { operator, cluster, namespaces, start, witness } = this.#parts;
    if (this.incarnation) throw new Error("the operator runs already: harness.restart() stops it first");
    const { account, refusals } = this.#deployed ?? {};
    const life = new Life(this.#parts.nextLife(), this.#parts.onExternal);
    const incarnation = await Incarnation.start({
      operator,
      cluster,
      life,
      userAgent: this.#parts.userAgent,
      kubeconfig: account === undefined ? undefined : cluster.kubeconfigFor({ serviceAccount: account }),
      clock: this.#parts.clock,
      testClock: this.#parts.testClock,
      interference: this.#parts.interference,
      knowsActors: witness !== undefined,
      view: (client) => {
        const heard = refusals ? client.with({ onRequest: refusals.listener }) : client;
        // One that was killed does not know it, and what it still tries gets nowhere.
        return witness?.listen(heard, () => this.#stopped.has(life)) ?? heard;
      },
      start: {
        // The harness has installed the CRDs: an operator that does nothing then writes nothing.
        crds: "wait",
        // Many tests run side by side, and each of their operators listens.
        ...start,
        webhooks: { port: 0, host: "127.0.0.1", ...this.#certificatesForever(), ...start.webhooks },
        log: this.#parts.log,
        ...(namespaces && { namespaces }),
        ...recordFor(refusals),
      },
    });
    this.#atWork = incarnation;
    await this.#readyInTime(incarnation);
  }

  /** Certificates that are good whatever time the test says it is. */
  #certificatesForever(): { readonly certificates?: { readonly dir: string } } {
    if (!this.#parts.testClock || !servesWebhooks(this.operator)) return {};
    this.#certificates ??= new WebhookCertificates();
    return { certificates: { dir: this.#certificates.dir } };
  }

  /** An operator that may not see its objects waits until it may; one that is killed meanwhile is never ready. */
  async #readyInTime({ running: { ready }, dead }: Incarnation): Promise<void> {
    if (!this.#deployed) return Promise.race([ready, dead]);
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const check = () => {
        if (this.refusals.length === 0) return;
        reject(new KubeError(`the operator cannot start: its role does not allow ${this.refusals.join(", ")}`));
      };
      const timer = setInterval(check, REFUSED_AFTER_MS);
      cancel = () => clearInterval(timer);
    });
    await Promise.race([ready, dead, late]).finally(cancel);
  }

  /** Stops it as a deployment does. What waits for a clock that a test moves, such as patience, gets its time. */
  async stop(): Promise<void> {
    const { incarnation } = this;
    this.#atWork = undefined;
    if (!incarnation) return;
    let over = false;
    const stopped = incarnation.stop().finally(() => {
      over = true;
      this.#stopped.add(incarnation.life);
    });
    // It may fail while time passes; it is told when that has.
    stopped.catch(() => {});
    const { clock, testClock } = this.#parts;
    if (clock && testClock) await this.#passTime(clock, testClock, () => over);
    await stopped;
  }

  async #passTime(clock: DueClock, testClock: VirtualClock, over: () => boolean): Promise<void> {
    for (let turn = 1; !over(); turn++) {
      await nextTurn();
      const { nextDue } = clock;
      if (turn % PATIENT_TURNS !== 0 || over() || nextDue === undefined) continue;
      await testClock.advance(Math.max(0, nextDue - testClock.monotonic()));
    }
  }

  async crash(): Promise<void> {
    await this.incarnation?.crash();
  }

  /** Resolves when nothing is left of those that were killed. */
  async bury(): Promise<void> {
    this.#certificates?.remove();
    await Promise.all(this.#dead.map((dead) => dead.crash()));
  }

  /** A dead operator is idle, too. */
  async idle(): Promise<void> {
    const { incarnation } = this;
    await Promise.race([incarnation?.running.idle(), incarnation?.dead]);
  }
}

/** As for `lotse dev`, `off` is no file. */
function recordingFile(): string | undefined {
  const file = process.env.LOTSE_RECORD;
  return file && file !== "off" ? file : undefined;
}

/** Which handler asks for what is heard by the test's own recording and by the list of refusals. */
function recordFor(refusals: Refusals | undefined): Pick<StartOptions, "record"> {
  const file = recordingFile();
  const heard = [file ? recordTo(file) : undefined, refusals?.asked].filter((one) => one !== undefined);
  if (heard.length === 0) return {};
  return {
    record: (request) => {
      for (const hear of heard) hear(request);
    },
  };
}

/** What handlers ask for is written down while tests run, for `lotse generate`: each thing once, however many tests. */
function recordTo(file: string): StartOptions["record"] & {} {
  const before = existsSync(file) ? parseRecording(readFileSync(file, "utf8")) : [];
  return requestRecorder((line) => appendFileSync(file, line), before);
}
