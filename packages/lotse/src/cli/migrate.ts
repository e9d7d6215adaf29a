/** `lotse migrate`: rewrites stored objects into the storage version of their kind, so that an old version can be dropped. */
import { type Client, CustomResourceDefinition, findKinds, type KindDescription } from "@lotse/client";
import { harmless, systemClock } from "@lotse/client/meta";
import { type MigrationStep, migrateKind, readableKind, storedVersionsOf } from "../install/index.ts";
import { type ConnectOptions, confirmContext, connect } from "./connect/index.ts";
import type { Io } from "./terminal/index.ts";
import { Problem, similarNames, stopOnSignal } from "./terminal/index.ts";

/** The flags of `lotse migrate`. */
export interface MigrateOptions extends ConnectOptions {
  readonly concurrency?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** See the module comment. 1 when an object could not be written, or it was stopped before the end. */
export async function migrate(kind: string, options: MigrateOptions, io: Io): Promise<number> {
  const stop = stopOnSignal(io);
  const { client, context } = await connect(options, io, (text) => io.stderr.write(`Warning: ${harmless(text)}\n`));
  try {
    const definition = await findDefinition(client, kind, stop.signal);
    if (!options.dryRun) await confirmContext(context, options.yes, io, stop.signal);
    const teller = new Teller(definition, options, io);
    try {
      const { concurrency, dryRun } = options;
      const request = { clock: systemClock, concurrency, dryRun, signal: stop.signal };
      for await (const step of migrateKind(client, definition.name, request)) teller.tell(step);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return teller.stopped();
    }
    return teller.end();
  } finally {
    stop[Symbol.dispose]();
    await client.close();
  }
}

/** The definition of a kind by any of its names. */
async function findDefinition(client: Client, text: string, signal: AbortSignal): Promise<CustomResourceDefinition> {
  const definitions = await client.list(CustomResourceDefinition, { signal }).toArray();
  const kinds = new Map<KindDescription, CustomResourceDefinition>();
  for (const one of definitions) {
    if (one.body.spec?.versions.some(({ served }) => served)) kinds.set(readableKind(one.body), one);
  }
  const found = findKinds([...kinds.keys()], text);
  const names = found.map((kind) => (kinds.get(kind) as CustomResourceDefinition).name);
  if (found.length > 1) {
    throw new Problem(
      { what: `${JSON.stringify(text)} can be ${names.join(" or ")}`, todo: "name its group too" },
      { exitCode: 2 },
    );
  }
  const [kind] = found;
  if (kind) return kinds.get(kind) as CustomResourceDefinition;
  const near = similarNames(
    text.split(".")[0] ?? text,
    [...kinds.keys()].map(({ plural }) => plural),
  );
  throw new Problem(
    {
      what: `the cluster has no custom resource definition of ${JSON.stringify(text)}`,
      todo: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "kubectl get crds shows what there is",
    },
    { exitCode: 2 },
  );
}

/** Tells a person, or a program, how far it is. */
class Teller {
  readonly #name: string;
  readonly #storage: string;
  readonly #old: readonly string[];
  readonly #options: MigrateOptions;
  readonly #io: Io;
  #done = 0;
  #failed = 0;
  #dropped: readonly string[] = [];

  constructor(definition: CustomResourceDefinition, options: MigrateOptions, io: Io) {
    const { storage, old } = storedVersionsOf(definition.body);
    this.#name = definition.name;
    this.#storage = storage;
    this.#old = old;
    this.#options = options;
    this.#io = io;
  }

  tell(step: MigrationStep): void {
    if (this.#options.output === "json") this.#print({ definition: this.#name, ...step });
    if (step.type === "progress") {
      this.#done = step.done;
      if (step.remaining) this.#line(`${this.#name}: ${step.done} of ${step.done + step.remaining} objects`);
    } else if (step.type === "failed") {
      this.#failed++;
      const who = `${step.namespace === undefined ? "" : `${step.namespace}/`}${step.name}`;
      this.#line(`${this.#name} ${who}: cannot be written: ${step.message}`);
    } else this.#dropped = step.versions;
  }

  end(): number {
    const { dryRun } = this.#options;
    const objects = `${this.#done} ${this.#done === 1 ? "object" : "objects"}`;
    if (this.#options.output === "json") this.#summary();
    else if (this.#old.length === 0) {
      this.#line(`${this.#name}: nothing to do, all objects are stored in ${this.#storage}`);
    } else if (this.#failed > 0) {
      const left = `${this.#old.join(", ")} ${this.#old.length === 1 ? "stays" : "stay"} in storedVersions`;
      this.#line(`${this.#name}: ${this.#failed} of ${objects} cannot be written, ${left}; mend them and run it again`);
    } else if (dryRun) {
      const would = `would be rewritten into ${this.#storage}, and storedVersions would lose`;
      this.#line(`${this.#name}: ${objects} ${would} ${this.#dropped.join(", ")}; nothing was done`);
    } else {
      const done = `rewritten into ${this.#storage}, storedVersions is without`;
      this.#line(`${this.#name}: ${objects} ${done} ${this.#dropped.join(", ")}, which can be dropped now`);
    }
    return this.#failed > 0 ? 1 : 0;
  }

  stopped(): number {
    if (this.#options.output === "json") this.#summary();
    const again = "run it again to go on, what is rewritten costs no second write";
    this.#line(`${this.#name}: stopped after ${this.#done} ${this.#done === 1 ? "object" : "objects"}; ${again}`);
    return 1;
  }

  #summary(): void {
    const [dropped, dryRun] = [this.#dropped, this.#options.dryRun === true];
    const result = { done: this.#done, failed: this.#failed, storage: this.#storage, dropped, dryRun };
    this.#print({ definition: this.#name, type: "end", ...result });
  }

  #line(text: string): void {
    if (this.#options.output !== "json") this.#io.stdout.write(`${harmless(text)}\n`);
  }

  #print(value: object): void {
    this.#io.stdout.write(`${JSON.stringify(value)}\n`);
  }
}
