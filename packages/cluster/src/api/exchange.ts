/** A request and its answer as the API sees them: no sockets, so that the same server runs wherever JavaScript does. */
export interface ApiRequest {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Reads the body; rejects when it is larger than the server takes. */
  readonly body: () => Promise<Uint8Array>;
  /** `host:port` as the client spells it. */
  readonly host: string;
}

export type Headers = Record<string, string | readonly string[]>;

/** An answer that is there at once. */
export interface WholeResponse {
  readonly type: "whole";
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** An answer that goes on until one side ends it. */
export interface StreamResponse {
  readonly type: "stream";
  readonly status: number;
  readonly headers: Headers;
  /** Starts writing; the returned function is called once when the client has gone or the server stops. */
  readonly start: (sink: StreamSink) => () => void;
}

export interface StreamSink {
  write(chunk: string): void;
  /** Ends the answer cleanly: the client sees a complete body. */
  end(): void;
}

export type ApiResponse = WholeResponse | StreamResponse;

export function textResponse(status: number, body: string, headers: Headers = {}): WholeResponse {
  return {
    type: "whole",
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    body,
  };
}
