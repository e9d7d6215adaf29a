/** What a parent says of its children. */
import { hash } from "node:crypto";
import { type BackgroundTurn, conditionsOf, type Standing } from "../../turn/index.ts";
import type { ChildState } from "./keeping.ts";

const PREFIX = "child.lotse.dev/";
/** A status is no place for thousands of conditions: of many children, those that are not ready are told. */
const MOST = 32;
const LONGEST_NAME = 63;
const PLAIN = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;

/** A condition for each child; returns how they stand together. */
export function reportChildren({ runner, body }: BackgroundTurn, states: readonly ChildState[]): Standing {
  const notReady = states.filter(({ ready }) => !ready);
  const told = states.length <= MOST ? states : notReady.slice(0, MOST);
  const standing = new Map(conditionsOf(body)?.map((one) => [one.type, one]));
  // Most runs find everything as it was: then there is nothing to say.
  const say = (type: string, ready: boolean, reason: string, message: string) => {
    const said = standing.get(type);
    const stands =
      said?.status === (ready ? "True" : "False") &&
      said.reason === reason &&
      said.message === message &&
      said.observedGeneration === body.metadata?.generation;
    if (!stands || runner.hasConditionChange(type)) runner.condition(type, ready, reason, message);
  };
  const types = told.map(({ key }) => conditionType(key));
  for (const type of standing.keys()) {
    if (type.startsWith(PREFIX) && !types.includes(type)) runner.removeCondition(type);
  }
  for (const [at, { ready, reason, message }] of told.entries()) say(types[at] ?? "", ready, reason, message);
  return together(states, notReady);
}

/** A child that has failed for good is named first: nothing comes of waiting for the others. */
function together(states: readonly ChildState[], notReady: readonly ChildState[]): Standing {
  const count = `${states.length - notReady.length} of ${states.length} are ready`;
  const failed = notReady.find((state) => state.failed === true);
  const first = failed ?? notReady[0];
  if (!first) return { id: "", state: "done", reason: "ChildrenReady", message: count };
  const more = notReady.length > 1 ? `, and ${notReady.length - 1} more` : "";
  const message = `${count}; ${first.key}: ${first.message}${more}`;
  return failed
    ? { id: "", state: "failed", reason: "ChildFailed", message }
    : { id: "", state: "works", reason: "ChildrenNotReady", message };
}

/** The condition of a child: `child.lotse.dev/configmap.settings`. */
export function conditionType(key: string): string {
  const plain = key.replaceAll("/", ".");
  if (plain.length <= LONGEST_NAME && PLAIN.test(plain)) return PREFIX + plain;
  const name = plain.replace(/[^A-Za-z0-9_.-]/g, ".").replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "") || "child";
  const suffix = hash("sha256", key, "hex").slice(0, 8);
  return `${PREFIX}${name.slice(0, LONGEST_NAME - suffix.length - 1).replace(/[^A-Za-z0-9]+$/, "")}-${suffix}`;
}
