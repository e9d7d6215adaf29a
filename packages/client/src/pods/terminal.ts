import type { Readable, Writable } from "node:stream";
import type { ExecProcess } from "./process.ts";

/** The two ends of a terminal. `process.stdin` and `process.stdout` are; without a terminal they are plain streams. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly isRaw?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Writable & { readonly columns?: number; readonly rows?: number };
}

/**
 * Connects a command with a terminal: keys go there as they are typed (raw mode, so that Ctrl-C is the command's matter),
 * and each change of size is told. The returned function gives the terminal back as it was.
 */
export function wireTerminal(running: ExecProcess, { stdin, stdout }: Terminal, tty: boolean): () => void {
  const raw = tty && stdin.isTTY === true && stdin.setRawMode !== undefined;
  const wasRaw = stdin.isRaw === true;
  if (raw) stdin.setRawMode?.(true);
  stdin.pipe(running.stdin);
  const tellSize = () => {
    const { columns, rows } = stdout;
    // The connection may be over by now, and then its size does not matter.
    if (columns !== undefined && rows !== undefined) running.resize({ columns, rows }).catch(() => undefined);
  };
  if (tty) {
    tellSize();
    stdout.on("resize", tellSize);
  }
  return () => {
    stdout.off("resize", tellSize);
    stdin.unpipe(running.stdin);
    // A stream that flows keeps the program alive, waiting for keys.
    stdin.pause();
    if (raw) stdin.setRawMode?.(wasRaw);
  };
}
