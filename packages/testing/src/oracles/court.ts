/** Puts together what was seen in a harness, and says which promises were broken. */
import type { Cluster } from "@lotse/cluster";
import type { Actor, LogRecord, Operator } from "lotse";
import { objectsIn, type StoredBody } from "../objects/index.ts";
import { type Judged, oldGenerations } from "./judge-generations.ts";
import { abandoned, hotLoops, mutatedInputs } from "./judge-log.ts";
import { type SecretValue, secretValues, toldSecrets } from "./judge-secrets.ts";
import { by, orphans, otherUids } from "./judge-writes.ts";
import type { OracleName } from "./options.ts";
import { changesOfSecondPass } from "./second-pass.ts";
import type { Violation } from "./violation.ts";
import { Witness } from "./witness.ts";

/** What is known when a harness ends. */
export interface Evidence {
  readonly log: readonly LogRecord[];
  /** The operators that are at work. */
  readonly judged: readonly Judged[];
  readonly refusals: readonly string[];
  /** Whether everything is quiet: only then does the state of the cluster say anything. */
  readonly isQuiet: boolean;
}

/** Whether the operator has complained about the object of this actor. */
function isInTrouble(actor: Actor | undefined, log: readonly LogRecord[]): boolean {
  return log.some(({ level, object }) => {
    if ((level !== "warn" && level !== "error") || !object || !actor?.object) return false;
    const { kind, namespace, name } = actor.object;
    return object.kind === kind && object.namespace === namespace && object.name === name;
  });
}

/** For these it has to be known who does what. */
const NEED_A_WITNESS: readonly OracleName[] = ["idempotence", "otherUid", "orphans", "leftRunning"];

/** See the module comment. */
export class Court {
  /** Hears what operators do; undefined when no oracle asks for it. */
  readonly witness: Witness | undefined;
  readonly #active: ReadonlySet<OracleName>;
  readonly #cluster: Cluster;
  /** Those of Secrets that are gone, too: by where they were. */
  readonly #secrets = new Map<string, SecretValue>();

  constructor(active: ReadonlySet<OracleName>, cluster: Cluster) {
    this.#active = active;
    this.#cluster = cluster;
    this.witness = NEED_A_WITNESS.some((name) => active.has(name)) ? new Witness() : undefined;
  }

  /** Whether an oracle looks. */
  isActive(name: OracleName): boolean {
    return this.#active.has(name);
  }

  /** Called whenever everything is quiet. */
  look(): void {
    if (!this.#active.has("secrets")) return;
    for (const value of secretValues(objectsIn(this.#cluster)))
      this.#secrets.set(`${value.where} ${value.encoded}`, value);
  }

  /** What can be said while operators are still at work. */
  judge({ log, judged, refusals, isQuiet }: Evidence): Violation[] {
    this.look();
    const objects = objectsIn(this.#cluster);
    const writes = this.witness?.writes ?? [];
    const found: Violation[] = [
      ...otherUids(writes),
      ...hotLoops(log),
      ...mutatedInputs(log),
      ...toldSecrets([...this.#secrets.values()], objects, log),
      ...refusals.map((text) => ({
        oracle: "permissions" as const,
        what: `the operator asked for what its role does not allow: ${text}`,
        todo: "let the code say what it needs, or add the rule: rbac: { rules: [...] }",
      })),
    ];
    if (isQuiet) found.push(...orphans(writes, objects), ...oldGenerations(objects, judged));
    return this.#told(found);
  }

  /** What is to be compared with the state after a second pass. */
  beforeSecondPass(): { readonly objects: readonly StoredBody[]; readonly writes: number } {
    return { objects: objectsIn(this.#cluster), writes: this.witness?.writes.length ?? 0 };
  }

  /** What a second pass has changed. */
  judgeSecondPass(
    before: ReturnType<Court["beforeSecondPass"]>,
    operators: readonly Operator[],
    log: readonly LogRecord[],
  ): Violation[] {
    const all = this.witness?.writes.slice(before.writes) ?? [];
    // What cannot be done is tried again: an operator that says so of an object has not come to rest with it.
    const writes = all.filter(({ actor }) => !isInTrouble(actor, log));
    return this.#told(changesOfSecondPass(before.objects, objectsIn(this.#cluster), writes, operators));
  }

  /** What can be said when all operators have stopped. */
  judgeEnd(log: readonly LogRecord[]): Violation[] {
    const late = (this.witness?.late ?? []).map(({ actor, method, path }) => ({
      oracle: "leftRunning" as const,
      what: `${by(actor)} asked for ${method} ${path} when the operator had stopped`,
      todo: "await everything that a handler begins, and end it when context.signal aborts",
    }));
    return this.#told([...abandoned(log), ...late]);
  }

  #told(violations: readonly Violation[]): Violation[] {
    return violations.filter(({ oracle }) => this.#active.has(oracle));
  }
}
