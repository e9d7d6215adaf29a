import { VirtualClock } from "@lotse/client/meta";
import { expect, it } from "vitest";
import type { ApiObject } from "../registry/index.ts";
import { NodeImages } from "./images.ts";
import { PodWorker } from "./pod-worker.ts";
import type { Sandbox } from "./runtime.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("what a pod leaves behind that went before its sandbox was there is told when it cannot be removed", async () => {
  let opened: (sandbox: Sandbox) => void = () => {};
  const opening = new Promise<Sandbox>((resolve) => {
    opened = resolve;
  });
  const troubles: string[] = [];
  const metadata = { name: "a", namespace: "default", uid: "a" };
  const spec = { containers: [{ name: "c", image: "i" }] };
  const worker = new PodWorker({ apiVersion: "v1", kind: "Pod", metadata, spec } as unknown as ApiObject, {
    clock: new VirtualClock(),
    runtime: { pullsImages: false, open: () => opening, close: async () => {} },
    images: new NodeImages(false),
    writer: {
      report: async () => {},
      erase: async () => {},
      event: () => {},
      trouble: (work, error) => troubles.push(`${work}: ${(error as Error).message}`),
    },
    hostIp: "127.0.0.1",
    allocate: () => undefined,
  });
  worker.wake();
  await turn();
  await worker.close();
  opened({
    ip: "127.0.0.1",
    start: () => Promise.reject(new Error("gone")),
    connect: () => Promise.reject(new Error("gone")),
    failed: new Promise(() => {}),
    remove: () => Promise.reject(new Error("EBUSY")),
  });
  await turn();
  expect(troubles).toEqual(["what was left of pod default/a could not be removed: EBUSY"]);
});
