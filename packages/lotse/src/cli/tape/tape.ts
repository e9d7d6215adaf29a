/** `lotse run --record FILE`: what one operator sees goes into a file, for `replay()` of `@lotse/testing`. */
import { closeSync, existsSync, openSync, readSync, writeSync } from "node:fs";
import path from "node:path";
import type { Client } from "@lotse/client";
import { parseQuantity } from "@lotse/client/meta";
import type { Operator } from "../../operator/index.ts";
import type { Logger } from "../../report/index.ts";
import {
  DEFAULT_LIMIT_BYTES,
  parseTape,
  recordTape,
  type TapeRecorder,
  type TapeStart,
  type TapeSubject,
} from "../../tape/index.ts";
import { type Io, Problem } from "../terminal/index.ts";

/** The flags. */
export interface TapeFlags {
  /** The file. */
  readonly record?: string | undefined;
  /** `kind/namespace/name`, or `kind/name` for an object of the cluster. */
  readonly recordOnly?: string | undefined;
  /** A quantity of bytes: `100Mi`. */
  readonly recordSize?: string | undefined;
}

/** What is asked for, checked before anything begins; undefined: nothing is recorded. */
export interface TapePlan {
  readonly file: string;
  readonly only: TapeSubject | undefined;
  readonly limitBytes: number;
}

/** Reads the flags; a {@link Problem} when they make no sense. */
export function tapePlanOf(
  { record, recordOnly, recordSize, shadow }: TapeFlags & { readonly shadow?: boolean | undefined },
  io: Pick<Io, "cwd">,
): TapePlan | undefined {
  if (record === undefined) {
    const lone = recordOnly !== undefined ? "--record-only" : recordSize !== undefined ? "--record-size" : undefined;
    if (lone === undefined) return undefined;
    throw new Problem({ what: `${lone} needs --record FILE`, todo: "say where to, or leave it out" }, { exitCode: 2 });
  }
  if (shadow) {
    throw new Problem(
      {
        what: "--record and --shadow exclude each other",
        why: "a shadow sees a world of its own",
        todo: "record the version that works, or leave one of them out",
      },
      { exitCode: 2 },
    );
  }
  const file = path.resolve(io.cwd, record);
  refuseStrangers(file);
  return { file, only: recordOnly === undefined ? undefined : subjectOf(recordOnly), limitBytes: bytesOf(recordSize) };
}

/** A recording may replace another one, and nothing else. */
function refuseStrangers(file: string): void {
  if (!existsSync(file)) return;
  const opened = openSync(file, "r");
  try {
    const start = Buffer.alloc(4_096);
    const text = start.toString("utf8", 0, readSync(opened, start));
    if (text === "") return;
    // The first line is enough.
    parseTape(`${text.split("\n", 1)[0]}\n`);
  } catch (cause) {
    throw new Problem(
      {
        what: `the file ${file} is there, and is no recording of an operator`,
        why: "it would be overwritten",
        todo: "name another one with --record",
      },
      { exitCode: 2, cause },
    );
  } finally {
    closeSync(opened);
  }
}

function subjectOf(text: string): TapeSubject {
  const parts = text.split("/");
  const [kind = "", ...rest] = parts;
  if (parts.length < 2 || parts.length > 3 || parts.includes("")) {
    throw new Problem(
      {
        what: `--record-only ${text} names no object`,
        todo: "write kind/namespace/name, as in shop/default/corner, or kind/name for an object of the cluster",
      },
      { exitCode: 2 },
    );
  }
  const [namespace = "", name = ""] = rest.length === 2 ? rest : ["", ...rest];
  return { kind, namespace, name };
}

/** Less would not hold the beginning of any operator. */
const SMALLEST_BYTES = 10_000;

function bytesOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT_BYTES;
  let bytes: number;
  try {
    bytes = Number(parseQuantity(text).nanos / 10n ** 9n);
  } catch {
    bytes = Number.NaN;
  }
  if (bytes >= SMALLEST_BYTES) return bytes;
  throw new Problem(
    { what: `--record-size ${text} is no size`, todo: "write a quantity of bytes from 10k on, as in 500Mi" },
    { exitCode: 2 },
  );
}

/** What is recorded, and for whom. */
export interface TapeSubjects {
  readonly operators: readonly Operator[];
  /** Undefined where operators bring their own credentials. */
  readonly client: Client | undefined;
  readonly start: TapeStart;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Begins the recording; a {@link Problem} where it cannot be. */
export async function openTape(plan: TapePlan, o: TapeSubjects): Promise<TapeRecorder> {
  const [operator, another] = o.operators;
  if (operator === undefined || another !== undefined || o.client === undefined) {
    const why = o.client === undefined ? "it brings its own credentials" : "a recording is of one operator";
    throw new Problem(
      {
        what: `--record cannot be used for ${o.operators.map(({ name }) => name).join(", ")}`,
        why,
        todo: "run one operator, with a kubeconfig",
      },
      { exitCode: 2 },
    );
  }
  const { logger } = o;
  const file = openFile(plan.file);
  const tape = await recordTape({
    operator: operator.name,
    client: o.client,
    start: o.start,
    signal: o.signal,
    limitBytes: plan.limitBytes,
    ...(plan.only && { only: plan.only }),
    write: (lines) => {
      writeSync(file, lines);
    },
    onEnd: (why) => {
      if (why === "full") {
        logger.warn("the recording is full and ends here, the operator works on", {
          file: plan.file,
          bytes: plan.limitBytes,
          hint: "--record-size 1Gi makes room for more, --record-only for less",
        });
      } else
        logger.error("the recording cannot be written and ends here, the operator works on", {
          file: plan.file,
          error: why,
        });
    },
  });
  logger.info("what the operator sees is recorded, without secrets", { file: plan.file });
  return {
    ...tape,
    close: async () => {
      await tape.close();
      closeSync(file);
    },
  };
}

/** Others must not read it: it has what the operator may read. */
function openFile(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (cause) {
    throw new Problem(
      {
        what: `the recording ${file} cannot be written`,
        why: (cause as Error).message,
        todo: "name another file with --record",
      },
      { cause },
    );
  }
}
