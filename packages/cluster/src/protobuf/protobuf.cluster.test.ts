/** Protobuf in answers, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { createMessageTable } from "../registry/index.ts";
import { CONFIG_MAPS, call, define, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";
import { decodeKubernetesProtobuf } from "./index.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const METADATA = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const table = createMessageTable();

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start({ tls: false });
});
afterAll(() => cluster.stop());

async function ask(path: string, accept = PROTOBUF, init: RequestInit = {}) {
  const headers = { accept, authorization: `Bearer ${cluster.token}`, ...init.headers };
  const answer = await fetch(`${cluster.url}${path}`, { ...init, headers });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const type = answer.headers.get("content-type");
  return {
    status: answer.status,
    type,
    object: type === PROTOBUF ? decodeKubernetesProtobuf(bytes, table).object : bytes,
  };
}

/** What a protobuf client can know: no empty lists, maps or texts. */
const wellKnown = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, member) =>
    member === "" || member === null || (typeof member === "object" && Object.keys(member).length === 0)
      ? undefined
      : member,
  );

describe("answers in protobuf", () => {
  it("say what those in JSON say: objects, lists, errors", async () => {
    const pod = {
      kind: "Pod",
      metadata: { name: "p", labels: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    await call(cluster, "POST", "/api/v1/namespaces/default/pods", { body: pod });
    for (const path of ["/api/v1/namespaces/default/pods/p", "/api/v1/namespaces/default/pods", "/api/v1/namespaces"]) {
      const { status, type, object } = await ask(path, `${PROTOBUF},application/json`);
      expect([status, type]).toEqual([200, PROTOBUF]);
      expect(wellKnown(object)).toEqual(wellKnown((await call(cluster, "GET", path)).body));
    }
    const missing = await ask(`${CONFIG_MAPS}/none`);
    expect([missing.status, missing.type]).toEqual([404, PROTOBUF]);
    expect(missing.object).toMatchObject({
      kind: "Status",
      reason: "NotFound",
      message: 'configmaps "none" not found',
      code: 404,
    });
  });

  it("come to those who write, too", async () => {
    const body = JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "made" }, data: { a: "1" } });
    const made = await ask(CONFIG_MAPS, PROTOBUF, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(made).toMatchObject({ status: 201, type: PROTOBUF, object: { kind: "ConfigMap", data: { a: "1" } } });
    const gone = await ask(`${CONFIG_MAPS}/made`, PROTOBUF, { method: "DELETE" });
    expect(gone).toMatchObject({ status: 200, object: { kind: "Status", status: "Success" } });
    const review = JSON.stringify({ kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" });
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const who = await ask(path, PROTOBUF, {
      method: "POST",
      body: review,
      headers: { "content-type": "application/json" },
    });
    expect(who).toMatchObject({ status: 201, type: PROTOBUF, object: { kind: "SelfSubjectReview" } });
  });

  it("of custom objects are their metadata alone", async () => {
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("w", {}, { labels: { a: "b" } }) });
    expect(await ask(`${WIDGETS}/w`, METADATA)).toMatchObject({
      type: PROTOBUF,
      object: {
        kind: "PartialObjectMetadata",
        apiVersion: "meta.k8s.io/v1",
        metadata: { name: "w", labels: { a: "b" } },
      },
    });
    const list = METADATA.replace("Metadata;", "MetadataList;");
    expect((await ask(WIDGETS, list)).object).toMatchObject({ items: [{ metadata: { name: "w" } }] });
    expect((await ask(`${WIDGETS}/w`)).status).toBe(406);
    expect((await ask(`${WIDGETS}/w`, `${PROTOBUF},application/json`)).type).toBe("application/json");
  });

  it("of watches are frames, each with its length before it", async () => {
    const stop = new AbortController();
    const answer = await fetch(`${cluster.url}${CONFIG_MAPS}?watch=1&labelSelector=seen`, {
      signal: stop.signal,
      headers: { accept: `${PROTOBUF};stream=watch`, authorization: `Bearer ${cluster.token}` },
    });
    expect(answer.headers.get("content-type")).toBe(`${PROTOBUF};stream=watch`);
    const body = { kind: "ConfigMap", metadata: { name: "seen", labels: { seen: "yes" } }, data: { k: "v" } };
    await call(cluster, "POST", CONFIG_MAPS, { body });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    let bytes = Buffer.alloc(0);
    while (bytes.length < 4 || bytes.length < 4 + bytes.readUInt32BE(0)) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the watch ended");
      bytes = Buffer.concat([bytes, value]);
    }
    stop.abort();
    const frame = bytes.subarray(4, 4 + bytes.readUInt32BE(0));
    // The event: its type in field 1, and in field 2 something that has the object's bytes in field 1.
    expect(frame.subarray(0, 7).toString("latin1")).toBe("\n\u0005ADDED");
    const { object } = decodeKubernetesProtobuf(frame.subarray(frame.indexOf("k8s\0")), table);
    expect(object).toMatchObject({ kind: "ConfigMap", metadata: { name: "seen" }, data: { k: "v" } });
  });
});
