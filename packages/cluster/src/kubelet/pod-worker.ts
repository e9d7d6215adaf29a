import { type Clock, deepEqual } from "@lotse/client/meta";
import type { EventNote } from "../controllers/index.ts";
import { type ApiObject, objectAt } from "../registry/index.ts";
import {
  backOffNote,
  describePod,
  hookFailedNote,
  killedByHookNote,
  killingNote,
  notStartedNotes,
  probeFailedNote,
  pullingNote,
  startedNotes,
} from "./container-events.ts";
import {
  addedRecords,
  type ContainerRecord,
  crashesAfter,
  type Ended,
  giveUp,
  livingContainer,
  type RestartPolicy,
  recordsOf,
  restartDelay,
  restarts,
  stageOf,
} from "./containers.ts";
import type { NodeImages } from "./images.ts";
import { ContainerLog } from "./log.ts";
import { watchHealth } from "./prober.ts";
import { needsRestart, PodSize, type Shortage } from "./resize.ts";
import {
  type ContainerExit,
  type ContainerRuntime,
  type RunningContainer,
  type Sandbox,
  StartError,
} from "./runtime.ts";
import { type PodObservation, podStatus } from "./status.ts";

/** How a pod's keeper reaches the API. Both resolve when the object is gone, too. */
export interface PodWriter {
  /** Writes the status that `next` makes of the present object. */
  report(next: (pod: ApiObject) => Record<string, unknown>): Promise<void>;
  /** Deletes the object for good. */
  erase(): Promise<void>;
  /** Tells people what happened. */
  event(note: EventNote): void;
  /** Tells people what went wrong where the pod can show it no more. */
  trouble(work: string, error: unknown): void;
}

/** What one pod is run with. */
export interface PodWorkerOptions {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly images: NodeImages;
  readonly writer: PodWriter;
  readonly hostIp: string;
  /** Takes what a changed pod asks for from the node; tells when there is not enough. */
  readonly allocate: (pod: ApiObject) => Shortage | undefined;
}

const RETRY_MS = 1_000;

