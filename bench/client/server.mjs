// The server: answers that lie ready as bytes, over TLS. It knows no HTTP but what the contestants send, because a real
// server would be slower than some of them; then the table would show the server.
//
// A child process with a channel: gets `{ cert, key }`, tells `{ port }`.
import tls from "node:tls";
import { firstVersion, pod, smallObject } from "./pods.mjs";

/** Pods by namespace: one that is listed, and one that is watched. */
const sizes = { many: 5000, busy: 1000 };
/** Bytes that are handed to a socket at a time. */
const batchBytes = 64 * 1024;

const head = (fields) =>
  `HTTP/1.1 200 OK\r\nAudit-Id: 6f0e8a52-3c1b-4f7d-8a55-0b9d2c7e4f11\r\nCache-Control: no-cache, private\r\nContent-Type: application/json\r\nDate: Mon, 16 Nov 2026 00:00:00 GMT\r\n${fields}\r\n\r\n`;

const answer = (...parts) => {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from(head(`Content-Length: ${length}`)), ...parts]);
};

const small = answer(Buffer.from(JSON.stringify(smallObject)));

const pods = Object.fromEntries(
  Object.entries(sizes).map(([namespace, size]) => [
    namespace,
    Array.from({ length: size }, (_, number) => pod(namespace, number, firstVersion)),
  ]),
);

const lists = new Map();

/** A list, or a page of it; made once. The token for the rest is the number of the next Pod. */
function listOf(namespace, limit, from) {
  const key = `${namespace} ${limit} ${from}`;
  const known = lists.get(key);
  if (known) return known;
  const all = pods[namespace];
  const end = Math.min(all.length, from + limit);
  const metadata = {
    resourceVersion: String(firstVersion),
    ...(end < all.length && { continue: String(end), remainingItemCount: all.length - end }),
  };
  const items = all.slice(from, end).map((one) => JSON.stringify(one));
  const text = `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[${items.join(",")}]}\n`;
  const made = answer(Buffer.from(text));
  lists.set(key, made);
  return made;
}

/** A change of every Pod as it goes over the wire, one HTTP chunk each, and where its version and a time stand in it. */
const changes = pods.busy.map((one) => {
  const object = { kind: "Pod", apiVersion: "v1", ...one };
  const event = Buffer.from(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
  const bytes = Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from("\r\n")]);
  const after = (mark) => bytes.indexOf(mark) + mark.length;
  return {
    bytes,
    versionAt: after('"resourceVersion":"'),
    timeAt: after('"lastTransitionTime":"') + "2026-11-02T".length,
  };
});

/** What differs between two states of a Pod: its version, and something in its status. */
function writeChange(batch, at, number) {
  const { versionAt, timeAt } = changes[number % changes.length];
  batch.write(String(firstVersion + number + 1), at + versionAt, "latin1");
  const parts = [number / 3600, number / 60, number].map((part, unit) => Math.floor(part) % (unit === 0 ? 24 : 60));
  batch.write(parts.map((part) => String(part).padStart(2, "0")).join(":"), at + timeAt, "latin1");
}

/** Sends `count` changes as fast as they are taken; then the stream is quiet. */
function sendChanges(socket, count) {
  socket.write(head("Transfer-Encoding: chunked"));
  let sent = 0;
  const pump = () => {
    while (sent < count) {
      const parts = [];
      let [length, next] = [0, sent];
      for (; next < count && length < batchBytes; next++) {
        const { bytes } = changes[next % changes.length];
        parts.push(bytes);
        length += bytes.length;
      }
      const batch = Buffer.concat(parts, length);
      for (let at = 0; sent < next; sent++) {
        writeChange(batch, at, sent);
        at += changes[sent % changes.length].bytes.length;
      }
      if (!socket.write(batch)) return socket.once("drain", pump);
    }
  };
  pump();
}

function respond(socket, target) {
  const { pathname, searchParams } = new URL(target, "https://server");
  if (pathname === "/api/v1/namespaces/default/configmaps/small") return socket.write(small);
  const namespace = /^\/api\/v1\/namespaces\/(\w+)\/pods$/.exec(pathname)?.[1];
  if (!(namespace in sizes)) {
    process.stderr.write(`the server knows nothing of ${target}\n`);
    return socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  }
  if (/^(true|1)$/.test(searchParams.get("watch") ?? "")) return sendChanges(socket, events);
  const limit = Number(searchParams.get("limit") || sizes[namespace]);
  return socket.write(listOf(namespace, limit, Number(searchParams.get("continue") || 0)));
}

/** Requests are GETs without a body: each ends with its head. */
function serve(socket) {
  let received = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    received += bytes.latin1Slice();
    for (let end = received.indexOf("\r\n\r\n"); end >= 0; end = received.indexOf("\r\n\r\n")) {
      const [, target] = received.slice(0, received.indexOf("\r\n")).split(" ");
      received = received.slice(end + 4);
      respond(socket, target);
    }
  });
}

let events = 0;

process.once("message", ({ cert, key, events: wanted }) => {
  events = wanted;
  // Made before anybody asks, so that nobody pays for it.
  for (const namespace of Object.keys(sizes)) {
    listOf(namespace, sizes[namespace], 0);
    for (let from = 0; from < sizes[namespace]; from += 500) listOf(namespace, 500, from);
  }
  const server = tls.createServer({ cert, key, ALPNProtocols: ["http/1.1"] }, serve);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
});
process.once("disconnect", () => process.exit(0));
