/** What is explored: an operator and a scenario, given as they are, or by the module that has them. */
import { ConfigError, errorMessage } from "@lotse/client/meta";
import { isOperator } from "lotse";
import type { OperatorSource } from "./attempts.ts";
import type { Scenario } from "./stage.ts";

/** Where a thread finds what is explored. */
export interface SubjectModule {
  readonly url: string;
  /** The export that is the scenario. */
  readonly scenario: string;
}

/** See the module comment. */
export interface Subject {
  readonly operator: OperatorSource;
  readonly scenario: Scenario;
  /** Undefined where only this thread has it. */
  readonly module: SubjectModule | undefined;
}

const HINT =
  'explore(operator, async (harness) => …), or explore(new URL("./operator.ts", import.meta.url)) with the exports default and scenario';

/** As it is given. */
export function subjectOf(operator: unknown, scenario: unknown): Subject {
  if (!isOperator(operator) && typeof operator !== "function") {
    throw new ConfigError("explore needs an operator, or a function that makes one", { hint: HINT });
  }
  if (typeof scenario !== "function") throw new ConfigError("explore needs a scenario, a function", { hint: HINT });
  return { operator: operator as OperatorSource, scenario: scenario as Scenario, module: undefined };
}

/** Out of its module. A scenario that is a function of the caller can only be played by the caller's thread. */
export async function loadSubject(url: URL, scenario: Scenario | string): Promise<Subject> {
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(url.href)) as Record<string, unknown>;
  } catch (cause) {
    throw new ConfigError(`${url.href} cannot be loaded: ${errorMessage(cause)}`, { cause, hint: HINT });
  }
  const operator = loaded.default ?? loaded.operator;
  if (typeof scenario === "function") return subjectOf(operator, scenario);
  return { ...subjectOf(operator, loaded[scenario]), module: { url: url.href, scenario } };
}
