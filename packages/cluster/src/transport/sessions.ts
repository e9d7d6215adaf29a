import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { SessionResponse } from "../api/index.ts";
import { serveCommandChannels, serveForwardChannels } from "./channels.ts";
import { serveReader } from "./reader.ts";
import { SpdyConnection } from "./spdy.ts";
import { serveCommandStreams, serveForwardStreams } from "./spdy-sessions.ts";
import { acceptKey, WebSocketPeer, writeTo } from "./websocket.ts";

const TUNNEL = "SPDY/3.1+portforward.k8s.io";

/** Answers an upgrade and serves the session on its connection. Resolves when the session is over; never rejects. */
export async function startSession(answer: SessionResponse, request: IncomingMessage, socket: Duplex): Promise<void> {
  try {
    await (answer.protocol.carrier === "websocket" ? overWebSocket(answer, request, socket) : overSpdy(answer, socket));
  } catch {
    // The client sees the connection break, which is all that can be said once the protocol has changed.
    socket.destroy();
  }
}

async function overWebSocket(answer: SessionResponse, request: IncomingMessage, socket: Duplex): Promise<void> {
  const { session, protocol } = answer;
  const key = acceptKey(request.headers["sec-websocket-key"], request.headers["sec-websocket-version"]);
  if (key === undefined) {
    socket.end("HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  switchProtocols(socket, answer, {
    Upgrade: "websocket",
    "Sec-WebSocket-Accept": key,
    ...(protocol.name === "" ? {} : { "Sec-WebSocket-Protocol": protocol.name }),
  });
  const peer = new WebSocketPeer(socket);
  if (session.type === "read") return serveReader(peer, session, protocol.name);
  if (session.type === "command") return serveCommandChannels(peer, session, protocol.name);
  if (protocol.name !== TUNNEL) return serveForwardChannels(peer, session, protocol.name);
  const connection = new SpdyConnection(peer.messages(), {
    write: (bytes) => peer.send(bytes),
    end: () => peer.close(),
  });
  return serveForwardStreams(connection, session);
}

async function overSpdy(answer: SessionResponse, socket: Duplex): Promise<void> {
  const { session, protocol } = answer;
  switchProtocols(socket, answer, {
    Upgrade: "SPDY/3.1",
    ...(protocol.name === "" ? {} : { "X-Stream-Protocol-Version": protocol.name }),
  });
  if (session.type === "read") throw new Error("what is only read is not sent in several streams");
  const connection = new SpdyConnection(socket as AsyncIterable<Uint8Array>, {
    write: (bytes) => writeTo(socket, [bytes]),
    end: () => void socket.end(),
  });
  await (session.type === "command"
    ? serveCommandStreams(connection, session, protocol.name)
    : serveForwardStreams(connection, session));
}

function switchProtocols(socket: Duplex, answer: SessionResponse, headers: Record<string, string>): void {
  const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade"];
  for (const [name, value] of Object.entries({ ...answer.headers, ...headers })) {
    for (const one of typeof value === "string" ? [value] : value) lines.push(`${name}: ${one}`);
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
}
