import { type Clock, type Duration, durationMs, sleep } from "@lotse/client/meta";
import { connectionPair, type PodConnection, readText } from "../bytes/index.ts";
import { type ApiObject, isRecord, objectAt } from "../registry/index.ts";
import type {
  ContainerBehaviour,
  ExecAnswer,
  ExecCall,
  ExecProgram,
  PodBehaviour,
  SimulatedExit,
  SimulatedPod,
  SimulatedRun,
} from "./behaviour.ts";
import type { ContainerLog } from "./log.ts";
import { containerBehaviour, type PodPrograms, simulatedPod } from "./programs.ts";
import {
  type CommandStreams,
  type ContainerExit,
  type ContainerRun,
  type ContainerRuntime,
  type Readiness,
  type RunningContainer,
  type Sandbox,
  StartError,
} from "./runtime.ts";
import { containerView, type ViewSources } from "./simulated-view.ts";

/** What simulated pods are run with. */
export interface SimulateOptions extends ViewSources {
  readonly clock: Clock;
  readonly programs: PodPrograms;
  /** How long pods stay Pending unless a program says otherwise. */
  readonly startDelay: Duration;
  readonly random: () => number;
  /** Connects to a port of this machine. */
  readonly dial: (port: number) => Promise<PodConnection>;
  /** Told what goes wrong in programs whose failure nothing else shows. */
  readonly trouble: (work: string, error: unknown) => void;
}

const encode = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;

/** Containers that only pretend: they take their time, write what they are told to, and answer as programmed. */
export class SimulatedRuntime implements ContainerRuntime {
  readonly pullsImages = true;
  readonly #options: SimulateOptions;
  #addresses = 0;

  constructor(options: SimulateOptions) {
    this.#options = options;
  }

  async open(pod: ApiObject, signal: AbortSignal): Promise<Sandbox> {
    const { clock, programs, startDelay } = this.#options;
    const facade = simulatedPod(pod);
    const behaviour = programs.behaviourOf(facade);
    const delay = durationMs(behaviour.startDelay ?? startDelay);
    if (delay > 0) await sleep(clock, delay, signal);
    const failure = failureOf(behaviour);
    const closed = new AbortController();
    const ip = this.#nextAddress();
    return {
      ip,
      start: (run) => this.#start(facade, run, ip),
      connect: (port) => this.#connect(facade, port),
      failed: new Promise((resolve) => {
        if (!failure) return;
        const cancel = clock.after(durationMs(failure.after), () => resolve(failure));
        closed.signal.addEventListener("abort", cancel);
      }),
      remove: async () => closed.abort(),
    };
  }

  async close(): Promise<void> {}

  #nextAddress(): string {
    const at = ++this.#addresses;
    return `10.244.${Math.floor(at / 254) % 256}.${(at % 254) + 1}`;
  }

  /** What programs say about a container now: answers may be given while it runs. */
  #behaviour(pod: SimulatedPod, container: string): ContainerBehaviour {
    return containerBehaviour(this.#options.programs.behaviourOf(pod), container);
  }

  async #start(pod: SimulatedPod, run: ContainerRun, ip: string): Promise<RunningContainer> {
    const name = String(run.container.name);
    const behaviour = this.#behaviour(pod, name);
    if (behaviour.pullError !== undefined) throw new StartError("ErrImagePull", behaviour.pullError);
    if (behaviour.createError !== undefined) {
      const [, reason = "CreateContainerError", message = ""] = /^(?:(\w+): )?(.*)$/s.exec(behaviour.createError) ?? [];
      throw new StartError(reason, message);
    }
    const id = `lotse://${Array.from({ length: 64 }, () => Math.floor(this.#options.random() * 16).toString(16)).join("")}`;
    const container = new SimulatedContainer(this.#options.clock, behaviour);
    writeLines(run.log, behaviour.logs);
    container.play(pod, run, defaultExit(run), () => containerView(run.pod, run.container, ip, this.#options));
    const { postStart, preStop } = objectAt(run.container, "lifecycle");
    const hook = (action: unknown) => this.#hook(action, pod, name);
    return {
      id,
      exited: container.exited,
      readiness: container.readiness,
      postStart: hook(postStart),
      stop: (graceMs) => container.stop(graceMs, () => hook(preStop), run.preStopFailed),
      exec: (command, streams) => answer(this.#behaviour(pod, name).exec, pod, name, command, streams),
      attach: (streams) => {
        const program = this.#behaviour(pod, name).attach;
        return program === undefined ? container.watch(run.log, streams) : answer(program, pod, name, [], streams);
      },
    };
  }

  /** Whether the command of a hook ends well; undefined where no program says how it ends, which counts as well. */
  #hook(action: unknown, pod: SimulatedPod, container: string): Promise<boolean> | undefined {
    const { command } = isRecord(action) ? objectAt(action, "exec") : {};
    const { exec } = this.#behaviour(pod, container);
    if (!Array.isArray(command) || !isProgrammed(exec, command)) return undefined;
    const streams = { stdin: undefined, stdout: undefined, stderr: undefined, tty: false, onResize: () => {} };
    const { signal } = new AbortController();
    return answer(exec, pod, container, command.map(String), { ...streams, signal }).then(
      (code) => code === 0,
      () => false,
    );
  }

  async #connect(pod: SimulatedPod, port: number): Promise<PodConnection> {
    const behaviour = this.#options.programs.behaviourOf(pod);
    const served = [behaviour, ...Object.values(behaviour.containers ?? {})].map(({ ports }) => ports?.[port]);
    const target = served.find((entry) => entry !== undefined);
    if (typeof target === "number") return this.#options.dial(target);
    if (target === undefined) {
      throw new Error(
        `dial tcp4 127.0.0.1:${port}: connect: connection refused (a simulated pod listens where cluster.pods.program says so: { ports: { ${port}: … } })`,
      );
    }
    const [outside, inside] = connectionPair();
    Promise.resolve()
      .then(() => target(inside))
      .catch((error: unknown) => {
        inside.close();
        this.#options.trouble(`the program behind port ${port} of pod ${pod.namespace}/${pod.name} failed`, error);
      });
    return outside;
  }
}

