/** The part of `ws` that is used here; the package brings no types of its own. */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders, Server } from "node:http";
  import type { Duplex } from "node:stream";

  interface ClientOptions {
    agent?: Agent;
    headers?: OutgoingHttpHeaders;
    perMessageDeflate?: boolean;
    skipUTF8Validation?: boolean;
    /** Milliseconds to wait for the peer's goodbye. */
    closeTimeout?: number;
    /** Ends the request, which it may look at before. */
    finishRequest?(request: ClientRequest): void;
  }

  interface ServerOptions {
    noServer?: boolean;
    server?: Server;
    perMessageDeflate?: boolean;
    handleProtocols?(protocols: Set<string>, request: IncomingMessage): string | false;
  }

  export class WebSocket extends EventEmitter {
    static readonly OPEN: 1;
    constructor(address: string | URL, protocols: readonly string[], options: ClientOptions);
    readonly protocol: string;
    readonly readyState: number;
    send(data: Uint8Array | string, onSent?: (error?: Error) => void): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter {
    readonly clients: Set<WebSocket>;
    constructor(options: ServerOptions);
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onOpen: (socket: WebSocket) => void): void;
    close(): void;
  }
}
