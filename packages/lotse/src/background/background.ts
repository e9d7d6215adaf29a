import type { Aborted, DaemonHandler, TimerHandler } from "../declare/index.ts";
import {
  type BackgroundTurn,
  type BackgroundWork,
  isDeleting,
  type ObjectMemory,
  type Standing,
} from "../turn/index.ts";
import type { Daemon } from "./daemon.ts";
import { retryDaemons, stopDaemons, updateDaemons } from "./daemons.ts";
import { runTimers } from "./run-timers.ts";
import { retriedTimer, type TimerState, timerStanding, wokenTimer } from "./timers.ts";

/** What goes on for one object. */
interface ObjectWork {
  readonly timers: Map<string, TimerState>;
  readonly daemons: Map<string, Daemon>;
}

/** Timers and daemons of one kind. */
export class Background implements BackgroundWork {
  readonly #timers: readonly TimerHandler[];
  readonly #daemons: readonly DaemonHandler[];
  /** Goes with the memory of its object. */
  readonly #work = new WeakMap<ObjectMemory, ObjectWork>();
  readonly looksAnywhere: boolean;

  constructor(timers: readonly TimerHandler[], daemons: readonly DaemonHandler[]) {
    this.#timers = timers;
    this.#daemons = daemons;
    this.looksAnywhere = [...timers, ...daemons].some(({ filters }) => (filters.when ?? filters.field) !== undefined);
  }

  async runDue(turn: BackgroundTurn): Promise<number | undefined> {
    const work = this.#of(turn.memory);
    const deleting = isDeleting(turn.body);
    const nextAt = deleting ? undefined : await runTimers(turn, this.#timers, work.timers);
    updateDaemons(turn, this.#daemons, work.daemons, deleting);
    return nextAt;
  }

  async stop(memory: ObjectMemory, why: Aborted["why"], message: string): Promise<void> {
    const work = this.#work.get(memory);
    if (work) await stopDaemons(work.daemons, why, message);
  }

  standings(memory: ObjectMemory): readonly Standing[] {
    const work = this.#work.get(memory);
    if (!work) return [];
    const timers = [...work.timers].map(([id, state]) => timerStanding(id, state));
    const daemons = [...work.daemons.values()].map(({ standing }) => standing);
    return [...timers, ...daemons].filter((one) => one !== undefined);
  }

  retry(memory: ObjectMemory): readonly string[] {
    const work = this.#work.get(memory);
    if (!work) return [];
    const retried = retryDaemons(work.daemons);
    for (const [id, state] of work.timers) {
      const now = retriedTimer(state);
      if (now === state) continue;
      work.timers.set(id, now);
      retried.push(id);
    }
    return retried;
  }

  wake(memory: ObjectMemory): void {
    const work = this.#work.get(memory);
    if (!work) return;
    for (const daemon of work.daemons.values()) daemon.hurry();
    for (const [id, state] of work.timers) work.timers.set(id, wokenTimer(state));
  }

  #of(memory: ObjectMemory): ObjectWork {
    let work = this.#work.get(memory);
    if (!work) {
      work = { timers: new Map(), daemons: new Map() };
      this.#work.set(memory, work);
    }
    return work;
  }
}
