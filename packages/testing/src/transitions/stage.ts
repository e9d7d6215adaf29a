/** Where walks are made: a cluster with the operator, and one object that is created, changed and deleted. */

import { ApiError, type KindDescription, type KubeBody, NotFoundError } from "@lotse/client";
import { type Duration, durationMs, errorMessage, type VirtualClock } from "@lotse/client/meta";
import type { LogRecord, Operator } from "lotse";
import type { Bench } from "../bench.ts";
import { openHarness } from "../harness.ts";
import type { HarnessOptions } from "../harness-contract.ts";
import { isNote, isOfCluster, objectsIn, type StoredBody } from "../objects/index.ts";
import type { Spec } from "./specs.ts";
import { type State, stateOf } from "./states.ts";

/** What became of one step. */
export interface Visit {
  /** The server did not take it, with these words. */
  readonly refused?: string | undefined;
  readonly state: State;
  /** The spec as it is stored, with what the server and webhooks have put in. */
  readonly stored: unknown;
  /** What the operator said that something is wrong: lines of its log, Warning Events. */
  readonly complaints: readonly string[];
  /** What the object says of itself, conditions with their reasons and all texts of its status. */
  readonly words: string;
  /** What no operator may do, with the words for it. */
  readonly disaster?: Disaster | undefined;
}

/** The operator died, hangs, loops, or stumbled over its own feet. */
export interface Disaster {
  readonly kind: "crash" | "hang" | "loop" | "death";
  readonly what: string;
}

/** A kind whose objects are walked through its specs: what `resource()` makes. */
export interface WalkedKind {
  readonly description: KindDescription;
  /** Its definition, with the schemas. */
  crd(): object;
}

/** How a stage is set up. */
export interface StageOptions {
  readonly operator: Operator;
  readonly kind: WalkedKind;
  readonly clock: VirtualClock;
  readonly harness: Omit<HarnessOptions, "clock" | "oracles">;
  /** What an operator is given to do what it does later, in its own time. */
  readonly patience: Duration;
}

const NAME = "sample";
const SETTLE_TIMEOUT = "20s";
const FIRST_STEP_MS = 1_000;
/** Errors that nobody throws on purpose. What cannot be reached is one of them, by name only. */
const MISTAKE = /^(?:TypeError|RangeError|ReferenceError|SyntaxError|AssertionError|EvalError)\b/;
const UNREACHABLE = /fetch failed|ECONN|ENOTFOUND|ETIMEDOUT/;

/** See the module comment. */
export class Stage implements AsyncDisposable {
  readonly #options: StageOptions;
  readonly #bench: Bench;
  /** What was there before: by uid. */
  readonly #furniture: ReadonlySet<string>;

  private constructor(options: StageOptions, bench: Bench) {
    this.#options = options;
    this.#bench = bench;
    this.#furniture = new Set(objectsIn(bench.cluster).map(({ metadata }) => metadata.uid));
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { operator, clock, harness } = options;
    const oracles = "off: transitions has its own measures";
    const bench = await openHarness(operator, { kubelet: "simulate", ...harness, clock, oracles }, {});
    await bench.settle();
    return new Stage(options, bench);
  }

  /** Creates the object with this spec. */
  create(spec: Spec): Promise<Visit> {
    return this.#visit(() => this.#bench.client.create(this.#body(spec)));
  }

