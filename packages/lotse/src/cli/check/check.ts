/**
 * `lotse check`: everything about an operator that can be known before it is released. Types, whether a server takes its
 * definitions, what they do to objects that are stored, and whether it may do what it has to.
 */

import { CustomResourceDefinition, InvalidError } from "@lotse/client";
import type { Need } from "../../generate/index.ts";
import { compareDefinitions, type DefinitionChange } from "../../schema/index.ts";
import { type Connection, type ConnectOptions, connect } from "../connect/index.ts";
import { type HandlerNeeds, handlerNeeds, unseenTexts } from "../permissions/index.ts";
import { type LoadedOperator, loadOperators, NO_HANDLERS, resolveFiles, withoutHandlers } from "../project/index.ts";
import { lacksAny, missingTexts, reviewOperators } from "../review/index.ts";
import type { ProjectIo } from "../scan/index.ts";
import { Problem, tell, wantsColours } from "../terminal/index.ts";
import { type Baseline, type Definition, definitionsOf, fromCluster, readBaseline } from "./against.ts";
import { asConverted, checkConversionsOf, storedFindings } from "./conversions.ts";
import { judgeDefinitions, ownKinds, schemaFindings } from "./definitions.ts";
import { type CheckReport, type Finding, type FindingLevel, hasErrors, writeReport } from "./findings.ts";
import { judgeObjects, serveDefinition, withScratchCluster } from "./scratch.ts";
import { checkTypes } from "./types.ts";

/** The flags of `lotse check`. */
export interface CheckOptions extends ConnectOptions {
  /** `git:REVISION`, a manifest, or an operator's file; the cluster without it. */
  readonly against?: string | undefined;
  /** Also holds the stored objects against the new definitions. */
  readonly objects?: boolean | undefined;
  readonly namespace?: readonly string[] | undefined;
  /** False: no cluster is looked for. */
  readonly cluster?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** Checks the operators of `files`: 1 when there is an error, else 0. */
export async function check(files: readonly string[], options: CheckOptions, io: ProjectIo): Promise<number> {
  const resolved = resolveFiles(files, io.cwd, "check");
  if (options.objects && options.cluster === false) {
    throw new Problem({ what: "--objects needs a cluster", todo: "leave --no-cluster out" }, { exitCode: 2 });
  }
  const report = new Report();
  const [types, loaded] = await Promise.all([checkTypes(resolved, io), load(resolved, io)]);
  report.add(types.findings, types.checked);
  if (loaded instanceof Problem) report.add([loadFinding(loaded)]);
  else await checkOperators(loaded, resolved, options, io, report);
  writeReport(io.stdout, report, { json: options.output === "json", colours: wantsColours(io.stdout, io.env) });
  return hasErrors(report) ? 1 : 0;
}

/** What is found, as it is found. */
class Report implements CheckReport {
  readonly findings: Finding[] = [];
  readonly checked: string[] = [];

  add(findings: readonly Finding[], checked?: string): void {
    this.findings.push(...findings);
    if (checked !== undefined) this.checked.push(checked);
  }

