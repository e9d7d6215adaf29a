import {
  ApiError,
  type Client,
  ConflictError,
  InvalidError,
  type KindDescription,
  type KubeBody,
  NotFoundError,
} from "@lotse/client";
import { applyMergePatch, type JsonObject } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { annotationStorage, statusStorage } from "./storage/index.ts";
import { thing } from "./test-builders.ts";
import { isTooLarge, requestsFor, type WritePlan, type WriteTarget, write } from "./write.ts";

const description = { group: "example.com", version: "v1", kind: "Thing", plural: "things" } as KindDescription;
const inStatus: WriteTarget = {
  description,
  hasStatus: true,
  storage: statusStorage("op"),
  fieldManager: "op",
  handlers: ["a"],
};
const inAnnotation: WriteTarget = { ...inStatus, storage: annotationStorage("op") };
const nothing: WritePlan = { changes: undefined, record: undefined, finalizer: "keep" };
const record = { uid: "u1", handled: "abc" };

describe("the requests of a turn", () => {
  it("are none when nothing changes", () => {
    const body = { ...thing({ size: 1 }), status: { rate: 1, lotse: { op: record } } };
    expect(requestsFor(body, { ...nothing, changes: { status: { rate: 1 } }, record }, inStatus)).toEqual([]);
  });

  it("are one when the record lies in the status", () => {
    expect(requestsFor(thing(), { ...nothing, changes: { status: { rate: 1 } }, record }, inStatus)).toEqual([
      { subresource: "status", patch: { status: { rate: 1, lotse: { op: record } } } },
    ]);
  });

  it("are one for a kind that has no status apart", () => {
    const requests = requestsFor(
      thing(),
      { ...nothing, changes: { status: { rate: 1 } }, record },
      { ...inAnnotation, hasStatus: false },
    );
    expect(requests).toHaveLength(1);
  });

  it("send the record last, so that a crash between two requests loses no change", () => {
    const changes = { metadata: { labels: { a: "b" } }, status: { rate: 1 } };
    expect(requestsFor(thing(), { ...nothing, changes, record }, inStatus).map((r) => r.subresource)).toEqual([
      undefined,
      "status",
    ]);
    expect(requestsFor(thing(), { ...nothing, changes, record }, inAnnotation).map((r) => r.subresource)).toEqual([
      "status",
      undefined,
    ]);
  });

  it("drop the finalizer last, because the object may end with it", () => {
    const body = thing({}, { finalizers: ["foreign/x", "op.lotse.dev/finalizer"] });
    const requests = requestsFor(
      body,
      { ...nothing, changes: { status: { done: true } }, finalizer: "drop" },
      inStatus,
    );
    expect(requests.map((r) => r.subresource)).toEqual(["status", undefined]);
    expect(requests[1]?.patch).toEqual({ metadata: { finalizers: ["foreign/x"] } });
  });

  it("remove from a record what is no longer in it, and leave other operators' records alone", () => {
    const before = { uid: "u1", open: { reason: "create", digest: "x" }, runs: { a: { attempts: 1, started: "s" } } };
    const body = { ...thing(), status: { lotse: { op: before, other: { uid: "u1" } } } };
    const [request] = requestsFor(body, { ...nothing, record }, inStatus);
    expect(applyMergePatch(body, request?.patch as JsonObject)).toMatchObject({
      status: { lotse: { op: record, other: { uid: "u1" } } },
    });
    expect((applyMergePatch(body, request?.patch as JsonObject) as typeof body).status.lotse.op).not.toHaveProperty(
      "runs",
    );
  });
});

/** A server with one object. Each entry of `script` decides what happens to one PATCH. */
function server(start: KubeBody, script: ((apply: () => KubeBody) => KubeBody)[] = []) {
  let stored: KubeBody | undefined = start;
  let version = 1;
  const patches: JsonObject[] = [];
  const request = { method: "PATCH", path: "/" };
  const bump = (body: KubeBody): KubeBody => ({
    ...body,
    metadata: { ...body.metadata, resourceVersion: String(++version) },
  });
  const client = {
    raw: async ({ body: patch }: { body: JsonObject }) => {
      patches.push(patch);
      const apply = () => {
        if (!stored) throw new NotFoundError("gone", { status: 404, request, details: { name: "one" } } as never);
        const wanted = (patch.metadata as JsonObject).resourceVersion;
        if (wanted !== undefined && wanted !== stored.metadata?.resourceVersion) {
          throw new ConflictError("moved on", { status: 409, request } as never);
        }
        const { resourceVersion: _version, ...metadata } = patch.metadata as JsonObject;
        stored = bump(applyMergePatch(stored, { ...patch, metadata }) as KubeBody);
        return stored;
      };
      const body = (script.shift() ?? ((run) => run()))(apply);
      return { json: async () => body };
    },
    get: async () => {
      if (!stored) throw new NotFoundError("gone", { status: 404, request, details: { name: "one" } } as never);
      return { body: stored };
    },
  } as unknown as Client;
  return {
    client,
    patches,
    get stored() {
      return stored;
    },
    foreign: (change: JsonObject) => {
      stored = stored && bump(applyMergePatch(stored, change) as KubeBody);
    },
    recreate: () => {
      stored = bump(thing({}, { uid: "u2" }));
    },
  };
}

