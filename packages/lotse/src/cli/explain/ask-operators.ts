/** Who `lotse explain` and `lotse retry` ask: the operators of this machine, or one whose address is known. */
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { type Asked, ask, localSockets } from "./local-socket.ts";

/** Which object, as a user at a shell names it. */
export interface NamedObject {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** What to ask, and how to read the answer. */
export interface Question<T> {
  /** `/explain` */
  readonly path: string;
  readonly method: "GET" | "POST";
  /** Undefined: it is about no object. */
  readonly object?: NamedObject | undefined;
  readonly read: (answer: string) => readonly T[];
  /** What is said when operators answer and none has anything to tell. */
  readonly nobody: () => Problem;
}

/** `m1` in the namespace of a flag, or `team-a/m1`. */
export function namedObject(kind: string, name: string, namespace: string | undefined): NamedObject {
  const [first = "", second] = name.split("/");
  return second === undefined ? { kind, namespace, name: first } : { kind, namespace: first, name: second };
}

/** What is said when nobody knows an object. */
export function nobodyKnows({ kind, namespace, name }: NamedObject): Problem {
  return new Problem({
    what: `no operator knows ${kind} ${namespace ?? "default"}/${name}`,
    why: "it is of a kind that nobody handles, its namespace is not served, settings.watching leaves it out, or it does not exist",
    todo: `check with: kubectl get ${kind} --all-namespaces`,
  });
}

/** The answers of all who have one; a {@link Problem} when no operator has, or none answers. */
export async function askOperators<T>(question: Question<T>, url: string | undefined, io: Io): Promise<readonly T[]> {
  const answers = await (url === undefined ? askLocally(question, io) : askAt(url, question));
  if (answers.length > 0) return answers;
  throw question.nobody();
}

async function askLocally<T>(question: Question<T>, io: Io): Promise<readonly T[]> {
  const answers = await Promise.all(
    localSockets(io).map((socket) => answerOf({ socket }, question).catch(() => undefined)),
  );
  const heard = answers.filter((answer) => answer !== undefined);
  if (heard.length > 0) return heard.flat();
  throw new Problem({
    what: "no operator runs on this machine",
    why: "no process listens where `lotse run` and `lotse dev` do",
    todo: "start one, or bring that of a cluster here: kubectl port-forward deployment/NAME 8081, then --url http://localhost:8081",
  });
}

async function askAt<T>(url: string, question: Question<T>): Promise<readonly T[]> {
  if (!URL.canParse(url)) {
    throw new Problem(
      { what: `${JSON.stringify(url)} is not a URL`, todo: "write it like http://localhost:8081" },
      { exitCode: 2 },
    );
  }
  try {
    return await answerOf({ url }, question);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const { message, code } = cause as { message: string; code?: string };
    throw new Problem(
      {
        what: `nobody answers at ${url}`,
        why: code === "ECONNREFUSED" ? "connection refused" : message,
        todo: "check that the operator runs with --explain, and that this port is forwarded",
      },
      { cause },
    );
  }
}

async function answerOf<T>(asked: Asked, { path, method, object, read }: Question<T>): Promise<readonly T[]> {
  const { status, body } = await ask(asked, `${path}${object ? `?${queryOf(object)}` : ""}`, method);
  if (status === 200 || (status === 404 && body.startsWith("{"))) return read(body);
  if (status === 404) {
    throw new Problem({
      what: "no questions are answered there",
      why: "it is where the operator serves health",
      todo: "name the address of its --explain: kubectl port-forward deployment/NAME 8081, then --url http://localhost:8081",
    });
  }
  if (status === 403) throw new Problem({ what: "the operator refuses", why: body.trim(), todo: FROM_HERE });
  throw new Error(`the answer was ${status}`);
}

function queryOf({ kind, name, namespace }: NamedObject): URLSearchParams {
  return new URLSearchParams({ kind, name, ...(namespace !== undefined && { namespace }) });
}

const FROM_HERE = "ask from the machine or the pod that it runs on: kubectl port-forward counts as that";
