import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Pod } from "../builtin/index.ts";
import { testClient } from "../client/test-cluster.ts";
import { VirtualClock } from "../meta/index.ts";
import { ForbiddenError, NotFoundError } from "../transport/index.ts";
import { WaitTimeoutError } from "./wait.ts";

const web = (status: object = {}, uid = "u1") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", uid, resourceVersion: "2" },
  status,
});

/** A cluster whose list has `items`, and whose watch the test feeds. */
async function cluster(items: object[]) {
  const clock = new VirtualClock();
  const events = new PassThrough();
  const { client, transport } = await testClient(
    ({ query }) => (query?.watch ? { events } : { body: { metadata: { resourceVersion: "1" }, items } }),
    { clock },
  );
  const send = async (type: string, object: object) => {
    events.write(`${JSON.stringify({ type, object })}\n`);
    await clock.advance(0);
  };
  return { client, transport, clock, events, send };
}

describe("wait", () => {
  it("resolves at once when the condition holds, and closes its watch", async () => {
    const { client, transport, clock } = await cluster([web({ phase: "Running" })]);
    const pod = await client.wait(Pod, "web", "jsonpath={.status.phase}=Running");
    expect(pod).toBeInstanceOf(Pod);
    expect(pod.status?.phase).toBe("Running");
    expect(transport.log[0]).toBe("GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name=web&limit=500");
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it("resolves when a change makes it hold, with the object brought up to date", async () => {
    const { client, clock, events, send } = await cluster([web({ phase: "Pending" })]);
    const pod = new Pod(web({ phase: "Pending" }) as Pod["body"], client);
    const waiting = pod.wait(({ status }) => status?.phase === "Running");
    await clock.advance(0);
    await send("MODIFIED", web({ phase: "Running" }));
    expect(await waiting).toBe(pod);
    expect(pod.status?.phase).toBe("Running");
    expect(events.destroyed).toBe(true);
  });

  it("holds only when all of several conditions do", async () => {
    const { client, clock, send } = await cluster([web({ phase: "Running" })]);
    const conditions = ["jsonpath={.status.phase}=Running", "jsonpath={.status.podIP}"];
    let done = false;
    const waiting = client.wait(Pod, "web", conditions).then(() => {
      done = true;
    });
    await clock.advance(0);
    expect(done).toBe(false);
    await send("MODIFIED", web({ phase: "Running", podIP: "10.0.0.1" }));
    await waiting;
  });

  it("waits for a path that leads nowhere yet, or to several values", async () => {
    const { client, clock, send } = await cluster([web()]);
    const address = client.wait(Pod, "web", "jsonpath={.status.hostIPs[*].ip}=10.0.0.1");
    await clock.advance(0);
    await send("MODIFIED", web({ hostIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }));
    await send("MODIFIED", web({ hostIPs: [{ ip: "10.0.0.1" }] }));
    expect((await address).status?.hostIPs).toHaveLength(1);
  });

  it("waits for creation and for deletion", async () => {
    const empty = await cluster([]);
    const created = empty.client.wait(Pod, "web", "create");
    await empty.clock.advance(0);
    await empty.send("ADDED", web());
    expect((await created).uid).toBe("u1");

    const there = await cluster([web()]);
    const deleted = there.client.wait(Pod, "web", "delete");
    await there.clock.advance(0);
    await there.send("DELETED", web());
    await deleted;

    await empty.client.wait(Pod, "web", "delete");
  });

  it("takes another object of the same name for a deletion of the one waited for", async () => {
    const { client } = await cluster([web({}, "another")]);
    await new Pod(web() as Pod["body"], client).wait("delete");
  });

  it("fails at once when the object does not exist or goes away", async () => {
    const empty = await cluster([]);
    const missing = await empty.client.wait(Pod, "web", "condition=Ready").catch((error) => error);
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing.message).toBe("Pod default/web not found");

    const there = await cluster([web()]);
    const waiting = there.client.wait(Pod, "web", "condition=Ready").catch((error) => error);
    await there.clock.advance(0);
    await there.send("DELETED", web());
    expect((await waiting).message).toBe("Pod default/web was deleted while it was waited for");
  });

  it("says after the time-out what was missing and what was seen last", async () => {
    const { client, clock } = await cluster([web({ phase: "Pending" })]);
    const waiting = client
      .wait(Pod, "web", ["jsonpath={.status.phase}=Running", "create"], { timeout: "5s" })
      .catch((error) => error);
    await clock.advance(4_999);
    await clock.advance(1);
    const error = await waiting;
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({
      message: "Pod default/web: not so after 5s: jsonpath={.status.phase}=Running",
      missing: ["jsonpath={.status.phase}=Running"],
      last: { status: { phase: "Pending" } },
    });
  });

  it("survives the end of a watch", async () => {
    const clock = new VirtualClock();
    const watches = [new PassThrough(), new PassThrough()];
    let opened = 0;
    const { client } = await testClient(
      ({ query }) =>
        query?.watch
          ? { events: watches[opened++] as PassThrough }
          : { body: { metadata: { resourceVersion: "1" }, items: [web()] } },
      { clock },
    );
    const waiting = client.wait(Pod, "web", "jsonpath={.status.phase}=Running");
    await clock.advance(2_000);
    watches[0]?.end();
    await clock.advance(2_000);
    watches[1]?.write(`${JSON.stringify({ type: "MODIFIED", object: web({ phase: "Running" }) })}\n`);
    expect((await waiting).status?.phase).toBe("Running");
  });

  it("does not wait for a permission", async () => {
    const { client } = await testClient(() => ({ status: 403 }), { clock: new VirtualClock() });
    await expect(client.wait(Pod, "web", "create")).rejects.toBeInstanceOf(ForbiddenError);
  });

  it("ends with the signal's reason, and with what a predicate throws", async () => {
    const { client, clock } = await cluster([web()]);
    const stop = new AbortController();
    const waiting = client.wait(Pod, "web", "delete", { signal: stop.signal });
    await clock.advance(0);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const broken = () => {
      throw new Error("a defect");
    };
    await expect(client.wait(Pod, "web", broken)).rejects.toThrow("a defect");
  });
});
