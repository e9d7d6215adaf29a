import type { PodConnection } from "../bytes/index.ts";
import type { CommandStreams } from "../kubelet/index.ts";

/** A request and its answer as the API sees them: no sockets, so that the same server runs wherever JavaScript does. */
export interface ApiRequest {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Every header with all of its values, for those that may come several times. Names in lower case. */
  readonly headerValues?: () => Readonly<Record<string, readonly string[] | undefined>>;
  /** The certificate by which the client says who it is, where the connection is encrypted and it has one. */
  readonly clientCertificate?: () => ClientCertificate | undefined;
  /** Reads the body; rejects when it is larger than the server takes. */
  readonly body: () => Promise<Uint8Array>;
  /** `host:port` as the client spells it. */
  readonly host: string;
}

/** The subject of a client's certificate. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 in lower-case hexadecimal digits. */
  readonly fingerprint: string;
  /** Whether the cluster's own authority has issued it. */
  readonly trusted: boolean;
}

/** Headers of an answer by their names; several values are sent as several lines. */
export type Headers = Record<string, string | readonly string[]>;

/** An answer that is there at once. */
export interface WholeResponse {
  readonly type: "whole";
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The same for what need not be text. */
export interface BytesResponse {
  readonly type: "whole";
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** An answer that goes on until one side ends it. */
export interface StreamResponse {
  readonly type: "stream";
  readonly status: number;
  readonly headers: Headers;
  /** Starts writing; the returned function is called once when the client has gone or the server stops. */
  readonly start: (sink: StreamSink) => () => void;
}

/** Where a streamed answer is written to. After `end` nothing more may come. */
export interface StreamSink {
  write(chunk: string | Uint8Array): void;
  /** Where it is there: resolves when there is room for more, so that a slow client slows the writer down. */
  drained?(): Promise<void>;
  /** Ends the answer cleanly: the client sees a complete body. */
  end(): void;
  /** Breaks the answer off: the client sees its connection fail. */
  reset(): void;
}

/** No answer: the connection breaks. */
export interface ResetResponse {
  readonly type: "reset";
  readonly status: 0;
  readonly headers: Headers;
}

/** An answer that turns the connection into several streams that both sides write to. */
export interface SessionResponse {
  readonly type: "session";
  readonly status: 101;
  readonly headers: Headers;
  readonly protocol: SessionProtocol;
  readonly session: Session;
}

/** How the streams of a session share one connection: by WebSocket messages or by SPDY frames. */
export interface SessionProtocol {
  readonly carrier: "websocket" | "spdy";
  /** The first of those that the client offered and the server knows; empty when it offered none. */
  readonly name: string;
}

/** What a connection is used for after its upgrade. */
export type Session = CommandSession | ForwardSession | ReadSession;

/** Bytes that only the server sends. */
export interface ReadSession {
  readonly type: "read";
  /** Begins to write; the returned function stops it. */
  readonly start: StreamResponse["start"];
}

/** A command whose streams are at the client. */
export interface CommandSession {
  readonly type: "command";
  /** Empty when the streams are those of the container itself. */
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /** Resolves to the exit code; rejects when the command could not be run. */
  readonly run: (streams: CommandStreams) => Promise<number>;
}

/** Connections to ports of a pod. */
export interface ForwardSession {
  readonly type: "forward";
  /** Those that the client named beforehand. */
  readonly ports: readonly number[];
  readonly connect: (port: number) => Promise<PodConnection>;
}

/** Everything that the API can answer; the transport knows how to send each. */
export type ApiResponse = WholeResponse | BytesResponse | StreamResponse | SessionResponse | ResetResponse;

/** An answer of plain text, complete. */
export function textResponse(status: number, body: string, headers: Headers = {}): WholeResponse {
  return {
    type: "whole",
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    body,
  };
}
