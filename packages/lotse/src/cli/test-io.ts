/** An {@link Io} for tests: nothing of the real process is touched. */
import type { Io, StopSignal, UncaughtListener, UncaughtOrigin } from "./io.ts";

/** An {@link Io} that remembers what was written, and whose signals and keys a test sends. */
export interface TestIo extends Io {
  out(): string;
  err(): string;
  send(signal: StopSignal): void;
  press(key: string): void;
  /** As if nobody had caught an error. */
  escape(error: unknown, origin: UncaughtOrigin): void;
  readonly exits: readonly number[];
  /** Resolves when somebody listens to signals: from then on the command can be stopped. */
  readonly listening: Promise<void>;
}

/** Makes a {@link TestIo}. */
export function testIo(
  o: { cwd?: string; env?: Record<string, string>; tty?: boolean; now?: () => number } = {},
): TestIo {
  const texts = { out: "", err: "" };
  const exits: number[] = [];
  const signals = new Set<(signal: StopSignal) => void>();
  const keys = new Set<(key: string) => void>();
  const uncaught: UncaughtListener[] = [];
  let heard: () => void = () => {};
  const listening = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const output = (name: "out" | "err") => ({
    isTTY: o.tty ?? false,
    write: (text: string) => {
      texts[name] += text;
    },
  });
  return {
    stdout: output("out"),
    stderr: output("err"),
    env: o.env ?? {},
    cwd: o.cwd ?? "/",
    uptime: o.now ?? (() => 0),
    onSignal: (listener) => {
      signals.add(listener);
      heard();
      return () => signals.delete(listener);
    },
    onKey: o.tty
      ? (listener) => {
          keys.add(listener);
          return () => keys.delete(listener);
        }
      : undefined,
    onUncaught: (listener) => {
      uncaught.push(listener);
      return () => uncaught.splice(uncaught.lastIndexOf(listener), 1);
    },
    exit: (code) => exits.push(code),
    out: () => texts.out,
    err: () => texts.err,
    send: (signal) => {
      for (const listener of [...signals]) listener(signal);
    },
    press: (key) => {
      for (const listener of [...keys]) listener(key);
    },
    escape: (error, origin) => uncaught.at(-1)?.(error, origin),
    exits,
    listening,
  };
}
