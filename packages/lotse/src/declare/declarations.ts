import type { KubeBody } from "@lotse/client";
import { isDns1123Label } from "@lotse/client/meta";
import { type AdmissionDeclaration, type AdmissionHandler, type MutateOptions, planAdmission } from "./admission.ts";
import type { Reason } from "./cause.ts";
import type { CheckedChildren } from "./checked-children.ts";
import { type ChildrenOptions, planChildren } from "./children.ts";
import type { DaemonContext, TimerContext } from "./context.ts";
import { DeclaredIds } from "./declared-ids.ts";
import { declarationError } from "./errors.ts";
import type { FieldPath } from "./field-path.ts";
import type { FilterContext } from "./filters.ts";
import type { ActivityHandler, ChangeHandler, DaemonHandler, Handler, IndexHandler, TimerHandler } from "./handler.ts";
import type { IndexHandle, IndexTypes } from "./indexes.ts";
import { type KeptBody, type PathsIn, planKeep } from "./kept.ts";
import type { BodyOf, ObjectOf } from "./kind-types.ts";
import type { ActivityOptions, On } from "./on.ts";
import type {
  ChangeOptions,
  DaemonOptions,
  FieldOptions,
  IndexOptions,
  ObjectHandlerOptions,
  ResourceInput,
  TimerOptions,
} from "./options.ts";
import { planChange, planDaemon, planTimer, readSchedule, refuseMeaningless } from "./plan-handlers.ts";
import { type PolicyDeclaration, type PolicyOptions, planPolicy } from "./policy.ts";
import { filtersOf, functionOf, nameOf, optionsOf } from "./read-options.ts";
import { planReconciler, type ReconcileContext, type ReconcileHandler, type ReconcileOptions } from "./reconcile.ts";
import type { ResourceClass } from "./resource.ts";
import { planRetries } from "./retry.ts";
import { callerFrame } from "./source-location.ts";
import type {
  OperatorScheduleOptions,
  ScheduleContext,
  ScheduledHandler,
  SourceFunction,
  SourceHandler,
  SourceOptions,
} from "./sources.ts";
import type { Conversion } from "./versions.ts";

/** All handlers of one resource. */
export interface ResourceDeclaration {
  readonly resource: ResourceInput;
  readonly handlers: readonly Handler[];
}

/** A handler before it is known where it was declared. */
type WithoutLocation<H> = H extends unknown ? Omit<H, "sourceLocation"> : never;

interface Entry<H = Handler> {
  readonly resource: ResourceInput;
  readonly handlers: H[];
}

/**
 * What the user asked for, collected while the operator's file is loaded. Wrong combinations are refused here, with the
 * place in the source, before anything runs.
 */
export class Declarations {
  readonly #entries = new Map<string, Entry>();
  readonly #activities: ActivityHandler[] = [];
  readonly #sources: SourceHandler[] = [];
  readonly #schedules: ScheduledHandler[] = [];
  readonly #files = new Set<string>();
  readonly #admission = new Map<string, Entry<AdmissionHandler>>();
  readonly #policies: PolicyDeclaration[] = [];
  readonly #conversions = new Map<ResourceClass<unknown, unknown>, Map<string, Conversion>>();
  readonly #ids = new DeclaredIds();

  /** Declares handlers of changes and events. */
  readonly on: On;