/** Why and when the pod as a whole fails. */
function failureOf({ evicted, failed }: PodBehaviour) {
  if (failed) return { after: failed.after ?? 0, reason: failed.reason ?? "", message: failed.message ?? "" };
  if (!evicted) return undefined;
  const { after = 0, message = "The node was low on resource: memory." } = evicted;
  return { after, reason: "Evicted", message };
}

/** A container of a Job has nothing to do, and does it well. Init containers, too. */
function defaultExit({ pod, container }: ContainerRun): SimulatedExit | null {
  const ofJob = pod.metadata.ownerReferences?.some((owner) => owner.kind === "Job" && owner.controller === true);
  const spec = isRecord(pod.spec) ? pod.spec : {};
  const init =
    Array.isArray(spec.initContainers) &&
    spec.initContainers.some((one) => isRecord(one) && one.name === container.name);
  return (ofJob || init) && container.restartPolicy !== "Always" ? { code: 0 } : null;
}

function writeLines(log: ContainerLog, logs: ContainerBehaviour["logs"]): void {
  if (logs === undefined) return;
  const text = typeof logs === "string" ? logs : logs.map((line) => `${line}\n`).join("");
  log.write("stdout", encode(text));
}

class SimulatedContainer {
  readonly exited: Promise<ContainerExit>;
  readonly readiness: Readiness;
  readonly #clock: Clock;
  readonly #behaviour: ContainerBehaviour;
  readonly #stopping = new AbortController();
  readonly #timers = new Set<() => void>();
  #exit: (exit: ContainerExit) => void = () => {};
  #over = false;
  /** Whether it was asked to end, and what it does before it does so. */
  #asked = false;
  #leaving: Promise<boolean> | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #ready = false;
  #onReady: (ready: boolean) => void = () => {};

