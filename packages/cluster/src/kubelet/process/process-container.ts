import type { Clock } from "@lotse/client/meta";
import type { ByteSink } from "../../bytes/index.ts";
import { isRecord, objectAt } from "../../registry/index.ts";
import type { ContainerLog, LogStream } from "../log.ts";
import type { CommandStreams, ContainerExit, Readiness, RunningContainer } from "../runtime.ts";
import { type Child, drain } from "./process-child.ts";
import { perform, performHook } from "./process-probe.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What one container is run with, as a process of this machine. */
export interface ProcessContainerOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly spec: Fields;
  readonly log: ContainerLog;
  /** Undefined: the container does nothing by itself. */
  readonly main: Child | undefined;
  /** Starts another process in the same place. Throws when there is no such program. */
  readonly spawn: (command: readonly string[], tty: boolean, stdin: boolean) => Child;
  /** What the container has left as its last words. */
  readonly message: () => Promise<string>;
  /** The hook for the end has failed. */
  readonly preStopFailed: () => void;
}

const LONGEST_MESSAGE = 4_096;
/** So much of what a probe wrote is told. */
const LONGEST_OUTPUT = 10_240;
/** What a container has to end by itself when its hook has used up all of its time. */
const SHORTEST_GRACE = 2_000;
const LAST_WORDS = { tailLines: 80, bytes: 2_048 };

/** One run of a container as a process. */
export class ProcessContainer implements RunningContainer {
  readonly id: string;
  readonly exited: Promise<ContainerExit>;
  readonly readiness: Readiness;
  readonly postStart: Promise<boolean> | undefined;
  readonly #options: ProcessContainerOptions;
  readonly #others = new Set<Child>();
  readonly #attached = new Set<CommandStreams>();
  #release: () => void = () => {};
  #stopping = false;
  /** Its hook for the end is under way. */
  #leaving = false;
  #deadline = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};
  #over = false;