  constructor() {
    this.#callerLocation();
    const change =
      (...reasons: Reason[]) =>
      (resource: ResourceInput, ...rest: unknown[]) =>
        this.#change(reasons, resource, rest);
    const lifecycle =
      (type: ActivityHandler["type"]) =>
      (...rest: unknown[]) =>
        this.#declareLifecycle(type, rest);
    this.on = Object.assign(
      (reasons: readonly Reason[], resource: ResourceInput, ...rest: unknown[]) =>
        this.#change(reasons, resource, rest),
      {
        create: change("create"),
        update: change("update"),
        delete: change("delete"),
        resume: change("resume"),
        field: (resource: ResourceInput, ...rest: unknown[]) => this.#field(resource, rest),
        event: (resource: ResourceInput, ...rest: unknown[]) => this.#unremembered("event", resource, rest),
        failure: (resource: ResourceInput, ...rest: unknown[]) => this.#unremembered("failure", resource, rest),
        validate: (resource: ResourceInput, ...rest: unknown[]) => this.#judge("validate", resource, rest),
        mutate: (resource: ResourceInput, ...rest: unknown[]) => this.#judge("mutate", resource, rest),
        convert: (...args: [ResourceClass<unknown, unknown>, string, Conversion]) => this.#convert(...args),
        startup: lifecycle("startup"),
        cleanup: lifecycle("cleanup"),
        login: lifecycle("login"),
        probe: lifecycle("probe"),
        lead: lifecycle("lead"),
        follow: lifecycle("follow"),
      },
    ) as unknown as On;
  }

