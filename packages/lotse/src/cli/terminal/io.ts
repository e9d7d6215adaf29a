/** A stream that text is written to. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** The signals that ask a program to end. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** How an error escaped: out of a promise that no code awaits, or out of a callback. */
export type UncaughtOrigin = "rejection" | "exception";

/** Hears of an error that no code caught. */
export type UncaughtListener = (error: unknown, origin: UncaughtOrigin) => void;

/** Everything that a command touches of its process, so that a test can bring its own. */
export interface Io {
  /** What was asked for. */
  readonly stdout: Output;
  /** Logs and errors. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds since the process started. */
  readonly uptime: () => number;
  /** Calls `listener` at each signal and keeps the process alive; the returned function ends both. */
  readonly onSignal: (listener: (signal: StopSignal) => void) => () => void;
  /** Calls `listener` at each SIGUSR2, which would end the process otherwise; the returned function ends it. */
  readonly onProfileSignal: (listener: () => void) => () => void;
  /** Calls `listener` at each key; undefined where there is no keyboard. The returned function ends it. */
  readonly onKey: ((listener: (key: string) => void) => () => void) | undefined;
  /**
   * Calls `listener` at each error that no code caught, instead of the listener before it; the returned function gives
   * it back. As long as there is a listener, such an error does not end the process.
   */
  readonly onUncaught: (listener: UncaughtListener) => () => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
}

/** The real process. */
export function processIo(): Io {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    uptime: () => performance.now(),
    onSignal,
    onProfileSignal,
    onKey: process.stdin.isTTY && process.stdout.isTTY ? onKey : undefined,
    onUncaught: uncaughtListeners(),
    exit: (code) => process.exit(code),
  };
}

/** No timer fires later than this. */
const LONG_MS = 2 ** 30;

function onSignal(listener: (signal: StopSignal) => void): () => void {
  process.on("SIGINT", listener).on("SIGTERM", listener);
  // Neither a signal handler nor a timer of a back-off keeps a process alive, and an operator that waits for its
  // cluster to come back has nothing else.
  const alive = setInterval(() => {}, LONG_MS);
  return () => {
    process.off("SIGINT", listener).off("SIGTERM", listener);
    clearInterval(alive);
  };
}

/** SIGUSR1 is Node.js' own: it opens the debugger. Windows has neither. */
function onProfileSignal(listener: () => void): () => void {
  if (process.platform === "win32") return () => {};
  process.on("SIGUSR2", listener);
  return () => void process.off("SIGUSR2", listener);
}

/** One pair of listeners for all: the newest one that asked is told. */
function uncaughtListeners(): Io["onUncaught"] {
  const listeners: UncaughtListener[] = [];
  const tell = (origin: UncaughtOrigin) => (error: unknown) => listeners.at(-1)?.(error, origin);
  const [exception, rejection] = [tell("exception"), tell("rejection")];
  return (listener) => {
    listeners.push(listener);
    if (listeners.length === 1) process.on("uncaughtException", exception).on("unhandledRejection", rejection);
    return () => {
      listeners.splice(listeners.lastIndexOf(listener), 1);
      if (listeners.length === 0) process.off("uncaughtException", exception).off("unhandledRejection", rejection);
    };
  };
}

function onKey(listener: (key: string) => void): () => void {
  const { stdin } = process;
  const onData = (data: Buffer) => {
    for (const key of data.toString("utf8")) listener(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  return () => {
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
  };
}
