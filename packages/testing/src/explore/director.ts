/**
 * Directs one run: follows what the operator does and sees, and disturbs it at the one place that the plan names. Without
 * a plan it only follows.
 */
import type { KubeBody, ObjectBody } from "@lotse/client";
import type { VirtualClock } from "@lotse/client/meta";
import type { ObjectChange } from "@lotse/cluster";
import type { Bench } from "../bench.ts";
import {
  type AnswerFate,
  currentActor,
  type ExternalCall,
  type Interference,
  type LineFate,
  type OperatorRequest,
  type RequestFate,
  requestText,
  type WatchLine,
} from "../world/index.ts";
import { Mask, maskedName } from "./mask.ts";
import type { Plan } from "./plans.ts";
import { type ActorObject, type EventPoint, isNoise, type PointKey, type Trace, type WritePoint } from "./trace.ts";

/** An object came or went. */
export interface Turnover {
  readonly type: "created" | "deleted";
  /** `configmaps default/rate-*` */
  readonly key: string;
  readonly step: number;
}

/** A call to the world outside, and when it was made. */
export interface NotedCall {
  readonly call: ExternalCall;
  readonly order: number;
  readonly step: number;
}

/** How often the event loop turns while a request that was on its way reaches the cluster. */
const ARRIVAL_TURNS = 200;

/** So many requests are answered while events are held back. */
const MOST_ASKED = 50;

/** See the module comment. */
export class Director implements Interference {
  readonly mask = new Mask();
  readonly turnover: Turnover[] = [];
  readonly calls: NotedCall[] = [];
  readonly plan: Plan | undefined;
  /** By step: in how many milliseconds something was due at rest. */
  readonly due: (number | undefined)[] = [];
  readonly #clock: VirtualClock;
  readonly #writes: WritePoint[] = [];
  readonly #events: EventPoint[] = [];
  readonly #cached = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #failed = new Set<number>();
  readonly #underWay = new Map<OperatorRequest, WritePoint>();
  /** Versions that the operator has made itself, by resource. */
  readonly #own = new Set<string>();
  readonly #lastVersion = new Map<string, number>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #recreate = new Map<string, KubeBody>();
  #bench: Bench | undefined;
  #order = 0;
  #step = 0;
  #firedAt: { readonly order: number; readonly step: number; readonly life: number } | undefined;
  #untilWrite = false;
  #arrive: (() => void) | undefined;
  #arrived: Promise<void> | undefined;
  #staleShown = false;
  #staleOver = false;
  /** Requests while events are held back. */
  #asked = 0;

  constructor(plan: Plan | undefined, clock: VirtualClock) {
    this.plan = plan;
    this.#clock = clock;
  }

