// The floor: the fastest simple thing. Bare Node.js lists, watches and sends one status PATCH for each change, over ten
// kept connections. It keeps no promise: no retries, no order, nothing remembered, a stream that fails twice ends it.
import { readFileSync } from "node:fs";
import https from "node:https";

const { KUBECONFIG, BENCH_NAMESPACE: namespace, BENCH_CHILD, BENCH_KEEP } = process.env;
const { clusters, users } = JSON.parse(readFileSync(KUBECONFIG, "utf8"));
const { server, "certificate-authority-data": authority } = clusters[0].cluster;
const { hostname, port } = new URL(server);
const ca = Buffer.from(authority, "base64");
const agent = new https.Agent({ keepAlive: true, maxSockets: 10, ca });
const headers = { authorization: `Bearer ${users[0].user.token}`, "user-agent": "floor" };
const widgets = `/apis/bench.example.com/v1/namespaces/${namespace}/widgets`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

function open(path, onAnswer, options = {}) {
  const call = https.request({ hostname, port, path, agent, headers, ...options }, onAnswer);
  call.on("error", (error) => process.stderr.write(`${path}: ${error.message}\n`));
  return call;
}

function send(path, type, body, done) {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  open(
    path,
    (answer) => {
      // An object may be gone by now.
      if (answer.statusCode >= 400 && answer.statusCode !== 404)
        process.stderr.write(`${path}: ${answer.statusCode}\n`);
      answer.on("end", done).resume();
    },
    { method: "PATCH", headers: { ...headers, "content-type": type, "content-length": length } },
  ).end(text);
}

function setStatus({ metadata, spec }, done) {
  const status = { size: spec.size };
  send(`${widgets}/${metadata.name}/status`, "application/merge-patch+json", { status }, done);
}

function applyChild({ apiVersion, kind, metadata, spec }, done) {
  const { name, uid } = metadata;
  const body = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }] },
    data: { size: String(spec.size) },
  };
  send(`${configMaps}/${name}?fieldManager=floor&force=true`, "application/apply-patch+yaml", body, done);
}

const handle = BENCH_CHILD ? (object, done) => applyChild(object, () => setStatus(object, done)) : setStatus;

// Held back here, since ten thousand requests that wait in the agent would cost more than they should.
const waiting = [];
let next = 0;
let running = 0;

function pump() {
  while (running < 10 && next < waiting.length) {
    running++;
    handle(waiting[next++], () => {
      running--;
      pump();
    });
  }
  if (next === waiting.length) next = waiting.length = 0;
}

// With BENCH_KEEP it keeps what it sees, as every engine has to: the difference is what a store costs.
const store = new Map();

function see(object) {
  if (BENCH_KEEP) {
    delete object.metadata.managedFields;
    store.set(object.metadata.name, object);
  }
  if (object.status?.size === object.spec.size) return;
  waiting.push(object);
  pump();
}

function watch(from) {
  let version = from;
  // A connection of its own: ten stay for the writes.
  const path = `${widgets}?watch=true&resourceVersion=${from}`;
  const lines = (answer) => {
    let rest = "";
    answer.setEncoding("utf8").on("data", (text) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop();
      for (const part of parts) {
        const { type, object } = JSON.parse(part);
        version = object.metadata.resourceVersion;
        if (type === "ADDED" || type === "MODIFIED") see(object);
        else if (type === "DELETED") store.delete(object.metadata.name);
      }
    });
    // A server that is busy ends streams that lag behind.
    answer.on("close", () => (version === from ? process.exit(1) : watch(version)));
  };
  open(path, lines, { agent: new https.Agent({ ca }) }).end();
}

open(widgets, (answer) => {
  let text = "";
  answer.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  answer.on("end", () => {
    const { metadata, items } = JSON.parse(text);
    // A list leaves these out of its items.
    for (const item of items) see({ apiVersion: "bench.example.com/v1", kind: "Widget", ...item });
    watch(metadata.resourceVersion);
  });
}).end();

for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
