/** `lotse run --shadow`: a new version beside the old one, with every write a dry run. */
import { Client } from "@lotse/client";
import { durationMs, sleep, systemClock } from "@lotse/client/meta";
import type { Operator, RunningOperator } from "../../operator/index.ts";
import { type ShadowDifference, ShadowError, type ShadowOptions } from "../../shadow/index.ts";
import { useAsDefault } from "../connect/index.ts";
import { type Io, Problem, wantsColours } from "../terminal/index.ts";
import type { PrecedenceFlags } from "./precedence-flags.ts";
import { differenceLines, reportLines } from "./shadow-text.ts";

/** The flags of a shadow. */
export interface ShadowFlags {
  readonly shadow?: boolean | undefined;
  /** Field managers of the version that works. */
  readonly beside?: readonly string[] | undefined;
  readonly fromScratch?: boolean | undefined;
  readonly settle?: string | undefined;
  /** Kinds to compare besides. */
  readonly compare?: readonly string[] | undefined;
  readonly allowExec?: boolean | undefined;
  /** Ends when nothing has begun or ceased to differ for so long. */
  readonly untilQuiet?: string | undefined;
  readonly output?: "json" | undefined;
}

/** A shadow as it was asked for. */
export interface ShadowRun {
  readonly options: ShadowOptions;
  /** Undefined: until a signal asks to stop. */
  readonly quietMs: number | undefined;
}

const NEED_SHADOW = ["beside", "fromScratch", "settle", "compare", "allowExec", "untilQuiet", "output"] as const;

/** The flags that say what the working version does, and a shadow never does. */
interface WorkingFlags extends PrecedenceFlags {
  readonly installCrds?: boolean | undefined;
}

/** What the flags ask for; undefined when it is no shadow. A {@link Problem} when they contradict each other. */
export function shadowOf(flags: ShadowFlags & WorkingFlags, io: Io): ShadowRun | undefined {
  if (!flags.shadow) {
    const lonely = NEED_SHADOW.find((name) => flags[name] !== undefined);
    if (lonely !== undefined) throw wrong(`${flagOf(lonely)} is for shadows`, "add --shadow, or leave it out");
    return undefined;
  }
  const other = excludedBy(flags);
  if (other !== undefined) throw wrong(`--shadow and ${other} exclude each other`, WRITES_NOTHING);
  const { beside, fromScratch, compare, allowExec } = flags;
  const settle = flags.settle === undefined ? undefined : durationOf("settle", flags.settle);
  const live = flags.output !== "json" && io.stdout.isTTY === true;
  return {
    options: { beside, fromScratch, compare, allowExec, settle, ...(live && { onDifference: printer(io) }) },
    quietMs: flags.untilQuiet === undefined ? undefined : durationOf("untilQuiet", flags.untilQuiet),
  };
}

/** Operators may come from another copy of the package: one that knows no shadows would write. */
export function checkCanShadow(
  operators: readonly { readonly operator: Pick<Operator, "name"> & Partial<Operator> }[],
): void {
  const unable = operators.find(({ operator }) => operator.canShadow !== true);
  if (!unable) return;
  throw new Problem({
    what: `the operator ${unable.operator.name} cannot be a shadow`,
    why: "it is made with a version of lotse that knows none, and would write",
    todo: "install the version of lotse whose command this is in its project",
  });
}

const WRITES_NOTHING =
  "leave one of them out: a shadow installs nothing, and nobody stands by, shares or pauses for it";

/** To be alone is what every shadow is. */
function excludedBy({ installCrds, coordination, dev, peering, priority }: WorkingFlags): string | undefined {
  if (installCrds) return "--install-crds";
  if (coordination !== undefined && coordination !== "alone") return `--coordination ${coordination}`;
  if (dev) return "--dev";
  if (peering !== undefined) return "--peering";
  return priority === undefined ? undefined : "--priority";
}

/** What a run as a shadow is called at its start. */
export function shadowLine({ options }: ShadowRun, operators: readonly { readonly operator: Operator }[]): string {
  const names = options.beside ?? operators.map(({ operator }) => operator.name);
  return `writes nothing, and is compared with what ${names.join(", ")} writes`;
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function durationOf(name: string, text: string): number {
  let ms: number;
  try {
    ms = durationMs(text);
  } catch (cause) {
    throw wrong(`${flagOf(name)} ${text} is no duration`, "write 30s, 5m or 1h30m", cause);
  }
  if (ms > 0) return ms;
  throw wrong(`${flagOf(name)} ${text} is no time at all`, "write 30s, 5m or 1h30m");
}

function wrong(what: string, todo: string, cause?: unknown): Problem {
  return new Problem({ what, todo }, { exitCode: 2, cause });
}

/** Shows each difference as soon as it is found: for people who watch. */
function printer(io: Io): ShadowOptions["onDifference"] {
  const colours = wantsColours(io.stdout, io.env);
  return (difference: ShadowDifference, event: "found" | "over") => {
    if (event === "found") io.stdout.write(`${differenceLines([difference], colours).join("\n")}\n\n`);
  };
}

/** The client for objects that a handler makes without one: nobody could make a dry run of what they write. */
export function readOnly(client: Client): Client {
  return client.with({
    guard: ({ method, path }) => {
      throw new ShadowError(`a shadow writes through its handlers' client alone, and not ${method} ${path}`, {
        hint: "make the object with `client` from the handler's context: client.create(object)",
      });
    },
  });
}

/** The same where operators bring their own credentials, and the default client is that of the context of kubectl. */
export async function withoutDefaultWrites(): Promise<AsyncDisposable> {
  // Where there is none, nothing can be written with it either.
  const client = await Client.connect().catch(() => undefined);
  const release = client && useAsDefault(readOnly(client));
  return {
    async [Symbol.asyncDispose]() {
      release?.();
      await client?.close();
    },
  };
}

/** Resolves when all shadows have been quiet for as long as was asked for, or `signal` aborts. */
export async function untilQuiet(
  running: readonly RunningOperator[],
  quietMs: number,
  signal: AbortSignal,
): Promise<void> {
  const settled = () => running.every(({ shadow }) => (shadow?.report().quietMs ?? 0) >= quietMs);
  while (!signal.aborted) {
    const all = Promise.all(running.map(({ shadow }) => shadow?.quiet(quietMs, { signal })));
    // An operator that cannot start tells it by its own end, and so does the signal.
    if (
      !(await all.then(
        () => true,
        () => false,
      ))
    )
      return;
    // While one was waited for, another one may have found something.
    if (settled()) return;
    await sleep(systemClock, 1_000, signal).catch(() => undefined);
  }
}

/** Prints what was found; the exit code. */
export function printReports(running: readonly RunningOperator[], flags: ShadowFlags, io: Io): number {
  const reports = running.flatMap(({ shadow }) => shadow?.report() ?? []);
  if (flags.output === "json") io.stdout.write(`${JSON.stringify({ shadows: reports }, undefined, 2)}\n`);
  else io.stdout.write(`${reportLines(reports, wantsColours(io.stdout, io.env)).join("\n")}\n`);
  return reports.some(({ differences }) => differences.length > 0) ? 1 : 0;
}
