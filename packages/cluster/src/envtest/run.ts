import type { OpenPort } from "../transport/index.ts";
import { addressOf, cannotListen } from "./address.ts";
import type * as apiServer from "./apiserver.ts";
import { findData } from "./data-place.ts";
import { startEtcd } from "./etcd.ts";
import { type FlagValues, helpText, readFlags, wantsHelp } from "./flags.ts";
import { liveUntilTold } from "./life.ts";
import { PROGRAMS, type ProgramName } from "./tables.ts";

/** What only the API server needs, which is almost everything. */
export interface ApiServerParts {
  openPort(host: string, port: number): Promise<OpenPort>;
  load(): Promise<LoadedApiServer>;
}

/** The API server, loaded. */
export interface LoadedApiServer extends Pick<typeof apiServer, "startApiServer"> {
  /** Called once it answers. */
  started?(): void;
}

/** Runs a stand-in as this process. What keeps it from starting is told on standard error, with exit code 1. */
export async function runProgram(name: string, argv: readonly string[], parts: ApiServerParts): Promise<void> {
  if (!Object.hasOwn(PROGRAMS, name)) return fail(name, "there is no such program", "run etcd or kube-apiserver");
  const program = name as ProgramName;
  const { what, table } = PROGRAMS[program];
  if (wantsHelp(argv)) {
    process.stdout.write(`${helpText(program, what, table)}\n`);
    return;
  }
  const flags = readFlags(argv, table);
  if (typeof flags === "string") return fail(program, flags, `${program} --help has those that there are`);
  // From the first moment on: a test that sees it answer may tell it to end.
  let stop = async (): Promise<void> => {};
  liveUntilTold(() => stop());
  const tellIgnored = () => {
    const { ignored } = flags;
    if (ignored.length > 0) warn(program, `without effect here: ${ignored.map((flag) => `--${flag}`).join(", ")}`);
  };
  try {
    if (program === "etcd") {
      const server = await startEtcd(flags);
      stop = async () => {
        server.closeAllConnections();
        server.close();
      };
      tellIgnored();
    } else {
      const cluster = await runApiServer(flags, parts, tellIgnored);
      stop = () => cluster.stop();
    }
  } catch (error) {
    const { hint = "" } = error as { hint?: string };
    fail(program, error instanceof Error ? error.message : String(error), hint);
  }
}

async function runApiServer(flags: FlagValues, parts: ApiServerParts, tellIgnored: () => void) {
  const address = addressOf(flags);
  const { host, port } = address;
  // envtest looks every 100 ms. Who comes while the rest is loaded waits for the answer, and not for the next look.
  const openPort = await parts.openPort(host, port).catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, `${host}:${port}`);
  });
  // Asked before the rest is read, answered meanwhile.
  const place = findData(flags.last("etcd-servers"));
  place.catch(() => {}); // told by whoever waits for it
  const { startApiServer, started } = await parts.load();
  tellIgnored();
  const cluster = await startApiServer(flags, {
    address,
    openPort,
    place,
    warn: (text) => warn("kube-apiserver", text),
    env: process.env,
  });
  started?.();
  return cluster;
}

function warn(program: string, text: string): void {
  process.stderr.write(`${program}: ${text}\n`);
}

function fail(program: string, what: string, hint: string): void {
  process.stderr.write(`Error: ${program}: ${what}\n${hint === "" ? "" : `Do:    ${hint}\n`}`);
  process.exit(1);
}
