/** Gets a profile of a process of this machine, by the socket that only its user can open. */
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { localSockets, open, pidOf, socketFolders, textOf } from "../explain/index.ts";
import { type ProfileWish, questionFor } from "../profiling/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { busyProblem, memoryProblem } from "./problems.ts";

/** `there`, `gone`, or that of another user. */
export type ProcessState = "there" | "gone" | "foreign";

/** Whether a process is there, without doing anything to it. */
export function stateOf(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
    return "there";
  } catch (error) {
    return (error as { code?: string }).code === "EPERM" ? "foreign" : "gone";
  }
}

/** The one operator of this machine, for a user who names none; a {@link Problem} when there is none, or several. */
export function onlyProcess(io: Pick<Io, "env">): number {
  const pids = [...new Set(localSockets(io).map(pidOf))].filter((pid) => stateOf(pid) === "there");
  const [only] = pids;
  if (only !== undefined && pids.length === 1) return only;
  throw new Problem(
    only === undefined
      ? {
          what: "no operator runs on this machine",
          why: "no process listens where `lotse run` and `lotse dev` do",
          todo: "start one, or name a pod: lotse profile POD -n NAMESPACE",
        }
      : { what: "several operators run on this machine", todo: `name one of the processes ${pids.join(", ")}` },
    { exitCode: only === undefined ? 1 : 2 },
  );
}

/** Writes the profile of a process to `target`; a {@link Problem} when there is none to be had. */
export async function profileProcess(
  pid: number,
  wish: ProfileWish,
  target: () => Writable,
  io: Pick<Io, "env">,
  signal: AbortSignal,
): Promise<void> {
  const socket = localSockets(io).find((one) => pidOf(one) === pid);
  const state = stateOf(pid);
  if (state === "gone") {
    throw new Problem({ what: `there is no process ${pid}`, todo: "leave the number out to find an operator" });
  }
  if (socket === undefined || state === "foreign") throw notOurs(pid, state, io);
  const response = await open({ socket }, questionFor(wish), { method: "POST", signal }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw interrupted(pid, cause);
  });
  if (response.statusCode === 200) {
    await pipeline(response, target()).catch((cause: unknown) => {
      throw (cause as { code?: string }).code === "ECONNRESET" ? interrupted(pid, cause) : cause;
    });
    return;
  }
  const why = (await textOf(response)).trim();
  if (response.statusCode === 409) throw busyProblem(`the process ${pid}`);
  if (response.statusCode === 507) throw memoryProblem(`the process ${pid}`, why);
  throw new Problem({ what: `the process ${pid} could not make the profile`, why });
}

function notOurs(pid: number, state: ProcessState, io: Pick<Io, "env">): Problem {
  if (state === "foreign") {
    return new Problem({
      what: `the process ${pid} belongs to another user`,
      todo: "call lotse profile as that user",
    });
  }
  return new Problem({
    what: `the process ${pid} is no operator of Lotse`,
    why: `it has no socket in ${socketFolders(io).join(" or ")}, as \`lotse run\` and \`lotse dev\` make one`,
    todo: "leave the number out to find an operator, and call lotse profile with the operator's TMPDIR",
  });
}

function interrupted(pid: number, cause: unknown): Problem {
  const why = "it ended, or closed the connection";
  return new Problem({ what: `the process ${pid} has not answered to the end`, why, todo: "see its log" }, { cause });
}