  constructor(clock: Clock, behaviour: ContainerBehaviour) {
    this.#clock = clock;
    this.#behaviour = behaviour;
    this.exited = new Promise((resolve) => {
      this.#exit = (exit) => {
        this.#over = true;
        this.#stopping.abort();
        for (const cancel of this.#timers) cancel();
        resolve(exit);
      };
    });
    this.readiness = {
      by: "itself",
      onChange: (listener) => {
        this.#onReady = listener;
        listener(this.#ready);
      },
    };
  }

  play(
    pod: SimulatedPod,
    run: ContainerRun,
    whenNothingIsSaid: SimulatedExit | null,
    view: () => ReturnType<typeof containerView>,
  ): void {
    const { exit, ready = 0, run: program } = this.#behaviour;
    const planned = Array.isArray(exit) ? exit[Math.min(run.attempt, exit.length - 1)] : exit;
    const end = (planned === undefined && !program ? whenNothingIsSaid : planned) as SimulatedExit | null | undefined;
    if (ready === true || ready === 0) this.#setReady(true);
    else if (ready !== false) this.#after(durationMs(ready), () => this.#setReady(true));
    if (end) {
      const done: ContainerExit = { exitCode: end.code ?? 0, reason: end.reason, message: end.message };
      this.#after(durationMs(end.after ?? 0), () => this.#exit(done));
    }
    if (program) this.#perform(program, pod, run, view());
  }

  #perform(
    program: NonNullable<ContainerBehaviour["run"]>,
    pod: SimulatedPod,
    run: ContainerRun,
    view: ReturnType<typeof containerView>,
  ): void {
    const facade: SimulatedRun = {
      get env() {
        return view.env;
      },
      get command() {
        return view.command;
      },
      files: view.files,
      pod,
      container: String(run.container.name),
      attempt: run.attempt,
      log: (line, stream = "stdout") => run.log.write(stream, encode(`${line}\n`)),
      sleep: (time) => sleep(this.#clock, durationMs(time), this.#stopping.signal).catch(() => {}),
      ready: (ready) => this.#setReady(ready),
      signal: this.#stopping.signal,
    };
    Promise.resolve()
      .then(() => program(facade))
      .then(
        (code) => {
          // A program that returns nothing has said what it had to say; the container goes on.
          if (typeof code === "number") this.#exit({ exitCode: code });
        },
        (error: unknown) => {
          run.log.write(
            "stderr",
            encode(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
          );
          this.#exit({ exitCode: 1 });
        },
      );
  }

  /** `preStop` is what it does first where there is time for it, if anything. */
  stop(graceMs: number, preStop: () => Promise<boolean> | undefined, preStopFailed: () => void): void {
    if (this.#over) return;
    const { stopDelay = 0, stopCode = 0 } = this.#behaviour;
    const delay = durationMs(stopDelay);
    const end = () => {
      if (this.#over) return;
      this.#stopping.abort();
      this.#after(delay, () => this.#exit({ exitCode: stopCode }));
    };
    if (!this.#asked) {
      this.#asked = true;
      this.#leaving = graceMs > 0 ? preStop() : undefined;
      if (this.#leaving === undefined) end();
      void this.#leaving?.then((well) => {
        this.#leaving = undefined;
        if (!well) preStopFailed();
        end();
      });
    }
    if (graceMs >= delay && this.#leaving === undefined) return;
    const deadline = this.#clock.monotonic() + graceMs;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#after(graceMs, () => this.#exit({ exitCode: 137, signal: 9 }));
  }

  /** Shows the log from now on to a client that attached. */
  watch(log: ContainerLog, streams: CommandStreams): Promise<number> {
    return new Promise((resolve) => {
      const selection = { follow: true, timestamps: false, since: undefined, tailLines: 0, limitBytes: undefined };
      const stops = (["stdout", "stderr"] as const).map((stream) =>
        log.follow(
          { ...selection, stream },
          { write: (chunk) => void (streams.tty ? streams.stdout : streams[stream])?.write(chunk), end: () => {} },
        ),
      );
      const leave = () => {
        for (const stop of stops) stop();
        resolve(0);
      };
      streams.signal.addEventListener("abort", leave);
      void this.exited.then(({ exitCode }) => {
        resolve(exitCode);
        leave();
      });
    });
  }

  #setReady(ready: boolean): void {
    if (this.#over || ready === this.#ready) return;
    this.#ready = ready;
    this.#onReady(ready);
  }

  #after(ms: number, fn: () => void): void {
    if (ms === 0) {
      void Promise.resolve().then(() => {
        if (!this.#over) fn();
      });
      return;
    }
    this.#timers.add(
      this.#clock.after(ms, () => {
        if (!this.#over) fn();
      }),
    );
  }
}

async function answer(
  program: ExecProgram,
  pod: SimulatedPod,
  container: string,
  command: readonly string[],
  streams: CommandStreams,
): Promise<number> {
  const stdin = streams.stdin ?? nothing();
  const out = streams.stdout;
  const err = streams.tty ? streams.stdout : streams.stderr;
  const call: ExecCall = {
    pod,
    container,
    command,
    tty: streams.tty,
    stdin,
    text: () => readText(stdin),
    stdout: async (chunk) => out?.write(encode(chunk)),
    stderr: async (chunk) => err?.write(encode(chunk)),
    onResize: streams.onResize,
    signal: streams.signal,
  };
  const found = await choose(program, call);
  if (found === undefined || typeof found === "number") return found ?? 0;
  const { stdout = "", stderr = "", exitCode = 0 } = typeof found === "string" ? { stdout: found } : found;
  if (stdout !== "") await call.stdout(stdout);
  if (stderr !== "") await call.stderr(stderr);
  return exitCode;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const ANSWER_KEYS: ReadonlySet<string> = new Set(["stdout", "stderr", "exitCode"]);

function choose(program: ExecProgram, call: ExecCall): ExecAnswer | Promise<ExecAnswer> {
  if (typeof program === "function") return program(call);
  if (typeof program === "object") {
    const keys = Object.keys(program);
    if (keys.length > 0 && keys.every((key) => ANSWER_KEYS.has(key))) return program as ExecAnswer;
    const line = call.command.join(" ");
    if (Object.hasOwn(program, line)) return (program as Record<string, ExecAnswer>)[line];
    return notProgrammed(call);
  }
  return program === undefined ? notProgrammed(call) : program;
}

/** Whether a program says how this command ends. */
function isProgrammed(program: ExecProgram, command: readonly unknown[]): boolean {
  if (program === undefined) return false;
  if (typeof program !== "object") return true;
  const keys = Object.keys(program);
  return keys.every((key) => ANSWER_KEYS.has(key)) || Object.hasOwn(program, command.join(" "));
}

function notProgrammed({ command, pod }: ExecCall): ExecAnswer {
  const line = JSON.stringify(command.join(" "));
  const hint = `cluster.pods.program(${JSON.stringify(pod.name)}, { exec: { ${line}: "…" } })`;
  return { exitCode: 127, stderr: `${command[0]}: not found: this pod is simulated. Say what it answers: ${hint}\n` };
}
