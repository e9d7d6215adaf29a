import { get } from "node:http";
import { VirtualClock } from "@lotse/client/meta";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterParts, compose } from "./compose.ts";
import { type Controller, EventExpiry, EventRecorder, WorkloadControllers } from "./controllers/index.ts";
import { loadNode, PodKeepers } from "./kubelet/index.ts";
import { type ApiObject, create } from "./registry/index.ts";
import { Listener } from "./transport/index.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
const FULL = new Error("the data in /data cannot be written: no space left");

/** Work that no request waits for. Whatever it throws would otherwise end the process, or be lost. */
describe("what goes wrong by itself is told to people", () => {
  let clock: VirtualClock;
  let parts: ClusterParts;
  let told: string[];
  const controllers: Controller[] = [];

  beforeEach(async () => {
    clock = new VirtualClock();
    told = [];
    const onTrouble = (text: string) => void told.push(text.split("\n    at ")[0] as string);
    // There are no namespaces, nor any accounts: nothing was booted.
    const admission = { disable: ["NamespaceLifecycle", "ServiceAccount"] } as const;
    parts = await compose({ tls: false, clock, onTrouble, admission }, undefined);
  });

  afterEach(() => {
    for (const controller of controllers.splice(0)) controller.stop();
    parts.context.backend.pace.stop();
    expect(clock.pending).toBe(0);
  });

  const begin = <T extends Controller>(controller: T): T => {
    controllers.push(controller);
    controller.start();
    return controller;
  };
  const settled = async () => {
    do await turn();
    while (controllers.some(({ idle }) => !idle));
  };
  const put = (table: string, name: string, rest: object = {}) =>
    parts.store.create(table, `default/${name}`, {
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name, namespace: "default", uid: name, resourceVersion: "" },
      ...rest,
    } as never);

  it("a controller of pods that cannot be made, which is tried again with the next object", async () => {
    let tries = 0;
    const started: string[] = [];
    const make = async (): Promise<Controller> => {
      if (++tries === 1) throw new Error("Cannot find module");
      const start = () => {
        if (tries === 2) throw new Error("does not start");
        started.push("pods");
      };
      return { start, stop: () => {}, idle: true };
    };
    begin(new PodKeepers(parts.context, { disruptionBudgets: false }, { pods: make }));
    put("pods", "a");
    await settled();
    expect(told).toEqual(["the controller that looks after pods does not run: Error: Cannot find module"]);
    await clock.advance(60_000);
    put("pods", "b");
    await settled();
    expect(told[1]).toBe("the controller that looks after pods does not run: Error: does not start");
    put("pods", "c");
    put("pods", "d");
    await settled();
    expect([tries, started, told.length]).toEqual([3, ["pods"], 2]);
  });

  it("controllers of workloads that cannot be loaded, which are tried again with the next object", async () => {
    let refused = 0;
    parts.context.backend.provisions?.set("storageclasses.storage.k8s.io", async () => {
      if (++refused === 1) throw FULL;
    });
    begin(new WorkloadControllers(parts.context, (name) => name === "jobs"));
    put("jobs.batch", "a");
    await settled();
    expect(told).toEqual([`the controllers of workloads do not run: ${FULL}`]);
    put("jobs.batch", "b");
    await settled();
    expect(refused).toBe(2);
  });

  it("Events that are kept for ever because the disk has failed", async () => {
    begin(new EventExpiry(parts.context));
    put("events", "a");
    parts.store.freeze(parts.store.revision, FULL);
    await clock.advance(3_600_000);
    await settled();
    expect(told).toEqual([`Events are kept from now on, however old they are: ${FULL}`]);
    expect(parts.store.get("events", "default/a")).toBeDefined();
  });

  it("Events that cannot be written, and those who tell them go on", async () => {
    const events = new EventRecorder(parts.context);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default", uid: "a" } } as ApiObject;
    const note = (message: string) => ({ type: "Normal", reason: "Tested", message }) as const;
    parts.store.freeze(parts.store.revision, FULL);
    await events.record({ component: "kubelet" }, pod, note("one"));
    await events.record({ component: "kubelet" }, pod, note("two"));
    expect(events.idle).toBe(true);
    expect(told).toEqual([`Events of kubelet are not written: ${FULL}`]);
  });

  it("a pod that cannot be bound, before the scheduler tries again", async () => {
    const { Scheduler } = await loadNode();
    const { backend, requester } = parts.context;
    const endpoint = backend.catalog.storage("", "pods");
    if (!endpoint) throw new Error("pods are not served");
    const spec = { containers: [{ name: "c", image: "i" }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" }, spec };
    await create(
      backend,
      requester,
      { endpoint, namespace: "default", name: undefined, subresource: undefined },
      pod as unknown as ApiObject,
      { dryRun: false, fieldManager: "test", fieldValidation: "Ignore" },
    );
    parts.store.create("nodes", "n", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", uid: "n", resourceVersion: "" },
      status: { allocatable: { pods: "10" } },
    } as never);
    parts.store.freeze(parts.store.revision, FULL);
    begin(new Scheduler(parts.context, "n"));
    await settled();
    expect(told).toEqual([`the scheduler failed at pod default/a: ${FULL}`]);
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await settled();
    }
    expect(told).toHaveLength(2);
  });

  it("a request that could not be answered at all, besides that its connection is cut", async () => {
    const { troubles } = parts.context.backend;
    const listener = await Listener.open({
      host: "127.0.0.1",
      now: Date.now,
      port: 0,
      tls: undefined,
      handle: () => Promise.reject(new Error("a mistake of the server")),
      trouble: (work, error) => troubles.report(work, error),
    });
    try {
      const failure = await new Promise<Error>((resolve, reject) => {
        get({ host: "127.0.0.1", port: listener.port, path: "/" }, () => reject(new Error("was answered"))).on(
          "error",
          resolve,
        );
      });
      expect(failure.message).toBe("socket hang up");
      expect(told).toEqual(["a request could not be answered, its connection was cut: Error: a mistake of the server"]);
    } finally {
      await listener.close();
    }
  });
});
