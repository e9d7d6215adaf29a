/** Waiting for an object to be as a test wants it, and what to say when it does not become so. */
import type { AnyObject, KubeBody } from "@lotse/client";
import { harmlessLines, isObject, toYaml } from "@lotse/client/meta";
import { differenceLines, patternDifferences } from "./differences.ts";

/** What an object has to be: a function that says so, or a part of it; texts may be given as RegExps. */
export type Wanted<T> = ((object: T) => unknown) | PatternOf<T>;

/** A part of an object, as `toMatchObject` takes it. */
export type PatternOf<T> = T extends { readonly body: infer Body } ? Partly<Body> : Partly<T>;

type Partly<T> = T extends string
  ? T | RegExp
  : T extends readonly (infer Item)[]
    ? readonly Partly<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: Partly<T[K]> }
      : T;

/** Whether the object is as wanted. What a predicate throws means no: it often looks into what is not there yet. */
export function isAsWanted<T extends AnyObject>(object: T | undefined, wanted: Wanted<T>): boolean {
  if (object === undefined) return false;
  if (typeof wanted !== "function") return patternDifferences(wanted, object.body).length === 0;
  try {
    return Boolean((wanted as (object: T) => unknown)(object));
  } catch {
    return false;
  }
}

/** What is said when an object did not become what was wanted. */
export interface InVain<T> {
  /** `Thing default/one` */
  readonly title: string;
  /** `within 1h of virtual time` */
  readonly patience: string;
  readonly wanted: Wanted<T>;
  readonly last: T | undefined;
  /** Titles of the objects of the kind that there are. */
  readonly others: readonly string[];
  /** The operator's last lines. */
  readonly log: readonly string[];
}

/** See {@link InVain}. */
export function inVainText<T extends AnyObject>({ title, patience, wanted, last, others, log }: InVain<T>): string {
  const lines: string[] = [];
  if (last === undefined) {
    lines.push(`there was no ${title} ${patience}`);
    lines.push(
      others.length === 0 ? "there is no object of this kind" : `there are: ${others.slice(0, 10).join(", ")}`,
    );
  } else if (typeof wanted === "function") {
    lines.push(`${title} was not as wanted ${patience}; it is`, ...indented(yamlOf(last.body as KubeBody)));
    const complaint = complaintOf(last, wanted as (object: T) => unknown);
    if (complaint !== undefined) lines.push(`the predicate threw: ${complaint}`);
  } else {
    lines.push(`${title} was not as wanted ${patience} (- wanted, + is)`);
    lines.push(...indented(differenceLines(patternDifferences(wanted, last.body))));
    const said = conditionLines(last.body as KubeBody);
    if (said.length > 0) lines.push("its conditions:", ...indented(said));
  }
  if (log.length > 0) lines.push("the operator's last lines:", ...indented(log));
  return lines.join("\n");
}

function complaintOf<T>(object: T, predicate: (object: T) => unknown): string | undefined {
  try {
    predicate(object);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The object as people read it: without what a server keeps there for itself. */
export function yamlOf({ metadata = {}, status, ...rest }: KubeBody): string[] {
  const { managedFields: _fields, ...kept } = metadata;
  const { lotse: _record, ...said } = isObject(status) ? status : {};
  const body = { ...rest, metadata: kept, ...(Object.keys(said).length > 0 && { status: said }) };
  return harmlessLines(toYaml(body).trimEnd()).split("\n");
}

/** `Ready=False WaitingForPods: 0 of 3 pods are ready` */
export function conditionLines({ status }: KubeBody): string[] {
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isObject).map(({ type, status: state, reason, message }) => {
    const why = [reason, message].filter((part) => part !== undefined && part !== "").join(": ");
    return `${String(type)}=${String(state)}${why === "" ? "" : ` ${why}`}`;
  });
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
