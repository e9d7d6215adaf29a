/** A proxy did not let us through. `code` is there for the code that turns errors of sockets into sentences. */
export class ProxyError extends Error {
  readonly code = "ERR_PROXY";
  /** Whether it said no, in contrast to being out of order: then there is no use in asking again. */
  readonly refused: boolean;

  constructor(message: string, o: { cause?: unknown; refused?: boolean } = {}) {
    super(message, o.cause === undefined ? undefined : { cause: o.cause });
    this.name = "ProxyError";
    this.refused = o.refused ?? false;
  }
}

/** A proxy that takes longer to say anything is out of order. */
export const PROXY_PATIENCE_MS = 30_000;