  /** Whom it directs. */
  direct(bench: Bench): void {
    this.#bench = bench;
    bench.cluster.onChange((change) => this.#changed(change));
  }

  /** Where the plan was carried out. */
  get firedAt(): { readonly order: number; readonly step: number; readonly life: number } | undefined {
    return this.#firedAt;
  }

  get step(): number {
    return this.#step;
  }

  get trace(): Trace {
    return {
      writes: this.#writes,
      events: this.#events,
      cached: [...this.#cached],
      steps: this.#step,
      due: this.due,
      failed: this.#failed,
      externals: this.calls.map(({ order }) => order),
    };
  }

  /** Everything has come to rest, and something is due in so many milliseconds. */
  atRest(due: number | undefined): void {
    this.due[this.#step] = due;
  }

  /** What happens from now on is the scenario's next step. */
  nextStep(): void {
    this.#step++;
  }

  /** The plan is carried out now. */
  fire(): void {
    this.#firedAt ??= { order: ++this.#order, step: this.#step, life: this.#life };
  }

  /** A handler has failed. */
  failed(): void {
    this.#failed.add(this.#step);
  }

  external(call: ExternalCall): void {
    this.calls.push({ call, order: ++this.#order, step: this.#step });
  }

  /** Lets go of what was held back, and waits for what is under way; whether there was anything. */
  async stir(): Promise<boolean> {
    const relay = this.#bench?.incarnation?.relay;
    if (relay?.holds) {
      this.#letGo(relay);
      return true;
    }
    if (this.#jobs.size > 0) {
      await Promise.all(this.#jobs);
      return true;
    }
    return false;
  }

  /** However long an operator asks for what it is not shown: no stream lags behind for ever. */
  #bearLag(): void {
    const relay = this.#bench?.incarnation?.relay;
    if (!relay?.holds) this.#asked = 0;
    else if (++this.#asked > MOST_ASKED) this.#letGo(relay);
  }

  #letGo(relay: { release(): void }): void {
    this.#staleOver = true;
    relay.release();
  }

  /** The operator lives again, or the run is over: what was on its way may arrive. */
  letArrive(): void {
    this.#arrive?.();
  }

  async before(request: OperatorRequest): Promise<RequestFate> {
    this.#bearLag();
    if (request.fillsCache) this.#cached.add(request.resource);
    if (this.#arrived && this.#life > (this.#firedAt?.life ?? 0) && !["list", "watch"].includes(request.verb)) {
      await this.#landing();
    }
    if (!request.writes || isNoise(request.resource)) return "send";
    const write = this.#noted(request);
    const { plan } = this;
    if (!plan || !("at" in plan) || this.#firedAt || !isAt(plan.at, write)) return "send";
    if (plan.kind === "crash" && plan.where === "before") {
      this.fire();
      return "crash";
    }
    if (plan.kind === "refuse") {
      this.#underWay.delete(request);
      this.fire();
      return "refuse";
    }
    if (plan.kind === "crash" && plan.where === "late") {
      this.fire();
      const arrives = new Promise<void>((resolve) => {
        this.#arrive = resolve;
      });
      this.#arrived = arrives;
      return { arrives };
    }
    if (plan.kind === "interrupt" && write.actor) {
      this.fire();
      await this.interrupt(write.actor, plan.recreate);
    }
    return "send";
  }

  after(request: OperatorRequest, { status }: { readonly status: number | undefined }): AnswerFate {
    const write = this.#underWay.get(request);
    if (!write) return "deliver";
    this.#underWay.delete(request);
    write.done = { order: ++this.#order, status };
    if (this.#untilWrite) {
      this.#untilWrite = false;
      setImmediate(() => this.#bench?.incarnation?.relay.release());
    }
    const { plan } = this;
    if (!plan || !("at" in plan) || this.#firedAt || !isAt(plan.at, write)) return "deliver";
    if (plan.kind === "crash" && plan.where === "after") {
      this.fire();
      return "crash";
    }
    if (plan.kind !== "lose") return "deliver";
    this.fire();
    return "lose";
  }

  line({ request, type, object }: WatchLine): LineFate {
    const { resource } = request;
    const { namespace, resourceVersion } = object.metadata ?? {};
    const place = [namespace, this.mask.name(object.metadata?.name ?? maskedName(object))].filter(Boolean).join("/");
    const key = { ...this.#count(`${type} ${resource} ${place}`), resource };
    const own = this.#own.has(`${resource} ${resourceVersion}`);
    const event = { ...key, step: this.#step, order: ++this.#order, type, object: `${resource} ${place}`, own };
    this.#events.push(event);
    const { plan } = this;
    if (!plan) return "deliver";
    if ("stale" in plan && plan.stale === resource && this.#staleShown && !this.#staleOver) return "hold";
    if (!("at" in plan) || this.#firedAt || !isAt(plan.at, event)) return "deliver";
    if (plan.kind !== "delay" && plan.kind !== "coalesce" && plan.kind !== "repeat") return "deliver";
    this.fire();
    if (plan.kind !== "delay") return plan.kind;
    this.#untilWrite = plan.until === "write";
    return "hold";
  }

  list({ resource }: OperatorRequest): string | undefined {
    const { plan } = this;
    if (!plan || !("stale" in plan) || plan.stale !== resource || !this.#firedAt || this.#staleOver) return undefined;
    if (this.#life <= this.#firedAt.life) return undefined;
    const newest = this.#lastVersion.get(resource);
    if (newest === undefined) return undefined;
    this.#staleShown = true;
    return String(newest - 1);
  }

  /** Deletes an object under the operator's hands; `recreate`: and makes it again as soon as it is gone. */
  async interrupt(actor: ActorObject, recreate: boolean): Promise<void> {
    const { client } = this.#given;
    const found = await client
      .get(`${actor.apiVersion}/${actor.kind}`, actor.name, { namespace: actor.namespace })
      .catch(() => undefined);
    if (!found) return;
    const { uid = "" } = found.body.metadata ?? {};
    if (recreate) this.#recreate.set(uid, seedOf(found.body as KubeBody));
    await client.delete(found).catch(() => {});
  }

  get #given(): Bench {
    if (!this.#bench) throw new Error("the director has nobody to direct");
    return this.#bench;
  }

  get #life(): number {
    return this.#bench?.lives ?? 0;
  }

  /** What was on its way when the operator died reaches the cluster before its next life has asked for anything but lists. */
  async #landing(): Promise<void> {
    const { requests } = this.#given.cluster;
    const before = requests.entries.length;
    this.#arrived = undefined;
    this.letArrive();
    for (let i = 0; i < ARRIVAL_TURNS && requests.entries.length === before; i++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #count(label: string): PointKey {
    const nth = (this.#counts.get(label) ?? 0) + 1;
    this.#counts.set(label, nth);
    return { label, nth };
  }

  #noted(request: OperatorRequest): WritePoint {
    const { name } = request;
    const label = requestText(name === undefined ? request : { ...request, name: this.mask.name(name) });
    const actor = currentActor.getStore();
    const { object } = actor ?? {};
    const write: WritePoint = {
      ...this.#count(label),
      step: this.#step,
      order: ++this.#order,
      resource: request.resource,
      verb: request.verb,
      subresource: request.subresource,
      at: this.#clock.monotonic(),
      actor: object && {
        apiVersion: object.apiVersion,
        kind: object.kind,
        namespace: object.namespace,
        name: object.name,
      },
      handlers: actor?.handlers ?? [],
      deleting: object?.uid !== undefined && this.#deleting.has(object.uid),
      done: undefined,
    };
    this.#writes.push(write);
    this.#underWay.set(request, write);
    return write;
  }

  readonly #deleting = new Set<string>();

  #changed({ type, resource, resourceVersion, object }: ObjectChange): void {
    const body = object as ObjectBody;
    const { uid = "", namespace, name = "", deletionTimestamp } = body.metadata ?? {};
    this.#lastVersion.set(resource, Number(resourceVersion));
    if (type === "created") this.mask.created(resource, body);
    if (deletionTimestamp !== undefined) this.#deleting.add(uid);
    if (type === "deleted") this.mask.deleted(uid);
    for (const request of this.#underWay.keys()) {
      const isIts = request.resource === resource && (request.namespace ?? namespace) === namespace;
      if (isIts && (request.name ?? name) === name) this.#own.add(`${resource} ${resourceVersion}`);
    }
    if (type === "updated" || isNoise(resource)) return;
    const masked = maskedName(body);
    const key = [resource, [namespace, masked].filter(Boolean).join("/")].join(" ");
    this.turnover.push({ type, key, step: this.#step });
    const again = type === "deleted" ? this.#recreate.get(uid) : undefined;
    if (again) this.#makeAgain(uid, again);
  }

  #makeAgain(uid: string, body: KubeBody): void {
    this.#recreate.delete(uid);
    const job = this.#given.client
      .create(body)
      .then(() => {})
      .catch(() => {})
      .finally(() => this.#jobs.delete(job));
    this.#jobs.add(job);
  }
}

function isAt(at: PointKey, point: PointKey): boolean {
  return at.label === point.label && at.nth === point.nth;
}

/** What somebody would apply to have such an object again. */
function seedOf(body: KubeBody): KubeBody {
  const { status: _, metadata = {}, ...rest } = structuredClone(body) as KubeBody & { status?: unknown };
  const { name, namespace, labels, annotations } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !/lotse\.dev\//.test(key));
  return {
    ...rest,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
    },
  } as KubeBody;
}
