/** Answers that are no reviews: each a Status with a sentence, whose message API servers show to those who asked them. */

/** What a handler of the server answers. */
export interface WebhookAnswer {
  readonly status: number;
  /** Becomes JSON. */
  readonly body: unknown;
}

/** A request that is answered by the server itself. */
export class Refusal implements WebhookAnswer {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.message = message;
    this.headers = headers;
  }

  get body(): unknown {
    return statusBody(this.status, this.message);
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  404: "NotFound",
  405: "MethodNotAllowed",
  408: "Timeout",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A `Status` as the API has them. */
export function statusBody(code: number, message: string): Readonly<Record<string, unknown>> {
  const reason = REASONS[code];
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: code < 400 ? "Success" : "Failure",
    message,
    ...(reason !== undefined && { reason }),
    code,
  };
}

/** A path that leads nowhere. */
export function unknownPath(path: string): Refusal {
  return new Refusal(404, `there is nothing at ${shortened(path)}`);
}

/** As much of what a client sent as belongs into a sentence. */
export function shortened(text: string): string {
  const short = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return JSON.stringify(short);
}
