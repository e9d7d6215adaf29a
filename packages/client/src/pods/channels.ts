/**
 * The protocols `v5.channel.k8s.io` and `v4.channel.k8s.io`: each message is one byte for the channel and the data. v5 adds
 * a message that closes one channel; in v4 there is no way to say that the input is over, short of hanging up.
 */
import { isObject } from "../meta/index.ts";

/** The best first. */
export const CHANNEL_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;

/** The channel of the input. */
export const STDIN = 0;
/** The channel of the output. */
export const STDOUT = 1;
/** The channel of the errors; there is none with a terminal. */
export const STDERR = 2;
/** Carries one `Status` at the end. */
export const STATUS = 3;
/** The channel of the terminal's size. */
export const RESIZE = 4;
const CLOSE = 255;

/** Well below what servers take in one message, and enough that the byte in front costs nothing. */
export const MAX_CHUNK_BYTES = 32 * 1024;

/** Whether the end of the input can be told. */
export const canCloseInput = (protocol: string): boolean => protocol === CHANNEL_PROTOCOLS[0];

/** One message: the channel, then the data. */
export function frame(channel: number, data: Uint8Array | string): Buffer {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  const message = Buffer.allocUnsafe(bytes.length + 1);
  message[0] = channel;
  message.set(bytes, 1);
  return message;
}

/** The message that ends a channel, in v5. */
export const closeFrame = (channel: number): Buffer => Buffer.from([CLOSE, channel]);

/** The data in pieces that fit into messages; nothing for no data. */
export function* chunksOf(data: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < data.length; start += MAX_CHUNK_BYTES)
    yield data.subarray(start, start + MAX_CHUNK_BYTES);
}

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The message that tells the terminal's size. */
export const resizeFrame = ({ columns, rows }: TerminalSize): Buffer =>
  frame(RESIZE, JSON.stringify({ Width: columns, Height: rows }));

/** How a command ended: with a code, or not at all because the server could not run it. */
export type CommandEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "failed"; readonly message: string };

/** Reads the `Status` of the status channel. */
export function readEnd(data: Buffer): CommandEnd {
  const text = data.toString("utf8");
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    // Servers that fail before they know the protocol write plain text.
    return { type: "failed", message: text.trim() };
  }
  if (!isObject(status)) return { type: "failed", message: text };
  if (status.status === "Success") return { type: "exited", code: 0 };
  const code = status.reason === "NonZeroExitCode" ? exitCodeOf(status.details) : undefined;
  if (code !== undefined) return { type: "exited", code };
  return { type: "failed", message: typeof status.message === "string" ? status.message : text };
}

function exitCodeOf(details: unknown): number | undefined {
  const causes = isObject(details) && Array.isArray(details.causes) ? details.causes : [];
  const cause = causes.find((one) => isObject(one) && one.reason === "ExitCode") as { message?: unknown } | undefined;
  const code = Number.parseInt(String(cause?.message), 10);
  return Number.isNaN(code) ? undefined : code;
}