describe("writing", () => {
  const plan: WritePlan = { ...nothing, changes: { status: { rate: 1 } }, record };
  const ignore = () => {};

  it("needs one PATCH", async () => {
    const world = server(thing());
    expect(await write(world.client, thing(), plan, inStatus, ignore)).toMatchObject({ type: "written", requests: 1 });
    expect(world.patches).toHaveLength(1);
  });

  it("sends nothing when nothing changes", async () => {
    const world = server(thing());
    expect(await write(world.client, thing(), nothing, inStatus, ignore)).toEqual({
      type: "unchanged",
      contested: false,
    });
    expect(world.patches).toEqual([]);
  });

  it("computes the difference anew when somebody else was faster", async () => {
    const world = server(thing());
    world.foreign({ metadata: { finalizers: ["late/comer"] } });
    const result = await write(world.client, thing(), { ...plan, finalizer: "add" }, inStatus, ignore);
    expect(result).toMatchObject({ type: "written", contested: true });
    expect(world.stored?.metadata?.finalizers).toEqual(["late/comer", "op.lotse.dev/finalizer"]);
  });

  it("makes a transformation anew from what somebody else has written meanwhile", async () => {
    const world = server(thing({ items: ["a"] }));
    world.foreign({ spec: { items: ["a", "b"] } });
    const add = (body: KubeBody) => (body.spec as { items: string[] }).items.push("mine");
    await write(world.client, thing({ items: ["a"] }), { ...nothing, transforms: [add] }, inStatus, ignore);
    expect(world.stored?.spec).toEqual({ items: ["a", "b", "mine"] });
  });

  it("finds out by reading whether a write landed whose answer was lost", async () => {
    const lost = (apply: () => KubeBody): KubeBody => {
      apply();
      throw new Error("socket hang up");
    };
    const world = server(thing(), [lost]);
    await write(world.client, thing(), plan, inStatus, ignore);
    expect(world.patches).toHaveLength(1);
    expect(world.stored?.status).toMatchObject({ rate: 1 });
  });

  it("never writes to another object of the same name", async () => {
    const world = server(thing());
    world.recreate();
    expect(await write(world.client, thing(), plan, inStatus, ignore)).toEqual({ type: "gone" });
    expect(world.stored?.status).toBeUndefined();
  });

  it("tells what the server took and did not keep, and does not ask for it again", async () => {
    const pruned = (apply: () => KubeBody): KubeBody => {
      const { status: _status, ...rest } = apply();
      return rest;
    };
    const world = server(thing(), [pruned, pruned, pruned]);
    const result = await write(world.client, thing(), plan, inStatus, ignore);
    expect(result).toMatchObject({ type: "written", dropped: { status: { rate: 1 } } });
    expect(world.patches).toHaveLength(1);
  });

  it("does not take what somebody else has changed between two requests for something that the server dropped", async () => {
    const world = server(thing({ size: 1 }), [
      (apply) => {
        const answer = apply();
        world.foreign({ spec: { size: 1 } });
        return answer;
      },
    ]);
    const both: WritePlan = { ...plan, changes: { spec: { size: 2 }, status: { rate: 1 } } };
    const result = await write(world.client, thing({ size: 1 }), both, inStatus, ignore);
    expect(result).toMatchObject({ type: "written", requests: 2, dropped: undefined, contested: true });
    expect(result).toMatchObject({ made: { spec: { size: 2 } }, body: { spec: { size: 1 } } });
  });

  it("is not tried again when the object is too large, however the server says it", async () => {
    for (const [status, message] of [
      [413, "Request entity too large: limit is 3145728"],
      [500, "etcdserver: request is too large"],
      [500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)"],
    ] as const) {
      const refuse = () => {
        throw new ApiError(message, { status, request: { method: "PATCH", path: "/" } } as never);
      };
      const world = server(thing(), [refuse]);
      await expect(write(world.client, thing(), plan, inStatus, ignore)).rejects.toSatisfy(isTooLarge);
      expect(world.patches).toHaveLength(1);
    }
  });

  it("does not take a 404 that names nobody for the end of the object", async () => {
    const proxy = () => {
      throw new NotFoundError("404 page not found", { status: 404, request: { method: "PATCH", path: "/" } } as never);
    };
    await expect(write(server(thing(), [proxy]).client, thing(), plan, inStatus, ignore)).rejects.toThrow("404");
  });

  it("leaves no trace of a finalizer list that is empty", () => {
    const body = thing({}, { finalizers: ["op.lotse.dev/finalizer"] });
    expect(requestsFor(body, { ...nothing, finalizer: "drop" }, inStatus)).toEqual([
      { subresource: undefined, patch: { metadata: { finalizers: null } } },
    ]);
    expect(requestsFor(thing(), { ...nothing, finalizer: "drop" }, inStatus)).toEqual([]);
  });

  it("passes on what the server refuses", async () => {
    const refuse = () => {
      throw new InvalidError("no", { status: 422, request: { method: "PATCH", path: "/" } } as never);
    };
    await expect(write(server(thing(), [refuse]).client, thing(), plan, inStatus, ignore)).rejects.toThrow("no");
  });
});
