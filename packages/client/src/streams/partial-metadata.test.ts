import { expect, it, onTestFinished } from "vitest";
import { describeKind, type KubeBody } from "../kinds/index.ts";
import { objectKeyOf, VirtualClock } from "../meta/index.ts";
import { Reflector } from "./reflector.ts";
import { type Answer, ScriptedServer } from "./scripted-server.ts";

const kind = describeKind({ group: "apps", version: "v1", kind: "Deployment" });
const KEY = objectKeyOf("default", "a");
const FORM = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };

const metadata = (resourceVersion: string) => ({ name: "a", namespace: "default", uid: "1", resourceVersion });
const bare = ({ apiVersion, kind: name, metadata: meta }: KubeBody): KubeBody => ({
  ...(apiVersion !== undefined && { apiVersion }),
  ...(name !== undefined && { kind: name }),
  ...(meta && { metadata: meta }),
});

async function start(cut: ((body: KubeBody) => KubeBody) | undefined, metadataOnly: boolean, ...script: Answer[]) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(...script);
  const stop = new AbortController();
  const phases: string[] = [];
  const reflector = new Reflector<KubeBody>(
    server,
    { clock, random: () => 0, metadataOnly: () => metadataOnly },
    { changed: () => {}, gone: () => {}, ...(cut && { cut }), state: ({ phase }) => phases.push(phase) },
  );
  const run = reflector.run(stop.signal, kind);
  onTestFinished(async () => {
    stop.abort();
    await run;
  });
  await clock.advance(0);
  const send = async (type: string, body: unknown) => {
    server.connection.send(type, body);
    await clock.advance(0);
  };
  const accepted = () => server.requests.map(({ headers }) => headers?.accept);
  return { clock, server, reflector, phases, send, accepted };
}

const LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const WATCH = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const page = (items: unknown[]): Answer => ({ json: { metadata: { resourceVersion: "5" }, items } });
const quiet: Answer = { watch: () => undefined };

it("asks for metadata alone, and gives them back the names of their kind", async () => {
  const { reflector, send, accepted } = await start(bare, true, page([{ ...FORM, metadata: metadata("5") }]), quiet);
  expect(accepted()).toEqual([LIST, WATCH]);
  expect(reflector.get(KEY)).toEqual({ apiVersion: "apps/v1", kind: "Deployment", metadata: metadata("5") });
  await send("MODIFIED", { ...FORM, metadata: { ...metadata("6"), managedFields: [{ manager: "me" }] } });
  expect(reflector.get(KEY)).toEqual({ apiVersion: "apps/v1", kind: "Deployment", metadata: metadata("6") });
  await send("BOOKMARK", { ...FORM, metadata: { resourceVersion: "7" } });
  await send("DELETED", { ...FORM, metadata: metadata("8") });
  expect(reflector.size).toBe(0);
});

it("cuts the whole objects of a server that sends nothing else", async () => {
  const whole = { metadata: metadata("5"), spec: { replicas: 3 } };
  const { reflector, send } = await start(bare, true, page([whole]), quiet);
  expect(reflector.get(KEY)).toEqual({ apiVersion: "apps/v1", kind: "Deployment", metadata: metadata("5") });
  await send("MODIFIED", { ...whole, metadata: metadata("6") });
  expect(reflector.get(KEY)).not.toHaveProperty("spec");
  reflector.wrote({ ...whole, metadata: { ...metadata("9"), managedFields: [] } });
  expect(reflector.get(KEY)).toEqual({ metadata: metadata("9") });
});

it.each([
  ["a list that is refused", { status: 406 } as Answer],
  ["an answer that is no list", { json: { kind: "Table", rows: [] } } as Answer],
])("asks for plain JSON at once after %s, and from then on", async (_, answer) => {
  const whole = { metadata: metadata("5"), spec: { replicas: 3 } };
  const { reflector, accepted, phases } = await start(bare, true, answer, page([whole]), quiet);
  expect(accepted()).toEqual([LIST, undefined, undefined]);
  expect(phases).toEqual(["listing", "watching"]);
  expect(reflector.get(KEY)).not.toHaveProperty("spec");
});

it("asks for plain JSON at once after a watch that is refused", async () => {
  const { accepted, phases } = await start(bare, true, page([]), { status: 406 }, quiet);
  expect(accepted()).toEqual([LIST, WATCH, undefined]);
  expect(phases).toEqual(["listing", "watching"]);
});

it("still waits after any other failure, and asks in the same form again", async () => {
  const { accepted, phases, clock } = await start(bare, true, { status: 500 }, page([]), quiet);
  expect(phases).toEqual(["listing", "waiting"]);
  await clock.advance(60_000);
  expect(accepted().slice(0, 2)).toEqual([LIST, LIST]);
});

it("sends no such header, and cuts nothing, unless it is asked to", async () => {
  const whole = { metadata: metadata("5"), spec: { replicas: 3 } };
  const { reflector, accepted } = await start(undefined, false, page([whole]), quiet);
  expect(accepted()).toEqual([undefined, undefined]);
  expect(reflector.get(KEY)).toMatchObject(whole);
});

it("never cuts what a watch says of itself", async () => {
  const { server, clock, send } = await start(bare, true, page([]), quiet, page([]), quiet);
  await send("ERROR", { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired", metadata: {} });
  await clock.advance(0);
  expect(server.log).toEqual(["list", "watch@5", "list", "watch@5"]);
});
