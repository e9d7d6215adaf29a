/** One request and its answer, whatever protocol carries them. */
import type { Readable } from "node:stream";
import type { RequestHead } from "./head.ts";
import type { PeerCertificate } from "./peer.ts";

/** See the module comment. Made by `http1` and `http2`. */
export interface Exchange {
  readonly head: RequestHead;
  /** The request's body. */
  readonly stream: Readable;
  /** See {@link WebhookRequest}. */
  headers(): Readonly<Record<string, string>>;
  readonly source: string | undefined;
  peer(): PeerCertificate | undefined;
  /** Calls `gone` when the client goes before its answer is out. */
  onGone(gone: () => void): void;
  /** Answers; called once. Does nothing when the client has gone. */
  send(answer: WireAnswer): void;
}

/** An answer as it leaves. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** The connection takes no more requests. */
  readonly last: boolean;
}

/** For how long the rest of a body that is not wanted is read and thrown away, so that its sender gets to see the answer. */
export const LINGER_MS = 2_000;

/** Headers as texts. */
export function flatten(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name.startsWith(":")) continue;
    flat[name] = typeof value === "string" ? value : value.join(", ");
  }
  return flat;
}