  constructor(options: ProcessContainerOptions) {
    this.#options = options;
    this.id = options.id;
    this.exited = this.#live();
    this.readiness = options.main
      ? { by: "probes", probe: (probe) => perform(probe, options.spec, (command) => this.#runQuietly(command)) }
      : { by: "itself", onChange: (listener) => listener(true) };
    const { postStart } = objectAt(options.spec, "lifecycle");
    this.postStart = isRecord(postStart) ? this.#hook(postStart) : undefined;
  }

  stop(graceMs: number): void {
    if (this.#over) return;
    const { clock } = this.#options;
    if (!this.#stopping) {
      this.#stopping = true;
      void this.#askToEnd(graceMs > 0);
    }
    const deadline = clock.monotonic() + graceMs;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#cancel();
    this.#cancel = clock.after(graceMs, () => this.#timeIsUp(graceMs > 0));
  }

  /** A container whose hook has taken all the time is asked to end, and gets a moment for it. */
  #timeIsUp(gently: boolean): void {
    if (!this.#leaving || !gently) {
      this.#kill();
      return;
    }
    this.#leaving = false;
    this.#signal();
    this.#cancel = this.#options.clock.after(SHORTEST_GRACE, () => this.#kill());
  }

  async exec(command: readonly string[], streams: CommandStreams): Promise<number> {
    let child: Child;
    try {
      child = this.#options.spawn(command, streams.tty, streams.stdin !== undefined);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`error executing command in container: failed to exec in container: ${why}`);
    }
    this.#others.add(child);
    streams.onResize((size) => child.resize(size));
    const leave = () => child.kill();
    streams.signal.addEventListener("abort", leave);
    if (streams.stdin) void child.feed(streams.stdin);
    const outputs = [
      drain(child.stdout, streams.stdout),
      drain(child.stderr, streams.tty ? streams.stdout : streams.stderr),
    ];
    const { exitCode } = await child.exited;
    await Promise.allSettled(outputs);
    streams.signal.removeEventListener("abort", leave);
    this.#others.delete(child);
    return exitCode;
  }

  async attach(streams: CommandStreams): Promise<number> {
    const { main, spec } = this.#options;
    this.#attached.add(streams);
    if (main) {
      streams.onResize((size) => main.resize(size));
      if (streams.stdin && spec.stdin === true) void main.feed(streams.stdin, spec.stdinOnce === true);
    }
    const gone = new Promise<ContainerExit>((resolve) => {
      streams.signal.addEventListener("abort", () => resolve({ exitCode: 0 }));
    });
    const { exitCode } = await Promise.race([this.exited, gone]);
    this.#attached.delete(streams);
    return exitCode;
  }

  async #live(): Promise<ContainerExit> {
    const { main } = this.#options;
    let exitCode = 0;
    if (main) {
      const outputs = [drain(main.stdout, this.#tee("stdout")), drain(main.stderr, this.#tee("stderr"))];
      exitCode = (await main.exited).exitCode;
      await Promise.allSettled(outputs);
    } else {
      await new Promise<void>((resolve) => {
        this.#release = resolve;
      });
    }
    this.#over = true;
    this.#cancel();
    for (const child of this.#others) child.kill();
    return { exitCode, message: await this.#lastWords(exitCode) };
  }

  /** To the log, and to everybody who is attached. */
  #tee(stream: LogStream): ByteSink {
    return {
      write: async (chunk) => {
        this.#options.log.write(stream, chunk);
        const writes = [...this.#attached].map((one) => (one.tty ? one.stdout : one[stream])?.write(chunk));
        await Promise.all(writes);
      },
    };
  }

  /** Hooks run where there is time for them. */
  async #askToEnd(hasTime: boolean): Promise<void> {
    const { preStop } = objectAt(this.#options.spec, "lifecycle");
    if (isRecord(preStop) && hasTime) {
      this.#leaving = true;
      const well = await this.#hook(preStop);
      if (!well) this.#options.preStopFailed();
      if (!this.#leaving) return;
      this.#leaving = false;
    }
    this.#signal();
  }

  #signal(): void {
    const { main, spec } = this.#options;
    const { stopSignal = "SIGTERM" } = objectAt(spec, "lifecycle");
    if (main) main.signal(stopSignal as NodeJS.Signals);
    else this.#release();
  }

  #kill(): void {
    this.#options.main?.kill();
    this.#release();
  }

  /** Whether all went well in a hook. Never rejects. */
  async #hook(action: Fields): Promise<boolean> {
    const { seconds } = objectAt(action, "sleep");
    if (typeof seconds !== "number") {
      return (await performHook(action, this.#options.spec, (command) => this.#runQuietly(command))) === undefined;
    }
    const slept = new Promise<boolean>((resolve) => this.#options.clock.after(seconds * 1_000, () => resolve(true)));
    return Promise.race([slept, this.exited.then(() => false)]);
  }

  async #runQuietly(command: readonly string[]): Promise<{ exitCode: number; output: string }> {
    let output = "";
    const decoder = new TextDecoder();
    const sink: ByteSink = {
      write: async (chunk) => {
        if (output.length < LONGEST_OUTPUT) output += decoder.decode(chunk, { stream: true });
      },
    };
    const exitCode = await this.exec(command, {
      stdin: undefined,
      stdout: sink,
      stderr: sink,
      tty: false,
      onResize: () => {},
      signal: new AbortController().signal,
    });
    return { exitCode, output: output.slice(0, LONGEST_OUTPUT) };
  }

  async #lastWords(exitCode: number): Promise<string | undefined> {
    const { message, spec, log } = this.#options;
    const text = (await message()).slice(0, LONGEST_MESSAGE);
    if (text !== "") return text;
    if (exitCode === 0 || spec.terminationMessagePolicy !== "FallbackToLogsOnError") return undefined;
    const selection = { follow: false, timestamps: false, since: undefined, limitBytes: undefined, stream: undefined };
    const tail = log.text({ ...selection, tailLines: LAST_WORDS.tailLines });
    return new TextDecoder().decode(tail.subarray(-LAST_WORDS.bytes)) || undefined;
  }
}
