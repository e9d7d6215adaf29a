/** How far a request has come, and what is said when its time is over there. */
import { durationMs } from "../meta/index.ts";
import { type RequestIdentity, type RequestPhase, TimeoutError } from "./errors.ts";
import type { RawRequest } from "./request.ts";

/** How long a call may take, all attempts together, and the phase up to which that counts. */
export interface Patience {
  readonly ms: number;
  readonly until: RequestPhase;
}

/** A stream lives as long as it likes; only a server that does not even take the connection is given up. */
export function patienceOf({ stream, timeout }: RawRequest, defaultMs: number): Patience {
  const ms = timeout === undefined ? defaultMs : durationMs(timeout);
  return { ms, until: !stream ? "body" : timeout === undefined ? "connect" : "headers" };
}

/** In their order. */
export const PHASES: readonly RequestPhase[] = ["credentials", "queue", "connect", "headers", "body"];

const WAITED_FOR: Record<RequestPhase, string> = {
  credentials: "the credentials for",
  queue: "its turn to be sent to",
  connect: "the connection of",
  headers: "an answer of",
  body: "the rest of the answer of",
};

/** That a request took too long, and what it waited for. */
export function timeoutError(about: RequestIdentity, phase: RequestPhase, server: string): TimeoutError {
  const request = identityOf(about);
  return new TimeoutError(`${request.method} ${request.path}: waited too long for ${WAITED_FOR[phase]} ${server}`, {
    request,
    phase,
    hint:
      phase === "credentials"
        ? "look whether the credential plugin or the login asks for something, or pass a longer `timeout`"
        : "pass a longer `timeout`, or check whether the server is overloaded",
  });
}

/** What errors tell of a request. */
export const identityOf = ({ method, path }: RequestIdentity): RequestIdentity => ({ method, path });
