import type { WebhookAnswer } from "./answers.ts";
import type { PeerCertificate } from "./peer.ts";

/** What a handler of the server gets. */
export interface WebhookRequest {
  /** As it was sent, percent-encoded where it was. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON. */
  readonly body: unknown;
  /** By lower-case names; several of one name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address that the request came from. */
  readonly source: string | undefined;
  /** The client's certificate, where it showed one; whether it is to be believed is said in it. */
  readonly peer: PeerCertificate | undefined;
  /** Aborts when the client has gone, when it will wait no longer, and when the server stops without more patience. */
  readonly signal: AbortSignal;
}

/** Answers requests. It must not reject; if it does, the client gets 500 without details, and the problem is told. */
export type WebhookHandler = (request: WebhookRequest) => Promise<WebhookAnswer>;
