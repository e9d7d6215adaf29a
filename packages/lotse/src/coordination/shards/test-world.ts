/**
 * A world in which members of a sharded operator meet: an API server that keeps Leases, requests that are slow, lost or land
 * after their senders have given up, watches that lag, skip and go back, processes that are stopped, asleep, cut off or dead,
 * and clocks that jump. Time is virtual and everything is decided by one seed. A witness looks after every event: it knows
 * the real time, and sees into all processes.
 */
import { isFenceOpen, requestMs } from "../lease/index.ts";
import {
  BEGINNING,
  type Claim,
  heldOf,
  type Member,
  type MemberInput,
  type MemberState,
  type MemberTask,
  next,
  ownedOf,
  type Seat,
  SLICES,
} from "./index.ts";

/** The times of every Lease there. */
export const TIMES = { durationMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

/** Numbers in [0, 1) out of a seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NOBODY = -1;

interface Happening {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** The Leases, as an API server with one revision for all of them keeps them. */
class Server {
  readonly log: (readonly Seat[])[] = [[]];
  readonly #seats = new Map<number, Seat>();
  #uids = 0;

  get revision(): number {
    return this.log.length - 1;
  }

  get(seat: number): Seat | undefined {
    return this.#seats.get(seat);
  }

  /** Compare and swap: where the seat is not as it was seen, nothing happens. */
  write(
    seat: number,
    before: Seat | undefined,
    change: Omit<Seat, "seat" | "uid" | "version" | "record">,
  ): Seat | undefined {
    const now = this.#seats.get(seat);
    if (now?.version !== before?.version || now?.uid !== before?.uid) return undefined;
    const version = String(this.log.length);
    const written = { ...change, seat, uid: now?.uid ?? `lease-${++this.#uids}`, version } as Seat;
    this.#seats.set(seat, written);
    this.#note();
    return written;
  }

  delete(seat: number): void {
    if (this.#seats.delete(seat)) this.#note();
  }

  #note(): void {
    this.log.push([...this.#seats.values()]);
  }
}

/** One process. */
export class Process {
  readonly world: World;
  readonly member: Member;
  state: MemberState = BEGINNING;
  alive = true;
  /** Released, and over. */
  left = false;
  stopped = false;
  cutOff = false;
  stalled = false;
  slow = false;
  loseRequests = 0;
  loseAnswers = 0;
  /** How far its wall clock is from the truth, and how much its monotonic clock has missed. */
  wallOffset = 0;
  missed = 0;
  asleepSince: number | undefined;
  /** Slices that something runs for. */
  readonly running = new Uint8Array(SLICES);
  requests = 0;
  /** How long running turns take to end, at most. */
  drainMs = 3_000;
  #slept = false;
  #setBack = false;
  #revision = 0;
  #backlog: (() => void)[] = [];
  #wake = 0;
  #told: Uint8Array = new Uint8Array(SLICES);
  #calls: { readonly id: number | undefined }[] = [];
  #calling = false;

  /** It knows the objects after `warmMs`. */
  constructor(world: World, name: string, rule: string, warmMs: number) {
    this.world = world;
    this.member = { run: name, rule, ...TIMES };
    this.look();
    if (Number.isFinite(warmMs)) world.at(world.now + warmMs, () => this.reach(() => this.feed({ is: "warm" })));
  }

  get moment() {
    const now = this.asleepSince ?? this.world.now;
    return { monotonic: now - this.missed, now: this.world.now + this.wallOffset };
  }

  /** Whether a write about the slice would leave the process at this moment. */
  passes(slice: number): boolean {
    return this.isOpen() && heldOf(this.state)[slice] === 1;
  }

  isOpen(): boolean {
    const { stay } = this.state;
    if (!this.alive || this.stopped) return false;
    return isFenceOpen(stay?.renewed, this.moment, TIMES.renewMs);
  }

  owned(): Readonly<Uint8Array> {
    return this.alive && !this.left ? ownedOf(this.state, this) : new Uint8Array(SLICES);
  }

  /** Something reaches the process: at once, or when it goes on. */
  reach(what: () => void): void {
    if (!this.alive) return;
    if (this.stopped) this.#backlog.push(what);
    else what();
  }

  feed(input: MemberInput): void {
    if (this.left) return;
    const { now } = this.world;
    const step = next(this.state, input, { now: this.moment, random: this.world.random, member: this.member });
    this.state = step.state;
    if (this.state.over) this.left = true;
    const wake = ++this.#wake;
    if (Number.isFinite(step.wakeAt)) {
      // Whole milliseconds, as timers have them: less than the least that a number can tell apart would be now, for ever.
      const ms = Math.max(0, Math.ceil(step.wakeAt - this.moment.monotonic));
      this.world.at(now + ms, () => this.reach(() => wake === this.#wake && this.feed({ is: "due" })));
    }
    for (const task of step.tasks) this.#perform(task);
    this.#compare();
  }

  /** The watch shows the newest that there is. */
  look(): void {
    const { world } = this;
    const { revision } = world.server;
    if (this.stalled || this.cutOff || this.left) return;
    world.at(world.now + world.latency(false), () => this.show(revision));
  }

  /** The watch shows what was there at a revision; a list may even go back. */
  show(revision: number, back = false): void {
    if (this.stalled || this.cutOff || (revision < this.#revision && !back)) return;
    this.#revision = revision;
    const seats = this.world.server.log[revision] as readonly Seat[];
    this.reach(() => this.feed({ is: "observed", seats }));
  }

  /**
   * Stopped; asleep with the whole machine, its monotonic clock stands still. A machine that sleeps and whose clock is set
   * back in the same ten seconds is no part of this world: no process could know how much time has passed.
   */
  stop(asleep: boolean): void {
    if (this.stopped || !this.alive) return;
    this.stopped = true;
    if (!asleep || this.#setBack) return;
    this.asleepSince = this.world.now;
    this.#slept = true;
  }

  setClock(by: number): void {
    if (by < 0 && this.#slept) return;
    this.wallOffset += by;
    if (by < 0) this.#setBack = true;
  }

  /** It goes on: what comes first is a write that was about to leave, and then everything that has waited. */
  goOn(): void {
    if (!this.stopped) return;
    if (this.asleepSince !== undefined) this.missed += this.world.now - this.asleepSince;
    this.asleepSince = undefined;
    this.stopped = false;
    this.world.witness();
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const what of waiting) this.reach(what);
  }

  kill(): void {
    this.alive = false;
    this.running.fill(0);
  }

  /** A clean stop: turns end, then the seat is given back. */
  leave(): void {
    this.reach(() => {
      this.feed({ is: "leave" });
      const end = () => {
        this.running.fill(0);
        this.feed({ is: "release" });
      };
      this.world.at(this.world.now + this.world.random() * this.drainMs, () => this.reach(end));
    });
  }

  #perform(task: MemberTask): void {
    const { server } = this.world;
    const said = ({ epoch, view, joining }: Claim, writer: string) => ({
      holder: this.member.run,
      writer,
      durationMs: TIMES.durationMs,
      epoch,
      view,
      joining,
      rule: this.member.rule,
    });
    const empty = (before: Seat) => ({ ...before, holder: undefined, writer: undefined, view: [], joining: false });
    const sentAt = this.moment;
    const written = (seat: Seat | undefined): MemberInput =>
      seat ? { is: "written", seat, sentAt } : { is: "conflict" };
    switch (task.run) {
      case "take":
        this.#request(() => written(server.write(task.seat, task.before, said(task.said, task.writer))));
        break;
      case "write":
        this.#request(() => written(server.write(task.before.seat, task.before, said(task.said, task.writer))));
        break;
      case "read":
        this.#request(() => ({ is: "read", seat: server.get(task.seat) }));
        break;
      case "empty":
        this.#request(() =>
          server.write(task.before.seat, task.before, empty(task.before)) ? { is: "emptied" } : { is: "conflict" },
        );
        break;
      case "expel": {
        const { before } = task;
        const done: MemberInput = { is: "expelled", seat: before.seat };
        this.#request(() => {
          server.write(before.seat, before, empty(before));
          return done;
        }, done);
        break;
      }
      case "let go":
        this.#call(task.id);
    }
  }

  /** A request that lands late, or not, and whose answer comes late, or not. */
  #request(land: () => MemberInput, failed: MemberInput = { is: "failed" }): void {
    this.requests++;
    const { world } = this;
    let over = false;
    const end = (input: MemberInput) => {
      if (over) return;
      over = true;
      this.reach(() => this.feed(input));
    };
    world.at(world.now + requestMs(TIMES), () => end(failed));
    if (this.cutOff || this.loseRequests-- > 0) return;
    this.loseRequests = Math.max(0, this.loseRequests);
    world.at(world.now + world.latency(this.slow), () => {
      if (this.cutOff) return;
      const input = land();
      world.changed();
      if (this.loseAnswers-- > 0) return;
      this.loseAnswers = 0;
      world.at(world.now + world.latency(this.slow), () => !this.cutOff && end(input));
    });
  }

  /** Tells the engine when what is owned has changed. */
  #compare(): void {
    const owned = this.owned();
    if (owned.every((one, slice) => one === this.#told[slice])) return;
    this.#told = Uint8Array.from(owned);
    this.#call(undefined);
  }

  #call(id: number | undefined): void {
    this.#calls.push({ id });
    if (!this.#calling) this.#answerCalls();
  }

  /** The engine: takes up what is owned, ends what is not, and answers when that has ended. Calls follow each other. */
  #answerCalls(): void {
    const call = this.#calls.shift();
    this.#calling = call !== undefined;
    if (!call) return;
    const owned = this.owned();
    const lost = this.running.map((one, slice) => one & ~(owned[slice] as number));
    owned.forEach((one, slice) => {
      if (one === 1) this.running[slice] = 1;
    });
    const ends = () => {
      lost.forEach((one, slice) => {
        if (one === 1) this.running[slice] = 0;
      });
      if (call.id !== undefined) this.feed({ is: "let go", id: call.id });
      this.#answerCalls();
    };
    const ms = lost.includes(1) ? this.world.random() * this.drainMs : 0;
    this.world.at(this.world.now + ms, () => this.reach(ends));
  }
}

/** See the module comment. */
export class World {
  now = 0;
  readonly random: () => number;
  readonly server = new Server();
  readonly processes: Process[] = [];
  /** How often each slice has changed its owner. */
  readonly moves = new Uint16Array(SLICES);
  /** No request takes long. */
  swift = false;
  readonly #owners = new Int16Array(SLICES).fill(NOBODY);
  readonly #passing = new Int16Array(SLICES);
  readonly #working = new Int16Array(SLICES);
  #happenings: Happening[] = [];
  #order = 0;

  constructor(seed: number) {
    this.random = numbers(seed);
  }

  get living(): Process[] {
    return this.processes.filter(({ alive, left }) => alive && !left);
  }

  start(rule = "uid", warmMs = this.random() * 3_000): Process {
    const process = new Process(this, `member-${this.processes.length}`, rule, warmMs);
    this.processes.push(process);
    return process;
  }

  at(at: number, run: () => void): void {
    const happening = { at, order: this.#order++, run };
    let index = this.#happenings.length;
    while (index > 0 && (this.#happenings[index - 1] as Happening).at <= at) index--;
    this.#happenings.splice(index, 0, happening);
  }

  /** Mostly some milliseconds; now and then much more. */
  latency(slow: boolean): number {
    const draw = this.random();
    if (slow) return 500 + draw * 12_000;
    return draw < 0.05 && !this.swift ? 200 + this.random() * 1_500 : 1 + this.random() * 30;
  }

  advance(ms: number): void {
    const target = this.now + ms;
    for (let first = this.#happenings.at(-1); first && first.at <= target; first = this.#happenings.at(-1)) {
      this.#happenings.pop();
      this.now = first.at;
      first.run();
      this.witness();
    }
    this.now = target;
    this.witness();
  }

  /** Watches show what was written. */
  changed(): void {
    for (const process of this.living) process.look();
  }

  /** Everything goes on and is reached again. */
  calm(): void {
    for (const process of this.living) {
      process.cutOff = false;
      process.stalled = false;
      process.slow = false;
      process.loseRequests = 0;
      process.loseAnswers = 0;
      process.goOn();
      process.look();
    }
  }

  /** Never may two write about one slice, nor may anything run for it in two processes that may write. */
  witness(): void {
    this.#passing.fill(NOBODY);
    this.#working.fill(NOBODY);
    this.processes.forEach((process, index) => {
      if (!process.isOpen()) return;
      const held = heldOf(process.state);
      for (let slice = 0; slice < SLICES; slice++) {
        if (held[slice] === 1) this.#note(this.#passing, "may both write", slice, index);
        if (process.running[slice] === 1) this.#note(this.#working, "both work", slice, index);
      }
    });
    for (let slice = 0; slice < SLICES; slice++) {
      const owner = this.#working[slice] as number;
      if (owner === NOBODY || owner !== this.#passing[slice] || owner === this.#owners[slice]) continue;
      if (this.#owners[slice] !== NOBODY) this.moves[slice] = (this.moves[slice] as number) + 1;
      this.#owners[slice] = owner;
    }
  }

  #note(found: Int16Array, what: string, slice: number, index: number): void {
    const other = found[slice] as number;
    if (other !== NOBODY) this.#accuse(what, slice, [this.processes[other], this.processes[index]] as Process[]);
    found[slice] = index;
  }

  #accuse(what: string, slice: number, processes: readonly Process[]): never {
    const names = processes.map(({ member, state }) => {
      const { seat, claims = [] } = state.stay ?? {};
      const said = claims.map(({ epoch, view }) => `${epoch}: [${view.join()}]`);
      return `${member.run} on seat ${seat} claims ${said.join(", ")}`;
    });
    throw new Error(`at ${this.now} ms two ${what} on slice ${slice}: ${names.join("; ")}`);
  }
}