  /** Gives the object this spec instead of the one that it has. */
  change(spec: Spec): Promise<Visit> {
    return this.#visit(async () => {
      const object = await this.#bench.client.get(this.#options.kind.description, NAME);
      await this.#bench.client.replace({ ...(object.body as KubeBody), spec } as KubeBody);
    });
  }

  /** Time passes, for what the operator does later, until it is `enough`; the state after it. */
  wait(enough: (state: State) => boolean): Promise<Visit> {
    return this.#visit(() => this.#pass(async () => enough(stateOf(this.#made()))));
  }

  /** In steps that become longer: most of what is done later is done soon. */
  async #pass(enough: () => Promise<boolean>): Promise<void> {
    const { clock, patience } = this.#options;
    const end = clock.monotonic() + durationMs(patience);
    for (let step = FIRST_STEP_MS; clock.monotonic() < end && !(await enough()); step *= 4) {
      await this.#bench.advance(Math.min(step, end - clock.monotonic()));
    }
  }

  /** Whether the server would take this spec for a new object; its words where it does not. */
  async refuses(spec: Spec): Promise<string | undefined> {
    try {
      await this.#bench.client.create(this.#body(spec), { dryRun: true });
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  /** Deletes the object, and says what is left when it is gone; undefined when it does not go. */
  async remove(): Promise<State | undefined> {
    const { client } = this.#bench;
    await client.delete(this.#options.kind.description, NAME, { ignoreNotFound: true });
    await this.#settle();
    await this.#pass(async () => !(await this.#isThere()));
    return (await this.#isThere()) ? undefined : stateOf(this.#made());
  }

  async #isThere(): Promise<boolean> {
    try {
      await this.#bench.client.get(this.#options.kind.description, NAME);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  async #visit(act: () => Promise<unknown>): Promise<Visit> {
    const { logs } = this.#bench;
    const { length: lines } = logs.records;
    const before = new Set(this.#warnings().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`));
    let refused: string | undefined;
    let disaster: Disaster | undefined;
    try {
      await act();
      await this.#settle();
    } catch (error) {
      if (error instanceof ApiError) refused = error.message;
      else disaster = { kind: "hang", what: errorMessage(error) };
    }
    const said = logs.records.slice(lines);
    const object = this.#made().find(({ kind, metadata }) => kind === this.#kindName && metadata.name === NAME);
    const events = this.#warnings().filter(
      ({ metadata }) => !before.has(`${metadata.uid} ${metadata.resourceVersion}`),
    );
    return {
      refused,
      state: stateOf(this.#made()),
      stored: object?.spec,
      complaints: [
        ...said.filter(({ level }) => level === "warn" || level === "error").map(lineOf),
        ...events.map(({ reason, message }) => `Event ${String(reason)}: ${String(message)}`),
      ],
      words: wordsOf(object),
      disaster: disaster ?? this.#disasterIn(said),
    };
  }

  get #kindName(): string {
    return this.#options.kind.description.kind;
  }

  #disasterIn(said: readonly LogRecord[]): Disaster | undefined {
    if (this.#bench.incarnation === undefined) return { kind: "death", what: "the operator has stopped" };
    const { phase } = this.#bench.operator.health() as { readonly phase?: string };
    if (phase === "stopped" || phase === "failed") return { kind: "death", what: `the operator is ${phase}` };
    for (const record of said) {
      const { message, level, fields } = record;
      if (level !== "warn" && level !== "error") continue;
      if (/again and again/.test(message)) return { kind: "loop", what: lineOf(record) };
      const stack = String(fields.stack ?? "");
      const error = String(fields.error ?? "");
      if (MISTAKE.test(stack) && !UNREACHABLE.test(error)) {
        return { kind: "crash", what: `handler ${String(fields.handler)} stumbles: ${stack.split("\n")[0]}` };
      }
    }
    return undefined;
  }

  #settle(): Promise<void> {
    return this.#bench.settle({ timeout: SETTLE_TIMEOUT });
  }

  #made(): StoredBody[] {
    return objectsIn(this.#bench.cluster).filter((body) => {
      return !this.#furniture.has(body.metadata.uid) && !isNote(body) && !isOfCluster(body);
    });
  }

  #warnings(): StoredBody[] {
    return objectsIn(this.#bench.cluster).filter(({ kind, type }) => kind === "Event" && type === "Warning");
  }

  #body(spec: Spec): KubeBody {
    const { group, version, kind, namespaced } = this.#options.kind.description;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const namespace = this.#options.harness.namespaces?.[0] ?? "default";
    return { apiVersion, kind, metadata: { name: NAME, ...(namespaced && { namespace }) }, spec } as KubeBody;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bench.close();
  }
}

function lineOf({ level, message, fields }: LogRecord): string {
  const error = fields.error === undefined ? "" : `: ${String(fields.error)}`;
  return `${level} ${message}${error}`;
}

/** Everything that people could read in the status of an object. */
function wordsOf(object: StoredBody | undefined): string {
  const { lotse: _, observedGeneration: __, ...status } = (object?.status ?? {}) as Record<string, unknown>;
  return JSON.stringify(status, (key, value: unknown) => {
    if (key === "observedGeneration" || key === "lastTransitionTime") return undefined;
    // Numbers are what is counted, words are what is told.
    return typeof value === "number" ? 0 : value;
  });
}