  /**
   * Calls `handler` again and again for each object.
   *
   * @example
   * ```ts
   * operator.timer(ExchangeRate, { interval: "1h" }, async function refresh({ spec, patch }) {});
   * ```
   */
  timer<R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: TimerOptions<BodyOf<R>, F>,
    handler: (context: TimerContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void {
    const fn = functionOf("timer", [handler]);
    if (typeof options !== "object" || options === null) {
      throw declarationError("a timer needs options", 'write operator.timer(Kind, { interval: "1h" }, handler)');
    }
    optionsOf("timer", "timer", [options, handler]);
    const id = this.#ids.choose("timer", resource, options, fn);
    this.#add(resource, { ...planTimer(options), id, fn: fn as TimerHandler["fn"] });
  }

  /**
   * Runs `handler` beside each object for as long as the object is there; its `signal` says when to end.
   *
   * @example
   * ```ts
   * operator.daemon(Machine, async function poll({ spec, signal, patch, sleep }) {
   *   while (!signal.aborted) {
   *     patch.status.load = await loadOf(spec.address);
   *     await patch.flush();
   *     await sleep("10s");
   *   }
   * });
   * ```
   */
  daemon<R extends ResourceInput>(
    resource: R,
    handler: (context: DaemonContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
  daemon<R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: DaemonOptions<BodyOf<R>, F>,
    handler: (context: DaemonContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
  daemon(resource: ResourceInput, ...rest: unknown[]): void {
    const fn = functionOf("daemon", rest);
    const options = optionsOf<DaemonOptions<KubeBody>>("daemon", "daemon", rest);
    const id = this.#ids.choose("daemon", resource, options, fn);
    this.#add(resource, { ...planDaemon(options), id, fn: fn as DaemonHandler["fn"] });
  }

  /**
   * Keeps an index over the objects of a kind, always up to date, filled before any handler runs. Several kinds may
   * feed one index: declare it once for each with the same id. The function must not have side effects.
   *
   * @example
   * ```ts
   * const podsByNode = operator.index(Pod, { id: "podsByNode" }, ({ spec, name }) => ({ [spec.nodeName ?? ""]: name }));
   * operator.on.event(Node, ({ name, indexes }) => console.log(indexes(podsByNode).get(name)));
   * operator.index(Pod, { id: "podsByApp", keep: [] }, ({ labels, name }) => ({ [labels.app ?? ""]: name }));
   * ```
   */
  index<R extends ResourceInput, C>(
    resource: R,
    fn: (context: FilterContext<BodyOf<R>>) => C,
  ): IndexHandle<IndexTypes<C>["key"], IndexTypes<C>["value"]>;
  index<R extends ResourceInput, C, const F extends FieldPath = never>(
    resource: R,
    options: IndexOptions<BodyOf<R>, F> & { readonly keep?: undefined },
    fn: (context: FilterContext<BodyOf<R>>) => C,
  ): IndexHandle<IndexTypes<C>["key"], IndexTypes<C>["value"]>;
  index<R extends ResourceInput, C, const K extends readonly FieldPath[], const F extends FieldPath = never>(
    resource: R,
    options: Omit<IndexOptions<BodyOf<R>, F>, "keep"> & { readonly keep: PathsIn<BodyOf<R>, K> },
    fn: (context: FilterContext<KeptBody<BodyOf<R>, K>>) => C,
  ): IndexHandle<IndexTypes<C>["key"], IndexTypes<C>["value"]>;
  index(resource: ResourceInput, ...rest: unknown[]): IndexHandle<never, never> {
    const fn = functionOf("index", rest);
    const options = optionsOf<IndexOptions<KubeBody>>("index", "index", rest);
    const id = this.#ids.choose("index", resource, options, fn);
    const { errors = "ignored", own = false } = options;
    const kept = planKeep(options.keep);
    const filters = filtersOf(options);
    this.#add(resource, { type: "index", id, errors, own, kept, filters, fn: fn as IndexHandler["fn"] });
    return { id };
  }

  /**
   * Brings each object to what it shall be, whatever has happened: called when the object, or anything that it has read
   * through `get` and `list`, has changed. Must do nothing where nothing is to be done.
   *
   * @example
   * ```ts
   * operator.reconcile(Machine, { owns: [Switch] }, async ({ object, list, patch }) => {
   *   const switches = await list(Switch, { ownedBy: object });
   *   patch.status.positions = switches.map(({ spec }) => spec.position).join(", ");
   * });
   * ```
   */
  reconcile<R extends ResourceInput>(
    resource: R,
    fn: (context: ReconcileContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
  reconcile<R extends ResourceInput, const F extends FieldPath = never>(
    resource: R,
    options: ReconcileOptions<BodyOf<R>, ObjectOf<R>, F>,
    fn: (context: ReconcileContext<BodyOf<R>, ObjectOf<R>>) => unknown,
  ): void;
  reconcile(resource: ResourceInput, ...rest: unknown[]): void {
    const options = optionsOf<ReconcileOptions<KubeBody>>("reconcile", "reconcile", rest);
    this.#reconciler("reconcile", resource, options, functionOf("reconcile", rest), undefined);
  }

  /**
   * Keeps exactly the children that `fn` returns for an object: applies them where they differ, deletes those that are no
   * longer returned, repairs what others change, and reports whether they are ready.
   *
   * @example
   * ```ts
   * operator.children(Site, { owns: [ConfigMap] }, ({ name, spec }) => [
   *   ConfigMap.gen({ name: `${name}-page`, data: { html: spec.html } }),
   * ]);
   * ```
   */
  children<R extends ResourceInput, X>(
    resource: R,
    fn: (context: ReconcileContext<BodyOf<R>, ObjectOf<R>>) => CheckedChildren<X>,
  ): void;
  children<R extends ResourceInput, X, const F extends FieldPath = never>(
    resource: R,
    options: ChildrenOptions<BodyOf<R>, F>,
    fn: (context: ReconcileContext<BodyOf<R>, ObjectOf<R>>) => CheckedChildren<X>,
  ): void;
  children(resource: ResourceInput, ...rest: unknown[]): void {
    const options = optionsOf<ChildrenOptions<KubeBody>>("children", "children", rest);
    const { conditions = true } = options;
    const plan = planChildren(options);
    this.#reconciler("children", resource, { ...options, conditions }, functionOf("children", rest), plan);
  }

  /**
   * Wakes objects for what happens outside of the cluster: their reconcilers, children and timers run, and what waits for
   * its retry is tried. A source that fails is begun again after a while; one that ends has ended.
   *
   * @example
   * ```ts
   * operator.source("mail", async function* ({ signal }) {
   *   for await (const { database } of inbox.messages({ signal })) yield { kind: Database, name: database, why: "mail" };
   * });
   * ```
   */
  source(name: string, fn: SourceFunction): void;
  source(name: string, options: SourceOptions, fn: SourceFunction): void;
  source(name: string, ...rest: unknown[]): void {
    const fn = functionOf("source", rest) as SourceFunction;
    const options = optionsOf<SourceOptions>("source", "source", rest);
    const id = outsideName("source", name, this.#sources);
    this.#sources.push({ id, sourceLocation: this.#callerLocation(), retry: planRetries(options), fn });
  }

  /**
   * Calls `fn` for the operator itself by the clock on the wall: cron's five fields, `"@daily"`, `"@every 1h"`. A run that
   * is still under way is not begun twice.
   *
   * @example
   * ```ts
   * operator.schedule("nightly", "0 3 * * *", async function report({ client, logger }) {
   *   logger.info("machines", { count: (await client.list(Machine, { namespace: "*" }).toArray()).length });
   * });
   * ```
   */
  schedule(name: string, schedule: string | OperatorScheduleOptions, fn: (context: ScheduleContext) => unknown): void {
    const options = typeof schedule === "string" ? { schedule } : schedule;
    functionOf("schedule", [fn]);
    optionsOf("schedule", "schedule", [options, fn]);
    const id = outsideName("schedule", name, this.#schedules);
    const plan = readSchedule(options);
    if (!plan) throw declarationError("a schedule needs to say when", 'write "0 3 * * *" or { schedule: "0 3 * * *" }');
    const sourceLocation = this.#callerLocation();
    this.#schedules.push({ id, sourceLocation, schedule: plan, retry: planRetries(options), fn });
  }

  /**
   * Rules in CEL that the API server itself enforces: no webhook, no certificate, and nothing that could be down. They
   * become a ValidatingAdmissionPolicy, changes a MutatingAdmissionPolicy, each with its binding.
   *
   * @example
   * ```ts
   * operator.policy(Machine, {
   *   id: "size",
   *   rules: [{ expression: "object.spec.size <= 100", message: "no machine is that large" }],
   * });
   * ```
   */
  policy(resource: ResourceInput, options: PolicyOptions): void {
    optionsOf("policy", "policy", [options, undefined]);
    const plan = planPolicy(options ?? {});
    const id = this.#ids.choose("policy", resource, options, { name: "" });
    const sourceLocation = this.#take(resource, "policy", id);
    this.#policies.push({ ...plan, resource, id, sourceLocation });
  }

  /** Handlers of requests, by what they are for, in the order of declaration. */
  get admission(): readonly AdmissionDeclaration[] {
    return [...this.#admission.values()];
  }

  /** Policies, in the order of declaration. */
  get policies(): readonly PolicyDeclaration[] {
    return this.#policies;
  }

  /** Conversions that were declared with `on.convert`, by kind and version. */
  get conversions(): ReadonlyMap<ResourceClass<unknown, unknown>, ReadonlyMap<string, Conversion>> {
    return this.#conversions;
  }

  /** All that anything is declared for, each once: what has handlers, is followed, judged or ruled. */
  get kinds(): readonly ResourceInput[] {
    const named: ResourceInput[] = [
      ...[...this.resources, ...this.admission, ...this.#policies].map(({ resource }) => resource),
      ...this.#conversions.keys(),
    ];
    return [...new Map(named.map((one) => [this.#ids.keyOf(one), one])).values()];
  }

  /** What tells of the world outside, in the order of declaration. */
  get sources(): readonly SourceHandler[] {
    return this.#sources;
  }

  /** What the operator does by the clock, in the order of declaration. */
  get schedules(): readonly ScheduledHandler[] {
    return this.#schedules;
  }

  #reconciler(
    label: string,
    resource: ResourceInput,
    options: ReconcileOptions<KubeBody>,
    fn: (...args: never[]) => unknown,
    children: ReconcileHandler["children"],
  ): void {
    const id = this.#ids.choose(label, resource, options, fn);
    const filters = filtersOf(options);
    const retry = planRetries(options);
    const { param } = options;
    const plan = planReconciler(options);
    const run = fn as ReconcileHandler["fn"];
    this.#add(resource, { type: "reconcile", id, filters, retry, param, ...plan, children, fn: run });
    for (const followed of [...plan.owns, ...plan.watches.map((one) => one.resource)]) this.#entry(followed);
    if (!plan.onDelete && !children?.reverse && !children?.external) return;
    this.#add(resource, {
      type: "change",
      id: `${id}/onDelete`,
      reasons: new Set(["delete"]),
      filters,
      change: undefined,
      retry,
      optional: false,
      deleted: false,
      onGiveUp: "release",
      debounce: undefined,
      param,
      reconciler: id,
      fn: () => {},
    });
  }

  /**
   * The files of the user's source in which something was declared, absolute: first the one that made the operator. As
   * far as the engine tells.
   */
  get files(): readonly string[] {
    return [...this.#files];
  }

  /** The resources that have handlers, or are followed by reconcilers, in the order of their first declaration. */
  get resources(): readonly ResourceDeclaration[] {
    return [...this.#entries.values()];
  }

  /** Handlers of the operator itself, in the order of their declaration. */
  get activities(): readonly ActivityHandler[] {
    return this.#activities;
  }

  #change(reasons: readonly Reason[], resource: ResourceInput, rest: unknown[]): void {
    if (reasons.length === 0) {
      throw declarationError("a handler without a cause is never called", 'write on(["create", "update"], Kind, fn)');
    }
    const label = reasons.join("-");
    const fn = functionOf(label, rest);
    const options = optionsOf<ChangeOptions<KubeBody>>("change", `on.${label}`, rest);
    refuseMeaningless(reasons, label, options);
    const changes = options.field !== undefined && reasons.includes("update");
    this.#addChange(reasons, label, resource, options, fn, changes);
  }

  #field(resource: ResourceInput, rest: unknown[]): void {
    const fn = functionOf("field", rest);
    const options = optionsOf<FieldOptions<KubeBody>>("change", "on.field", rest);
    if (options.field === undefined) {
      throw declarationError("on.field needs a field", 'write on.field(Kind, { field: "spec.size" }, handler)');
    }
    // A change that is pending when the object is deleted is told as well, but it is no reason to hold the object.
    this.#addChange(["create", "update", "delete"], "field", resource, { ...options, optional: true }, fn, true);
  }

  #callerLocation(): string | undefined {
    const frame = callerFrame();
    if (frame) this.#files.add(frame.file);
    return frame?.sourceLocation;
  }

  #addChange(
    reasons: readonly Reason[],
    label: string,
    resource: ResourceInput,
    options: ChangeOptions<KubeBody>,
    fn: (...args: never[]) => unknown,
    changes: boolean,
  ): void {
    if (!options.id && !nameOf(fn)) {
      throw declarationError(
        `on.${label} needs a handler with a name: its work is remembered on objects under it`,
        `write async function publishRate({ spec }) {…} instead of an arrow, or add { id: "publishRate" }`,
      );
    }
    const id = this.#ids.choose(label, resource, options, fn);
    this.#add(resource, { ...planChange(reasons, options, changes), id, fn: fn as ChangeHandler["fn"] });
  }

  /** Handlers that are called once, whatever comes of it. */
  #unremembered(type: "event" | "failure", resource: ResourceInput, rest: unknown[]): void {
    const fn = functionOf(type, rest);
    const options = optionsOf<ObjectHandlerOptions<KubeBody>>(type, `on.${type}`, rest);
    const id = this.#ids.choose(type, resource, options, fn);
    const { param } = options;
    this.#add(resource, { type, id, filters: filtersOf(options), param, fn: fn as never });
  }

  /** Handlers of requests. */
  #judge(type: AdmissionHandler["type"], resource: ResourceInput, rest: unknown[]): void {
    const fn = functionOf(type, rest);
    const options = optionsOf<MutateOptions<KubeBody>>(type, `on.${type}`, rest);
    const plan = planAdmission(`on.${type}`, options);
    const id = this.#ids.choose(type, resource, options, fn);
    const filters = filtersOf(options);
    if (id.split("/").some((part) => part === "" || part === "." || part === "..")) {
      throw declarationError(`the id ${JSON.stringify(id)} cannot be part of a path`, "use letters, digits and dashes");
    }
    const sourceLocation = this.#take(resource, "handler", id);
    const key = this.#ids.keyOf(resource);
    let entry = this.#admission.get(key);
    if (!entry) {
      entry = { resource, handlers: [] };
      this.#admission.set(key, entry);
    }
    entry.handlers.push({ type, id, sourceLocation, filters, ...plan, fn: fn as AdmissionHandler["fn"] });
  }

  #convert(resource: ResourceClass<unknown, unknown>, version: string, conversion: Conversion): void {
    const { kind } = resource.description;
    if (typeof conversion?.to !== "function" || typeof conversion.from !== "function") {
      throw declarationError(
        `the conversion of ${kind} ${version} needs two functions`,
        'write on.convert(Kind, "v1beta1", { to: (old) => ({ spec: … }), from: (stored) => ({ spec: … }) })',
      );
    }
    const names = resource.versions.map(({ name }) => name);
    if (!names.includes(version)) {
      throw declarationError(
        `${kind} has no version ${JSON.stringify(version)}`,
        `its versions are ${names.join(", ")}`,
      );
    }
    if (version === resource.storageVersion) {
      throw declarationError(
        `${kind} is kept as ${version}, which needs no conversion`,
        `declare one for ${names.filter((name) => name !== version).join(", ") || "another version"}`,
      );
    }
    this.#callerLocation();
    const declared = this.#conversions.get(resource) ?? new Map<string, Conversion>();
    if (declared.has(version) || resource.conversions.has(version)) {
      throw declarationError(
        `the conversion of ${kind} ${version} is declared twice`,
        "keep one: in resource({ convert }), or with on.convert",
      );
    }
    this.#conversions.set(resource, declared.set(version, conversion));
  }

  #declareLifecycle(type: ActivityHandler["type"], rest: unknown[]): void {
    const fn = functionOf(type, rest);
    const options = optionsOf<ActivityOptions>("lifecycle", `on.${type}`, rest);
    const id = options.id ?? (nameOf(fn) || `${type}-${this.#activities.length + 1}`);
    const sourceLocation = this.#callerLocation();
    if (this.#activities.some((handler) => handler.type === type && handler.id === id)) {
      throw declarationError(`the id "${id}" is used twice for on.${type}`, 'name one of them with { id: "…" }');
    }
    const { param } = options;
    this.#activities.push({
      type,
      id,
      sourceLocation,
      retry: planRetries(options),
      param,
      fn: fn as ActivityHandler["fn"],
    });
  }

  #entry(resource: ResourceInput): Entry {
    const key = this.#ids.keyOf(resource);
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { resource, handlers: [] };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #add(resource: ResourceInput, declared: WithoutLocation<Handler>): void {
    const entry = this.#entry(resource);
    const sourceLocation = this.#take(resource, "handler", declared.id);
    entry.handlers.push({ ...declared, sourceLocation } as Handler);
  }

  /** An id stands for one handler of a resource, whatever it does. Returns where it is being declared. */
  #take(resource: ResourceInput, what: "handler" | "policy", id: string): string | undefined {
    const sourceLocation = this.#callerLocation();
    this.#ids.take(resource, what, id, sourceLocation);
    return sourceLocation;
  }
}

/** Names of sources and schedules are part of logs, metrics, and of the name of a Lease. */
function outsideName(what: string, name: unknown, others: readonly { readonly id: string }[]): string {
  if (typeof name !== "string" || !isDns1123Label(name)) {
    throw declarationError(
      `${JSON.stringify(name)} is not the name of a ${what}`,
      `use lower case letters, digits and dashes: operator.${what}("nightly", …)`,
    );
  }
  if (others.some(({ id }) => id === name)) {
    throw declarationError(`there are two ${what}s called "${name}"`, "give one of them another name");
  }
  return name;
}
