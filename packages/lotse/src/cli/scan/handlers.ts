/** What the handlers of an operator ask the cluster for, read from the project's own files. */
import path from "node:path";
import type { KindClass } from "@lotse/client";
import { parseSelector, type ResourceInput } from "../../declare/index.ts";
import type { Need } from "../../generate/index.ts";
import type { Operator } from "../../operator/index.ts";
import { type KindFound, KindReader } from "./kinds.ts";
import { Reading } from "./reading.ts";
import { RequestReader } from "./requests.ts";
import { Sorts } from "./sorts.ts";
import type { Compiler, Syntax } from "./syntax.ts";
import { Untyped } from "./untyped.ts";
import { type Gap, Walk, type WalkTools } from "./walk.ts";

/** A handler, as far as a scan is concerned. */
export interface ScannedHandler {
  readonly id: string;
  /** Where it was declared: `folder/operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  /** What is written in the code; undefined when its code was not found. */
  readonly found: { readonly needs: readonly Need[]; readonly gaps: readonly Gap[] } | undefined;
}

/** A handler as the operator has it. */
interface Declared {
  readonly handler: { readonly id: string; readonly sourceLocation: string | undefined };
  readonly resource: ResourceInput | undefined;
  readonly keepsChildren: boolean;
  readonly judges: boolean;
}

/** An operator, perhaps of another copy of the package, which has not all sorts of handlers. */
type Scanned = Pick<Operator, "resources"> &
  Partial<Pick<Operator, "activities" | "sources" | "schedules" | "admission">>;

/** Looks at all handlers of an operator. Places are told relative to `folder`. */
export function scanHandlers(operator: Scanned, compiler: Compiler, folder: string): Map<object, ScannedHandler> {
  const reading = new Reading(compiler);
  const own = compiler.files.filter((file) => reading.originOf(file) === "own");
  const sources = own.flatMap((file) => compiler.source(file) ?? []);
  const sorts = new Sorts(reading);
  const kinds = new KindReader(reading, sorts, sources);
  const index = indexOf(sources, reading);
  const tools: WalkTools = {
    reading,
    kinds,
    requests: new RequestReader(reading, kinds),
    untyped: new Untyped(reading, kinds, sorts),
    placeOf: (node) => {
      const { file, line } = compiler.placeOf(node);
      return `${path.relative(folder, file).replaceAll("\\", "/")}:${line}`;
    },
    implementations: (name) => index.functions.get(name) ?? [],
  };
  const scanned = new Map<object, ScannedHandler>();
  for (const one of declaredIn(operator)) {
    const { handler, resource, keepsChildren, judges } = one;
    const { id, sourceLocation } = handler;
    const calls = (sourceLocation === undefined ? undefined : index.calls.get(sourceLocation)) ?? index.byId.get(id);
    const walk = new Walk(tools, { by: `handler ${id}`, own: ownKinds(resource, kinds), keepsChildren, judges });
    for (const call of calls ?? []) for (const arg of call.arguments ?? []) walk.into(arg);
    const found = calls && { needs: walk.needs, gaps: walk.gaps };
    scanned.set(handler, { id, sourceLocation, found });
  }
  return scanned;
}

/** Handlers that are called with a client: indexes only look at their object. */
function declaredIn({ resources, activities = [], sources = [], schedules = [], admission = [] }: Scanned): Declared[] {
  const ofObjects = resources.flatMap(({ resource, handlers }) =>
    handlers.flatMap((handler): Declared[] => {
      // The part of a reconciler that cleans up is declared with it, and looked at with it.
      const inner = handler.type === "change" && handler.reconciler !== undefined;
      if (handler.type === "index" || inner) return [];
      const keepsChildren = handler.type === "reconcile" && handler.children !== undefined;
      return [{ handler, resource, keepsChildren, judges: false }];
    }),
  );
  const judging = admission.flatMap(({ resource, handlers }) =>
    handlers.map((handler): Declared => ({ handler, resource, keepsChildren: false, judges: true })),
  );
  const ofNone = [...activities, ...sources, ...schedules];
  return [
    ...ofObjects,
    ...judging,
    ...ofNone.map((handler) => ({
      handler,
      resource: undefined,
      keepsChildren: false,
      judges: false,
    })),
  ];
}

/** The kinds of a handler's own object. */
function ownKinds(resource: ResourceInput | undefined, kinds: KindReader): readonly KindFound[] | undefined {
  if (resource === undefined) return [];
  if (typeof resource === "string") return kinds.named(resource);
  if (parseSelector(resource).type !== "exact") return undefined;
  return [typeof resource === "function" ? (resource as KindClass).description : (resource as KindFound)];
}

interface ProjectIndex {
  /** Calls that declare handlers, by their place as the framework tells it. */
  readonly calls: ReadonlyMap<string, readonly Syntax[]>;
  /** The same, by the id that is written in them. */
  readonly byId: ReadonlyMap<string, readonly Syntax[]>;
  /** Methods and functions in objects, by their name. */
  readonly functions: ReadonlyMap<string, readonly Syntax[]>;
}

function indexOf(sources: readonly Syntax[], reading: Reading): ProjectIndex {
  const { compiler } = reading;
  const calls = new Map<string, Syntax[]>();
  const byId = new Map<string, Syntax[]>();
  const functions = new Map<string, Syntax[]>();
  const add = (map: Map<string, Syntax[]>, key: string | undefined, node: Syntax) => {
    if (key !== undefined) map.set(key, [...(map.get(key) ?? []), node]);
  };
  const visit = (node: Syntax): undefined => {
    if (compiler.is(node, "CallExpression") && declares(node, reading)) {
      add(calls, declaredAt(node, compiler), node);
      add(byId, idIn(node, reading), node);
    }
    if (node.body && compiler.is(node, "MethodDeclaration")) add(functions, node.name?.text, node);
    if (node.initializer && compiler.is(node, "PropertyAssignment", "PropertyDeclaration")) {
      const fn = reading.bare(node.initializer);
      if (reading.isFunction(fn)) add(functions, node.name?.text, fn);
    }
    node.forEachChild(visit);
  };
  for (const source of sources) visit(source);
  return { calls, byId, functions };
}

/** `operator.on.create(…)`, `operator.timer(…)`, `on(…)`: whatever is called on an operator with a function. */
function declares(call: Syntax, reading: Reading): boolean {
  const last = call.arguments?.at(-1);
  if (!last) return false;
  for (let at = call.expression; at; at = at.expression) {
    const types = reading.compiler.is(at, "Identifier", "PropertyAccessExpression") ? reading.compiler.typesOf(at) : [];
    const names = types.map((type) => reading.lotseName(type));
    if (names.some((name) => name === "Operator" || name === "Declarations" || name === "On")) return true;
  }
  return false;
}

/** As a stack tells it: the file with its folder, and the line of the last name before the arguments. */
function declaredAt(call: Syntax, compiler: Compiler): string {
  const callee = call.expression ?? call;
  const { file, line } = compiler.placeOf(callee.name ?? callee);
  return `${file.split(/[\\/]/).slice(-2).join("/")}:${line}`;
}

function idIn(call: Syntax, reading: Reading): string | undefined {
  for (const arg of call.arguments ?? []) {
    const literal = reading.objectLiteral(arg);
    const id = literal && reading.literal(reading.property(literal, "id"));
    if (id !== undefined) return id;
  }
  const last = call.arguments?.at(-1);
  const fn = last && reading.bare(last);
  return fn?.name?.text ?? (fn && reading.compiler.is(fn, "Identifier") ? fn.text : undefined);
}