  note(check: Finding["check"], message: string, todo?: string): void {
    this.findings.push({ level: "note", check, place: "", message, todo });
  }
}

/** A file that cannot be loaded is a finding: what the compiler says about it is worth reading too. */
async function load(files: readonly string[], io: ProjectIo): Promise<LoadedOperator[] | Problem> {
  try {
    return await loadOperators(files, io.cwd, io.code?.loader);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function loadFinding({ what, why, todo }: Problem): Finding {
  return { level: "error", check: "load", place: "", message: why === undefined ? what : `${what}: ${why}`, todo };
}

function handlersFinding({ file, operator }: LoadedOperator): Finding {
  const { message, hint } = NO_HANDLERS;
  return { level: "warning", check: "handlers", place: `${file} (${operator.name})`, message, todo: hint };
}

function unseenFindings({ unseen, todo }: HandlerNeeds): Finding[] {
  return unseenTexts(unseen).map((message) => ({ level: "warning", check: "requests", place: "", message, todo }));
}

function asks({ operator }: LoadedOperator): boolean {
  return operator.resources.some(({ handlers }) => handlers.some(({ type }) => type !== "index"));
}

async function checkOperators(
  operators: readonly LoadedOperator[],
  files: readonly string[],
  options: CheckOptions,
  io: ProjectIo,
  report: Report,
): Promise<void> {
  report.add(withoutHandlers(operators).map(handlersFinding));
  const handlers: HandlerNeeds[] = [];
  for (const one of operators) handlers.push(await handlerNeeds(one, operators, undefined, io));
  report.add(handlers.flatMap(unseenFindings), operators.some(asks) ? "requests of handlers" : undefined);
  const kinds = ownKinds(operators);
  const definitions = definitionsOf(operators);
  report.add(schemaFindings(kinds.values()));
  const against = options.against === undefined ? undefined : await readBaseline(options.against, files, io);
  const connection = await reach(options, io, report);
  try {
    const names = [...definitions.keys()];
    const baseline = against ?? (connection && (await fromCluster(connection.client, names)));
    const judged = await judgeDefinitions(kinds);
    if (judged === undefined) await judgeElsewhere(definitions, connection, options.objects === true, report);
    else report.add([...judged.values()].flat(), kinds.size > 0 ? `definitions (${names.join(", ")})` : undefined);
    const conversions = await checkConversionsOf(operators, (name) => (judged?.get(name) ?? []).length === 0);
    report.add(conversions.findings, conversions.checked);
    const taken = new Map([...definitions].filter(([name]) => judged?.get(name)?.length === 0));
    const unharmed = options.objects && connection && judged ? await tryObjects(taken, connection, report) : new Map();
    if (baseline) compare(asConverted(definitions, operators), baseline, unharmed, report);
    if (connection) {
      const { definitions: installed } = await fromCluster(connection.client, names);
      report.add(storedFindings(definitions, installed, against === undefined));
    }
    const asked = handlers.flatMap(({ needs }) => needs);
    if (connection) await checkPermissions(operators, asked, connection, options, report);
  } finally {
    await connection?.client.close();
  }
}

/** The cluster, if one was named or happens to be there. */
async function reach(options: CheckOptions, io: ProjectIo, report: Report): Promise<Connection | undefined> {
  if (options.cluster === false) return undefined;
  try {
    return await connect(options, io, () => {});
  } catch (error) {
    if (options.context !== undefined || options.kubeconfig !== undefined || options.objects) throw error;
    const { what } = tell(error);
    report.note("permissions", `no cluster is looked at: ${what}`, "choose one with --context or --kubeconfig");
    return undefined;
  }
}

/** Holds the stored objects against definitions that a server takes: how many there are, where all of them fit. */
async function tryObjects(
  taken: ReadonlyMap<string, Definition>,
  connection: Connection,
  report: Report,
): Promise<ReadonlyMap<string, number>> {
  const stored = (await fromCluster(connection.client, [...taken.keys()])).definitions;
  const unharmed = new Map<string, number>();
  let counted = 0;
  await withScratchCluster(async (scratch) => {
    for (const [name, crd] of taken) {
      const old = stored.get(name);
      if (!old) continue;
      await serveDefinition(scratch, crd);
      const found = await judgeObjects(scratch, connection.client, crd, old);
      report.add(found.findings);
      counted += found.objects;
      if (found.findings.length === 0) unharmed.set(name, found.objects);
    }
  });
  report.add([], `${counted} stored ${counted === 1 ? "object" : "objects"}`);
  return unharmed;
}

/** Without the embedded cluster a real one can judge definitions, though no objects. */
async function judgeElsewhere(
  definitions: ReadonlyMap<string, Definition>,
  connection: Connection | undefined,
  objects: boolean,
  report: Report,
): Promise<void> {
  const todo = "npm install --save-dev @lotse/cluster";
  if (objects) report.note("objects", "stored objects are not checked: the embedded cluster is not installed", todo);
  if (!connection) {
    report.note("definitions", "definitions are not tried out: the embedded cluster is not installed", todo);
    return;
  }
  for (const crd of definitions.values()) {
    try {
      await new CustomResourceDefinition(crd, connection.client).apply({ dryRun: true, force: true });
    } catch (error) {
      const level: FindingLevel = error instanceof InvalidError ? "error" : "note";
      const place = crd.spec?.names.kind ?? "";
      report.add([{ level, check: "definitions", place, message: (error as Error).message }]);
    }
  }
  report.add([], "definitions (by the cluster)");
}

const LEVELS: Readonly<Record<DefinitionChange["effect"], FindingLevel>> = {
  broken: "error",
  refused: "error",
  lost: "error",
  altered: "warning",
  rollback: "note",
};

function compare(
  definitions: ReadonlyMap<string, Definition>,
  baseline: Baseline,
  unharmed: ReadonlyMap<string, number>,
  report: Report,
): void {
  for (const [name, crd] of definitions) {
    const old = baseline.definitions.get(name);
    const kind = crd.spec?.names.kind ?? name;
    if (!old) {
      const message =
        baseline.unread === undefined
          ? `is not in ${baseline.name} yet: nothing to compare with`
          : `could not be read from ${baseline.name}: ${baseline.unread}`;
      report.add([{ level: "note", check: "compatibility", place: kind, message }]);
      continue;
    }
    const fitting = unharmed.get(name);
    report.add(compareDefinitions(old, crd).map((change) => changeFinding(kind, change, fitting)));
  }
  // A kind in another group, or by another plural, is another kind; its objects stay behind.
  const gone = [...baseline.definitions.keys()].filter((name) => !definitions.has(name));
  const message = `is in ${baseline.name}, and not declared any more: its objects are left alone`;
  const todo = "keep its group and plural, or move the objects to the new kind";
  report.add(gone.map((place) => ({ level: "warning", check: "compatibility", place, message, todo })));
  if (baseline.definitions.size > 0) report.add([], `compatibility with ${baseline.name}`);
}

/** What may refuse objects is no error where every object that there is has been tried. */
function changeFinding(kind: string, change: DefinitionChange, fitting: number | undefined): Finding {
  const { effect, version, path, what, todo } = change;
  const place = [kind, version, path].filter((part) => part !== undefined && part !== "").join(" ");
  if (effect === "refused" && fitting !== undefined) {
    const message = `${what} (none of the ${fitting} stored objects is affected)`;
    return { level: "warning", check: "compatibility", place, message };
  }
  return { level: LEVELS[effect], check: "compatibility", place, message: what, todo };
}

async function checkPermissions(
  operators: readonly LoadedOperator[],
  asked: readonly Need[],
  { client, user }: Connection,
  { namespace: namespaces }: CheckOptions,
  report: Report,
): Promise<void> {
  const review = await reviewOperators({ operators, client, namespaces, crds: undefined, asked });
  const who = user ?? "the present user";
  if (review.unanswered !== undefined) report.note("permissions", `not all could be looked at: ${review.unanswered}`);
  report.add(
    missingTexts(review).map((text) => ({
      level: "warning",
      check: "permissions",
      place: who,
      message: `may not ${text}`,
    })),
    `permissions of ${who}`,
  );
  if (lacksAny(review)) report.note("permissions", "it needs more rules", "lotse generate rbac FILE");
}
