/**
 * Gets a profile out of a pod: a few lines that Node.js runs in the operator's container ask its socket there, and write
 * the answer to their output. Nothing is installed, no port is opened and no file is left; who may exec there may do this.
 */

import type { Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import {
  type Client,
  ContainerNotRunningError,
  ExecError,
  type ExecProcess,
  ForbiddenError,
  NotFoundError,
  Pod,
} from "@lotse/client";
import { type ProfileWish, questionFor } from "../profiling/index.ts";
import { Problem } from "../terminal/index.ts";
import { busyProblem, memoryProblem } from "./problems.ts";

/** Where Node.js is: on the path, or where images without a shell have it. */
const PROGRAMS = ["node", "/nodejs/bin/node"] as const;

/** How the lines below end when there is no profile. */
const NOBODY = 43;
const BUSY = 44;
const FAILED = 45;
const NO_ROOM = 46;

/** Looks where `socketFolders` of the room `explain` says; an answer of another process is not waited for. */
export const IN_POD = `
const fs = require("node:fs"), os = require("node:os"), path = require("node:path"), http = require("node:http");
const { XDG_RUNTIME_DIR: own, TMPDIR } = process.env;
const folders = own ? [own + "/lotse"] : [TMPDIR || os.tmpdir(), "/dev/shm"].map((one) => one + "/lotse-" + process.getuid());
const list = (folder) => { try { return fs.readdirSync(folder).map((name) => path.join(folder, name)); } catch { return []; } };
const sockets = folders.flatMap(list).filter((name) => name.endsWith(".sock"));
const fail = (code, text) => { process.stderr.write(text); process.exitCode = code; };
const ask = () => {
  const socketPath = sockets.shift();
  if (!socketPath) return fail(${NOBODY}, "no operator listens");
  const headers = { "x-lotse-command": "lotse" };
  http.request({ socketPath, path: process.argv[1], method: "POST", headers }, (answer) => {
    answer.on("error", (error) => fail(${FAILED}, error.message));
    if (answer.statusCode === 200) return void answer.pipe(process.stdout);
    let text = "";
    answer.on("data", (data) => { text += data; });
    answer.on("end", () => fail({ 409: ${BUSY}, 507: ${NO_ROOM} }[answer.statusCode] || ${FAILED}, text));
  }).on("error", ask).end();
};
ask();
`;

/** Which container, and what of it. */
export interface PodQuestion {
  readonly pod: string;
  readonly namespace: string;
  readonly container: string | undefined;
  readonly wish: ProfileWish;
  readonly signal: AbortSignal;
}

/** Writes the profile to `target`; a {@link Problem} when there is none to be had. */
export async function profilePod(client: Client, question: PodQuestion, target: () => Writable): Promise<void> {
  const { pod: name, namespace, container, wish, signal } = question;
  const where = `${namespace}/${name}`;
  try {
    const pod = await client.get(Pod, name, { namespace });
    for (const program of PROGRAMS) {
      const command = [program, "-e", IN_POD, questionFor(wish)];
      const options = { stdin: false, signal, ...(container !== undefined && { container }) };
      const ended = await outcomeOf(() => pod.spawn(command, options), target);
      if (ended === "done") return;
      if (ended !== "no such program") throw problemOf(ended, where);
    }
  } catch (error) {
    throw requestProblem(error, name, namespace);
  }
  throw new Problem({
    what: `the container of ${where} has no Node.js that can be called`,
    why: `neither ${PROGRAMS.join(" nor ")} is there`,
    todo: "name the operator's container with --container",
  });
}

/** Why a command has written no profile. */
interface Ended {
  readonly exitCode: number;
  readonly said: string;
}

async function outcomeOf(
  spawn: () => Promise<ExecProcess>,
  target: () => Writable,
): Promise<"done" | "no such program" | Ended> {
  try {
    await using running = await spawn();
    let said = "";
    running.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const [exitCode] = await Promise.all([
      running.exitCode,
      pipeline(running.stdout, target()),
      finished(running.stderr),
    ]);
    if (exitCode === 0) return "done";
    return isMissing(exitCode, said) ? "no such program" : { exitCode, said };
  } catch (error) {
    if (error instanceof ExecError && error.failure === "server" && MISSING.test(error.message))
      return "no such program";
    throw error;
  }
}

/** Container engines tell it each in its own way. */
const MISSING = /executable file not found|no such file|not found|ENOENT/i;

function isMissing(exitCode: number, said: string): boolean {
  return exitCode === 126 || exitCode === 127 || (exitCode !== FAILED && MISSING.test(said));
}

function problemOf({ exitCode, said }: Ended, where: string): Problem {
  if (exitCode === BUSY) return busyProblem(where);
  if (exitCode === NO_ROOM) return memoryProblem(where, said.trim());
  if (exitCode === NOBODY) {
    return new Problem({
      what: `no operator of Lotse listens in ${where}`,
      why: "neither its temporary folder nor /dev/shm has the socket that `lotse run` makes, or another user made it",
      todo: "name the operator's container with --container",
    });
  }
  return new Problem({ what: `the operator in ${where} could not make the profile`, why: said.trim() || undefined });
}

function requestProblem(error: unknown, pod: string, namespace: string): unknown {
  if (error instanceof NotFoundError) {
    return new Problem(
      { what: `there is no pod ${namespace}/${pod}`, todo: `choose one of: kubectl get pods -n ${namespace}` },
      { cause: error },
    );
  }
  if (error instanceof ForbiddenError) {
    const todo = "ask for the right to get pods and to create pods/exec";
    return new Problem(
      { what: `you may not run commands in ${namespace}/${pod}`, why: error.message, todo },
      { cause: error },
    );
  }
  if (error instanceof ContainerNotRunningError) {
    return new Problem({ what: `${namespace}/${pod} does not run`, why: error.message }, { cause: error });
  }
  return error;
}
