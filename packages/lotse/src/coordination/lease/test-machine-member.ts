/** A process of a test's world that is nothing but the machine and the fence. */
import { AlreadyExistsError, ConflictError, NotFoundError } from "@lotse/client";
import { type LeaseTimes, leader, planCoordination } from "../../declare/index.ts";
import type { Member, MemberSettings } from "../test-stage.ts";
import { Host, type Outcome, type Shown, type World } from "../test-world.ts";
import { isFenceOpen, type Moment } from "./fence.ts";
import { begin, type LeaseInput, type LeaseState, type LeaseTask, next, requestMs } from "./machine.ts";
import { type LeaseBody, type LeaseClaim, readLease } from "./record.ts";

/** See the module comment. */
export class MachineMember implements Member {
  readonly name: string;
  onLead: () => void = () => undefined;
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #settings: MemberSettings;
  readonly #random: () => number;
  #lives = 0;
  #life: Life | undefined;

  constructor(world: World, name: string, settings: MemberSettings, random: () => number) {
    this.name = name;
    this.#world = world;
    this.#settings = settings;
    this.#random = random;
  }

  get host(): Host | undefined {
    return this.#life?.host;
  }

  get passes(): boolean {
    return this.#life?.isOpen ?? false;
  }

  async start(): Promise<void> {
    if (this.#life) return;
    const { lease, wallMs, letGoMs } = this.#settings;
    const { durationMs, renewMs, retryMs } = planCoordination(leader(lease)) as unknown as LeaseTimes;
    const claim: LeaseClaim = {
      durationMs,
      renewMs,
      retryMs,
      name: "rates",
      namespace: "default",
      identity: lease.identity ?? `${this.name}-${this.#lives}`,
      writer: `${this.name}-${this.#lives++}`,
    };
    const host = new Host(this.#world, wallMs);
    const life = new Life(host, this.#world, claim, letGoMs, this.#random, (settling) => {
      if (settling) this.violations.push(`${this.name} leads while its work before goes on`);
      this.onLead();
    });
    this.#life = life;
    life.begin(() => {
      if (this.#life === life) this.kill();
    });
  }

  kill(): void {
    this.host?.kill();
    this.#life = undefined;
  }

  async leave(): Promise<void> {
    if (this.host?.runs) this.#life?.feed({ is: "release" });
  }
}

/** From its start to its end. */
class Life {
  readonly host: Host;
  readonly #world: World;
  readonly #claim: LeaseClaim;
  readonly #letGoMs: number;
  readonly #random: () => number;
  readonly #onLead: (settling: boolean) => void;
  /** Losses whose work goes on. */
  #letting = 0;
  #state: LeaseState;
  #onEnd: () => void = () => undefined;
  #cancelWait: () => void = () => undefined;
  /** Answers that come later than this many requests ago are not waited for any more. */
  #requests = 0;

  constructor(
    host: Host,
    world: World,
    claim: LeaseClaim,
    letGoMs: number,
    random: () => number,
    onLead: (settling: boolean) => void,
  ) {
    this.host = host;
    this.#world = world;
    this.#claim = claim;
    this.#letGoMs = letGoMs;
    this.#random = random;
    this.#onLead = onLead;
    this.#state = begin(this.#given()).state;
  }

  get isOpen(): boolean {
    return isFenceOpen(this.#state.renewed, this.#moment(), this.#claim.renewMs);
  }

  begin(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#perform({ run: "read" });
    this.host.watch(0, ({ object, version }: Shown) => {
      this.feed({ is: "seen", record: this.#record(object), version: String(version) });
    });
    this.feed({ is: "watched", watched: true });
  }

  feed(input: LeaseInput): void {
    const { state, task, event } = next(this.#state, input, this.#given());
    this.#state = state;
    if (event?.tell === "lead") this.#onLead(this.#letting > 0);
    else if (event && event.why !== "released") this.#letGo();
    if (task) this.#perform(task);
  }

  #letGo(): void {
    this.#letting++;
    this.host.after(this.#letGoMs, () => {
      this.#letting--;
      this.feed({ is: "settled" });
    });
  }

  #perform(task: LeaseTask): void {
    this.#cancelWait();
    switch (task.run) {
      case "end":
        this.#onEnd();
        return;
      case "wait":
        if (!Number.isFinite(task.until)) return;
        this.#cancelWait = this.host.after(task.until - this.host.monotonic(), () => this.feed({ is: "due" }));
        return;
      case "read":
        this.#ask({ method: "GET" }, (body) => ({ is: "read", record: this.#record(body) }));
        return;
      case "write": {
        const sentAt = this.#moment();
        const method = task.verb === "create" ? "POST" : "PUT";
        this.#ask({ method, body: task.body }, (body) => ({ is: "written", record: this.#record(body), sentAt }));
      }
    }
  }

  #ask(request: { method: string; body?: LeaseBody }, heard: (body: LeaseBody) => LeaseInput): void {
    const number = ++this.#requests;
    const over = (input: LeaseInput) => {
      if (number !== this.#requests) return;
      this.#requests++;
      cancel();
      this.feed(input);
    };
    const cancel = this.host.after(requestMs(this.#claim), () => over({ is: "failed" }));
    const sent = { ...request, path: `/leases/${this.#claim.name}` };
    const serve = () => this.#world.serve(sent) as LeaseBody;
    this.host.send(sent, serve, (outcome) => over(inputOf(outcome, request.method, heard)));
  }

  #record(body: LeaseBody) {
    return readLease(body, this.#claim);
  }

  #given() {
    return { now: this.#moment(), random: this.#random, claim: this.#claim };
  }

  #moment(): Moment {
    return { now: this.host.now(), monotonic: this.host.monotonic() };
  }
}

function inputOf(outcome: Outcome<LeaseBody>, method: string, heard: (body: LeaseBody) => LeaseInput): LeaseInput {
  if ("answer" in outcome) return heard(outcome.answer);
  const { error } = outcome;
  if (method === "GET") return error instanceof NotFoundError ? { is: "read", record: undefined } : { is: "failed" };
  const late = error instanceof ConflictError || error instanceof AlreadyExistsError;
  return { is: late ? "conflict" : "failed" };
}