/**
 * Looks after one pod on this node, from the moment it is bound until it is gone. Whatever happens (a container ends, a
 * timer fires, the object changes) leads to a turn: a look at all containers, which starts what is due, stops what must
 * go, and then writes the status if it is another one.
 */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #records: ContainerRecord[];
  readonly #policy: RestartPolicy;
  readonly #since: number;
  readonly #size: PodSize;
  readonly #closed = new AbortController();
  readonly #timers = new Map<string, () => void>();
  readonly #health = new Map<ContainerRecord, () => void>();
  #pod: ApiObject;
  #sandbox: Sandbox | undefined;
  #opening = false;
  #failure: PodObservation["failure"];
  /** When the pod must be gone, in the clock's monotonic time; set when its deletion began. */
  #deadline: number | undefined;
  #erased = false;
  #again = false;
  #running: Promise<void> | undefined;

  constructor(pod: ApiObject, options: PodWorkerOptions) {
    this.#pod = pod;
    this.#options = options;
    this.#records = recordsOf(pod);
    this.#policy = (objectAt(pod, "spec").restartPolicy ?? "Always") as RestartPolicy;
    this.#since = options.clock.now();
    this.#size = new PodSize(pod);
  }

  get uid(): string {
    return this.#pod.metadata.uid;
  }

  get pod(): ApiObject {
    return this.#pod;
  }

  get sandbox(): Sandbox | undefined {
    return this.#sandbox;
  }

  /** Nothing to do right now; timers and containers may bring work later. */
  get idle(): boolean {
    return this.#running === undefined;
  }

  record(name: string): ContainerRecord | undefined {
    return this.#records.find((record) => record.name === name);
  }

  /** The object has changed. */
  update(pod: ApiObject): void {
    this.#pod = pod;
    this.#records.push(...addedRecords(pod, this.#records));
    this.#obey(objectAt(pod, "status"));
    this.wake();
  }

  /** Whoever writes that a pod has failed decides it: no phase follows that one, so its containers end. */
  #obey({ phase, reason, message }: Readonly<Record<string, unknown>>): void {
    if (phase !== "Failed" || this.#failure || stageOf(this.#records, this.#policy).at === "done") return;
    this.#failure = { reason: String(reason ?? ""), message: String(message ?? "") };
  }

  wake(): void {
    this.#again = true;
    if (this.#running || this.#closed.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again) this.wake();
    });
  }

  /** The object is gone, or the node: everything ends at once. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const cancel of this.#timers.values()) cancel();
    for (const stop of this.#health.values()) stop();
    const ends = this.#records.map((record) => {
      const container = livingContainer(record);
      container?.stop(0);
      return container?.exited;
    });
    await Promise.all(ends);
    for (const record of this.#records) record.log?.end();
    await this.#sandbox?.remove();
  }

  async #run(): Promise<void> {
    // The client that wrote the change gets its answer first.
    await Promise.resolve();
    while (this.#again && !this.#closed.signal.aborted) {
      this.#again = false;
      try {
        this.#turn();
        await this.#report();
      } catch (error) {
        const { namespace, name } = this.#pod.metadata;
        this.#options.writer.trouble(`the kubelet failed at pod ${namespace}/${name}`, error);
        this.#later("retry", RETRY_MS);
      }
    }
  }

  #turn(): void {
    if (this.#pod.metadata.deletionTimestamp !== undefined) this.#stopAll();
    else if (this.#failure) this.#kill();
    else if (!this.#overdue()) {
      this.#resize();
      this.#goOn();
    }
  }

  /** Gives containers what the spec wants now. That it is under way is told before it is done. */
  #resize(): void {
    const { allocate, clock, writer } = this.#options;
    if (this.#size.inProgress) {
      for (const { name, before, after } of this.#size.changing) {
        const record = this.record(name);
        if (record?.state.at === "running" && needsRestart(record.spec, before, after)) {
          if (record.resizing) continue;
          record.resizing = true;
          record.state.container.stop(this.#grace());
        } else this.#size.settle(name);
      }
      if (this.#size.changing.length === 0) writer.event(this.#size.finish(this.#pod));
    }
    for (const note of this.#size.ask(this.#pod, allocate, clock.now())) writer.event(note);
    if (this.#size.inProgress && !this.#records.some(({ resizing }) => resizing)) this.#again = true;
  }

  /** Starts what is due; ends what is left when the pod's work is done. */
  #goOn(): void {
    const stage = stageOf(this.#records, this.#policy);
    if (stage.at === "done") this.#kill();
    else if (this.#sandbox) {
      const aside = this.#records.filter(({ role, runs }) => role === "ephemeral" || (role === "sidecar" && runs > 0));
      const due = stage.at === "initializing" ? [stage.next] : this.#records.filter(({ role }) => role === "main");
      for (const record of new Set([...aside, ...due])) this.#startIfDue(record, this.#sandbox);
    } else this.#open();
  }

  #open(): void {
    if (this.#opening) return;
    this.#opening = true;
    this.#options.runtime.open(this.#pod, this.#closed.signal).then(
      (sandbox) => {
        this.#sandbox = sandbox;
        if (this.#closed.signal.aborted) this.#removeLate(sandbox);
        void sandbox.failed.then((failure) => this.#fail(failure));
        this.wake();
      },
      (error: unknown) => {
        this.#opening = false;
        if (this.#closed.signal.aborted) return;
        const message = `Failed to create pod sandbox: ${messageOf(error)}`;
        this.#options.writer.event({ type: "Warning", reason: "FailedCreatePodSandBox", message });
        this.#later("open", RETRY_MS);
      },
    );
  }

  /** The pod went while its sandbox was being made. */
  #removeLate(sandbox: Sandbox): void {
    const { namespace, name } = this.#pod.metadata;
    sandbox
      .remove()
      .catch((error: unknown) =>
        this.#options.writer.trouble(`what was left of pod ${namespace}/${name} could not be removed`, error),
      );
  }

  #fail(failure: { readonly reason: string; readonly message: string }): void {
    if (this.#closed.signal.aborted || this.#failure) return;
    this.#failure = failure;
    const { reason, message } = failure;
    this.#options.writer.event({ type: "Warning", reason: reason || "Failed", message });
    this.wake();
  }

  /** Whether the pod has been active longer than it may. */
  #overdue(): boolean {
    const limit = objectAt(this.#pod, "spec").activeDeadlineSeconds;
    if (typeof limit !== "number") return false;
    const left = this.#since + limit * 1_000 - this.#options.clock.now();
    if (left > 0) this.#later("deadline", left);
    else
      this.#fail({
        reason: "DeadlineExceeded",
        message: "Pod was active on the node longer than the specified deadline",
      });
    return left <= 0;
  }

  #startIfDue(record: ContainerRecord, sandbox: Sandbox): void {
    if (record.state.at !== "waiting") return;
    const wait = record.state.due - this.#options.clock.monotonic();
    if (wait > 0) {
      this.#later(`start ${record.name}`, wait);
      return;
    }
    const again = record.runs > 0;
    record.state = { at: "starting", reason: record.state.reason };
    record.runs++;
    record.stopping = false;
    const { images, writer } = this.#options;
    const pulls = images.mustPull(record.spec);
    if (pulls) writer.event(pullingNote(record));
    record.previousLog = record.log ?? record.previousLog;
    const log = new ContainerLog(() => this.#options.clock.now());
    const attempt = record.restarts + (again ? 1 : 0);
    const preStopFailed = () => writer.event(hookFailedNote(record, "PreStop"));
    sandbox.start({ pod: this.#pod, container: record.spec, attempt, log, preStopFailed }).then(
      (container) => {
        record.log = log;
        if (again) record.restarts++;
        images.add(record.spec);
        for (const note of startedNotes(record, pulls)) writer.event(note);
        this.#began(record, container);
        void container.exited.then((exit) => this.#ended(record, container.id, exit));
        // When the pod went meanwhile, nothing else would end what just began.
        if (this.#closed.signal.aborted) container.stop(0);
        this.wake();
      },
      (error: unknown) => this.#notStarted(record, error),
    );
  }

  /** A container lives. It counts as running when its hook for the start is done, and is ended when that has failed. */
  #began(record: ContainerRecord, container: RunningContainer): void {
    const since = this.#options.clock.now();
    const runs = () => {
      record.state = { at: "running", container, since };
      this.#watchHealth(record);
    };
    if (container.postStart === undefined) {
      runs();
      return;
    }
    const reason = record.state.at === "starting" ? record.state.reason : "ContainerCreating";
    record.state = { at: "starting", reason, container, since };
    void container.postStart.then((well) => {
      const present = livingContainer(record) === container;
      if (!well) this.#hookFailed(record, container, since);
      else if (present && !record.stopping) runs();
      this.wake();
    });
  }

  #hookFailed(record: ContainerRecord, container: RunningContainer, since: number): void {
    if (this.#closed.signal.aborted) return;
    this.#options.writer.event(hookFailedNote(record, "PostStart"));
    if (livingContainer(record) !== container) return;
    record.state = { at: "starting", reason: "PostStartHookError", container, since };
    if (!record.stopping) this.#options.writer.event(killedByHookNote(record));
    record.stopping = true;
    container.stop(this.#grace());
  }

  #notStarted(record: ContainerRecord, error: unknown): void {
    if (this.#closed.signal.aborted) return;
    const reason = error instanceof StartError ? error.reason : "CreateContainerError";
    // What never began is no run.
    record.runs--;
    record.crashes++;
    const due = this.#options.clock.monotonic() + restartDelay(record.crashes + 1);
    const pull = reason === "ErrImagePull" && record.crashes > 1;
    const message = pull
      ? `Back-off pulling image ${JSON.stringify(record.spec.image)}: ${messageOf(error)}`
      : messageOf(error);
    const shown = pull ? "ImagePullBackOff" : reason;
    record.state = { at: "waiting", reason: shown, message, due };
    for (const note of notStartedNotes(record, shown, messageOf(error))) this.#options.writer.event(note);
    this.wake();
  }

  #watchHealth(record: ContainerRecord): void {
    const { state } = record;
    if (state.at !== "running") return;
    const stop = watchHealth(this.#options.clock, record.spec, state.container.readiness, {
      started: () => {
        record.started = true;
        this.wake();
      },
      ready: (ready) => {
        record.ready = ready;
        this.wake();
      },
      failed: (probe, output) => this.#options.writer.event(probeFailedNote(record, probe, output)),
      unhealthy: (probe) => {
        record.stopping = true;
        this.#options.writer.event(killingNote(record, probe));
        state.container.stop(this.#grace());
      },
    });
    this.#health.set(record, stop);
  }

  #ended(record: ContainerRecord, id: string, exit: ContainerExit): void {
    this.#health.get(record)?.();
    this.#health.delete(record);
    record.log?.end();
    record.ready = false;
    record.started = false;
    const { clock, writer } = this.#options;
    const { state } = record;
    const since = (state.at === "running" || state.at === "starting" ? state.since : undefined) ?? clock.now();
    const ended: Ended = { id, since, until: clock.now(), exit };
    const goesOn = this.#pod.metadata.deletionTimestamp === undefined && !this.#failure && !this.#isOver(record);
    const resized = record.resizing;
    record.resizing = false;
    if (resized) this.#size.settle(record.name);
    if (goesOn && resized) {
      record.last = ended;
      record.state = { at: "waiting", reason: "ContainerCreating", due: clock.monotonic() };
    } else if (goesOn && restarts(record, this.#policy, exit.exitCode)) {
      record.last = ended;
      record.crashes = crashesAfter(record, clock.now() - since);
      const delay = restartDelay(record.crashes);
      const message = `back-off ${delay / 1_000}s restarting failed container=${record.name} pod=${describePod(this.#pod)}`;
      record.state = { at: "waiting", reason: "CrashLoopBackOff", message, due: clock.monotonic() + delay };
      if (delay > 0) writer.event(backOffNote(record, this.#pod));
    } else record.state = { at: "ended", ...ended };
    this.wake();
  }

  /** Sidecars end with the containers that they serve. */
  #isOver(record: ContainerRecord): boolean {
    return record.role === "sidecar" && stageOf(this.#records, this.#policy).at === "done";
  }

  #grace(): number {
    const seconds = objectAt(this.#pod, "spec").terminationGracePeriodSeconds;
    return (typeof seconds === "number" ? seconds : 30) * 1_000;
  }

  #kill(graceMs = this.#grace()): void {
    for (const record of this.#records) {
      const container = livingContainer(record);
      if (container === undefined) continue;
      if (!record.stopping) this.#options.writer.event(killingNote(record));
      record.stopping = true;
      container.stop(graceMs);
    }
  }

  /** The pod is being deleted: its containers get what is left of its grace period, then the object goes. */
  #stopAll(): void {
    const { clock } = this.#options;
    const grace = (this.#pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
    // A second DELETE may shorten the time, and never lengthens it.
    this.#deadline = Math.min(this.#deadline ?? Number.POSITIVE_INFINITY, clock.monotonic() + grace);
    this.#kill(Math.max(0, this.#deadline - clock.monotonic()));
    if (this.#atRest) giveUp(this.#records);
  }

  get #atRest(): boolean {
    return this.#records.every(({ state }) => state.at === "waiting" || state.at === "ended");
  }

  async #report(): Promise<void> {
    const { clock, hostIp, writer } = this.#options;
    // What ends while this is being written is told by the next turn, before the object goes.
    const over = this.#pod.metadata.deletionTimestamp !== undefined && this.#atRest;
    const observed: PodObservation = {
      records: this.#records,
      policy: this.#policy,
      since: this.#since,
      hostIp,
      podIp: this.#sandbox?.ip,
      failure: this.#failure,
      over,
      size: this.#size,
    };
    const status = podStatus(this.#pod, observed, clock.now());
    if (!deepEqual(status, this.#pod.status)) await writer.report((pod) => podStatus(pod, observed, clock.now()));
    if (!over || this.#erased) return;
    await writer.erase();
    this.#erased = true;
  }

  #later(key: string, ms: number): void {
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#options.clock.after(ms, () => {
        this.#timers.delete(key);
        this.wake();
      }),
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
