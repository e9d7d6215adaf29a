import { expect, it } from "vitest";
import { describeKind, type KubeBody } from "../kinds/index.ts";
import { VirtualClock } from "../meta/index.ts";
import { type Connection, ScriptedServer } from "./scripted-server.ts";
import { openStream } from "./stream.ts";

it("a watch takes an event of several megabytes, however it is cut into chunks", async () => {
  const clock = new VirtualClock();
  const long = "x".repeat(3 * 1024 * 1024);
  const metadata = { name: "large", namespace: "default", uid: "u1", resourceVersion: "11" };
  const line = Buffer.from(`${JSON.stringify({ type: "ADDED", object: { metadata, data: { long } } })}\n`);
  const send = (connection: Connection) => {
    for (let at = 0; at < line.length; at += 65_521) connection.body.write(line.subarray(at, at + 65_521));
  };
  const server = new ScriptedServer(
    { json: { kind: "ConfigMapList", metadata: { resourceVersion: "10" }, items: [] } },
    { watch: send },
  );
  const stop = new AbortController();
  const seen: KubeBody[] = [];
  const done = openStream<KubeBody>(
    server,
    describeKind({ group: "", version: "v1", kind: "ConfigMap" }),
    { namespace: "default", clock, random: () => 0 },
    { replace: () => {}, apply: (body) => void seen.push(body), remove: () => {} },
    stop.signal,
  );
  await expect.poll(() => clock.advance(0).then(() => seen.length)).toBe(1);
  expect((seen[0] as { data: { long: string } }).data.long.length).toBe(long.length);
  expect(server.log).toEqual(["list", "watch@10"]);
  stop.abort();
  await done;
});
