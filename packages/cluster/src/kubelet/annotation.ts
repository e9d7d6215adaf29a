/** What a simulated pod does, as its annotation says it: for manifests, whose users cannot call `cluster.pods.program`. */
import { type Duration, durationMs, lookup } from "@lotse/client/meta";
import { isRecord } from "../registry/index.ts";
import type { PodBehaviour } from "./behaviour.ts";

/** Its value is a {@link PodBehaviour} in JSON, without functions and ports. */
export const SIMULATE_ANNOTATION = "lotse.dev/simulate";

/** Tells what is wrong with a value, and undefined when nothing is. */
type Check = (value: unknown, path: string) => string | undefined;

/**
 * Reads the annotation. Throws when it makes no sense: a Job that was told to fail and succeeds instead would be worse
 * than one that does not start.
 */
export function annotatedBehaviour(annotations: Readonly<Record<string, unknown>> | undefined): PodBehaviour {
  const text = lookup(annotations, SIMULATE_ANNOTATION);
  if (text === undefined) return {};
  const wrong = (what: string) =>
    new Error(`annotation ${SIMULATE_ANNOTATION}: ${what}; an example is {"exit": {"after": "10s", "code": 1}}`);
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch (error) {
    throw wrong(`no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const problem = POD(value, "");
  if (problem !== undefined) throw wrong(problem);
  return value as PodBehaviour;
}

const is =
  (type: "string" | "boolean", name: string): Check =>
  (value, path) =>
    typeof value === type ? undefined : `${path} must be ${name}`;

const text = is("string", "a text");

const code: Check = (value, path) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255
    ? undefined
    : `${path} must be a number from 0 to 255`;

const duration: Check = (value, path) => {
  try {
    if (typeof value === "string" || typeof value === "number") durationMs(value as Duration);
    else return `${path} must be a duration such as "10s"`;
  } catch {
    return `${path} must be a duration such as "10s", and not ${JSON.stringify(value)}`;
  }
  return undefined;
};

const either =
  (...checks: readonly Check[]): Check =>
  (value, path) => {
    const problems = checks.map((check) => check(value, path));
    return problems.includes(undefined) ? undefined : problems[0];
  };

const listOf =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length === 0) return `${path} must be a list with an entry`;
    return value.map((one, at) => check(one, `${path}[${at}]`)).find((problem) => problem !== undefined);
  };

const nothing: Check = (value, path) => (value === null ? undefined : `${path} must be null`);

const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isRecord(value)) return `${path || "it"} must be an object`;
    for (const [key, one] of Object.entries(value)) {
      const check = lookup(fields, key);
      const where = path === "" ? key : `${path}.${key}`;
      if (!check) return `${where} is unknown: it may have ${Object.keys(fields).join(", ")}`;
      const problem = check(one, where);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

const EXIT = shape({ code, after: duration, reason: text, message: text });
const EXEC = either(text, shape({ stdout: text, stderr: text, exitCode: code }), (value, path) =>
  isRecord(value) ? undefined : `${path} must be an answer, or answers by command`,
);

const CONTAINER: Readonly<Record<string, Check>> = {
  pullError: text,
  createError: text,
  ready: either(duration, is("boolean", "a duration, true or false")),
  logs: either(text, listOf(text)),
  exit: (value, path) =>
    Array.isArray(value) ? listOf(either(EXIT, nothing))(value, path) : either(EXIT, nothing)(value, path),
  stopDelay: duration,
  stopCode: code,
  exec: EXEC,
};

const POD = shape({
  ...CONTAINER,
  startDelay: duration,
  evicted: shape({ after: duration, message: text }),
  failed: shape({ after: duration, reason: text, message: text }),
  containers: (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`;
    const one = shape(CONTAINER);
    return Object.entries(value)
      .map(([name, container]) => one(container, `${path}.${name}`))
      .find((problem) => problem !== undefined);
  },
});
