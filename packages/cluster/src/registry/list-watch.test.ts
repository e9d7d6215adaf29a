import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, MERGE, openWatch, TABLE } from "../test-requests.ts";

const post = (cluster: Cluster, name: string, more: object = {}, metadata: object = {}) =>
  call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name, labels: { suite: "yes" }, ...metadata }, ...more } });
const MINE = "labelSelector=suite%3Dyes";
const names = (list: { items: { metadata: { name: string } }[] }) => list.items.map((item) => item.metadata.name);

describe("list", () => {
  it("cuts into pages that all show the state of the first one", async () => {
    await using cluster = await Cluster.start({ tls: false });
    for (const name of ["a", "b", "c", "d"]) await post(cluster, name);
    const first = (await call(cluster, "GET", `${CONFIG_MAPS}?limit=2`)).body;
    expect(names(first)).toEqual(["a", "b"]);
    expect(first.metadata.remainingItemCount).toBe(3);
    await call(cluster, "DELETE", `${CONFIG_MAPS}/c`);
    await post(cluster, "bb");
    const next = `${CONFIG_MAPS}?limit=2&continue=${encodeURIComponent(first.metadata.continue)}`;
    const second = (await call(cluster, "GET", next)).body;
    expect(names(second)).toEqual(["c", "d"]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const last = (await call(cluster, "GET", `${CONFIG_MAPS}?continue=${encodeURIComponent(second.metadata.continue)}`))
      .body;
    expect(names(last)).toEqual(["kube-root-ca.crt"]);
    expect(last.metadata).not.toHaveProperty("continue");
  });

  it("tells an expired page by 410 with a token that goes on with what is there", async () => {
    await using cluster = await Cluster.start({ tls: false });
    for (const name of ["a", "b", "c"]) await post(cluster, name);
    const first = (await call(cluster, "GET", `${CONFIG_MAPS}?limit=1`)).body;
    await post(cluster, "d");
    cluster.compact();
    const gone = await call(
      cluster,
      "GET",
      `${CONFIG_MAPS}?limit=2&continue=${encodeURIComponent(first.metadata.continue)}`,
    );
    expect([gone.status, gone.body.reason]).toEqual([410, "Expired"]);
    const rest = await call(
      cluster,
      "GET",
      `${CONFIG_MAPS}?continue=${encodeURIComponent(gone.body.metadata.continue)}`,
    );
    expect(names(rest.body)).toEqual(["b", "c", "d", "kube-root-ca.crt"]);
  });

  it("reads the past exactly, until it is compacted", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const then = (await call(cluster, "GET", CONFIG_MAPS)).body.metadata.resourceVersion;
    await post(cluster, "b");
    const exact = `${CONFIG_MAPS}?${MINE}&resourceVersionMatch=Exact&resourceVersion=${then}`;
    expect(names((await call(cluster, "GET", exact)).body)).toEqual(["a"]);
    const newer = `${CONFIG_MAPS}?${MINE}&resourceVersionMatch=NotOlderThan&resourceVersion=${then}`;
    expect(names((await call(cluster, "GET", newer)).body)).toEqual(["a", "b"]);
    cluster.compact();
    const gone = await call(cluster, "GET", exact);
    expect([gone.status, gone.body.message]).toEqual([410, "The resourceVersion for the provided list is too old."]);
    const future = await call(cluster, "GET", `${CONFIG_MAPS}?resourceVersion=99999`);
    expect(future.status).toBe(504);
    expect(future.headers["retry-after"]).toBe("1");
    expect(future.body.details.causes[0].reason).toBe("ResourceVersionTooLarge");
  });

  it("takes versions that are larger than a number can tell for ones to come", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const get = (version: string) => call(cluster, "GET", `${CONFIG_MAPS}?resourceVersion=${version}`);
    const future = await get("9007199254740993");
    expect(future.status).toBe(504);
    expect(future.body.message).toMatch(/Too large resource version: 9007199254740993, current: \d+$/);
    const none = await get("18446744073709551616");
    expect(none.status).toBe(400);
    expect(none.body.message).toMatch(/strconv.ParseUint: parsing "18446744073709551616": value out of range$/);
  });

  it("filters by labels and fields and says what it does not understand", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a", {}, { labels: { suite: "yes", tier: "web" } });
    await post(cluster, "b");
    const list = async (query: string) => (await call(cluster, "GET", `${CONFIG_MAPS}?${query}`)).body;
    expect(names(await list(`labelSelector=${encodeURIComponent("suite,tier notin (db)")}`))).toEqual(["a", "b"]);
    expect(names(await list(`labelSelector=${encodeURIComponent("suite,!tier")}`))).toEqual(["b"]);
    expect(names(await list("fieldSelector=metadata.name%3Db,"))).toEqual(["b"]);
    expect((await list("fieldSelector=data.a%3Db")).message).toBe(
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect((await list("labelSelector=a%20b")).message).toBe(
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    );
    expect((await list("limit=x")).code).toBe(400);
    expect((await list("resourceVersionMatch=Exact")).code).toBe(422);
    expect((await list("continue=abc&resourceVersion=4")).code).toBe(400);
  });

  it("leaves kind and version out of the items of typed lists", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const { body } = await call(cluster, "GET", `${CONFIG_MAPS}?${MINE}`);
    expect(body).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
    expect(body.items[0]).not.toHaveProperty("kind");
    expect((await call(cluster, "GET", `${CONFIG_MAPS}?labelSelector=nobody`)).body.items).toEqual([]);
  });
});

describe("watch", () => {
  it("starts with what is there and goes on with what happens", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=true&${MINE}`);
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { kind: "ConfigMap", metadata: { name: "a" } } });
    await post(cluster, "b");
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    const patched = await call(cluster, "PATCH", `${CONFIG_MAPS}/b`, { type: MERGE, body: { data: { x: "1" } } });
    expect(await watch.next()).toEqual({ type: "MODIFIED", object: patched.body });
    await call(cluster, "DELETE", `${CONFIG_MAPS}/b`);
    const deleted = await watch.next();
    expect(deleted.type).toBe("DELETED");
    expect(Number(deleted.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(patched.body.metadata.resourceVersion),
    );
    watch.close();
  });

  it("replays from a version and skips what came before", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const made = await post(cluster, "a");
    await post(cluster, "b");
    const watch = await openWatch(
      cluster,
      `${CONFIG_MAPS}?watch=1&resourceVersion=${made.body.metadata.resourceVersion}`,
    );
    expect((await watch.next()).object.metadata.name).toBe("b");
    watch.close();
  });

  it("shows an object that enters or leaves the selection as added or deleted", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const { resourceVersion } = (await call(cluster, "GET", CONFIG_MAPS)).body.metadata;
    const watch = await openWatch(
      cluster,
      `${CONFIG_MAPS}?watch=1&labelSelector=hot&resourceVersion=${resourceVersion}`,
    );
    const label = (value: string | null) =>
      call(cluster, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { metadata: { labels: { hot: value } } } });
    await label("1");
    expect((await watch.next()).type).toBe("ADDED");
    const left = await label(null);
    const event = await watch.next();
    expect(event.type).toBe("DELETED");
    expect(event.object.metadata.labels.hot).toBe("1");
    expect(event.object.metadata.resourceVersion).toBe(left.body.metadata.resourceVersion);
    watch.close();
  });

  it("reports a version that is gone as an event and closes", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    cluster.compact();
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&resourceVersion=2`);
    const event = await watch.next();
    expect(event).toMatchObject({ type: "ERROR", object: { kind: "Status", reason: "Expired", code: 410 } });
    expect(event.object.message).toMatch(/^too old resource version: 2 \(\d+\)$/);
    await watch.ended;
  });

  it("streams a list and marks its end with a bookmark of the kind", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?${query}&${MINE}`);
    expect((await watch.next()).type).toBe("ADDED");
    const end = await watch.next();
    expect(end).toMatchObject({
      type: "BOOKMARK",
      object: {
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
      },
    });
    await post(cluster, "b");
    expect((await watch.next()).object.metadata.name).toBe("b");
    watch.close();
    const wrong = await call(cluster, "GET", `${CONFIG_MAPS}?watch=1&sendInitialEvents=true`);
    expect([wrong.status, wrong.body.details.kind]).toEqual([422, "ListOptions"]);
    const alone = await call(cluster, "GET", `${CONFIG_MAPS}?watch=1&resourceVersionMatch=NotOlderThan`);
    expect(alone.status).toBe(422);
    expect((await call(cluster, "GET", `${CONFIG_MAPS}?watch=1&resourceVersion=abc`)).status).toBe(500);
  });

  it("bookmarks every minute by the cluster's clock and ends when its time is over", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ tls: false, clock });
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=1&${MINE}`;
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?${query}`);
    await clock.advance(60_000);
    const bookmark = await watch.next();
    expect(bookmark.type).toBe("BOOKMARK");
    expect(Object.keys(bookmark.object.metadata)).toEqual(["resourceVersion"]);
    await clock.advance(30_000);
    expect((await watch.next()).type).toBe("BOOKMARK");
    await watch.ended;
  });

  it("turns events into rows, with the columns in the first one only", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a", { data: { x: "1" } });
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&${MINE}`, { accept: TABLE });
    const first = await watch.next();
    expect(first.object.columnDefinitions.map((column: { name: string }) => column.name)).toEqual([
      "Name",
      "Data",
      "Age",
    ]);
    await post(cluster, "b");
    const second = await watch.next();
    expect(second.object.columnDefinitions).toBeNull();
    expect(second.object.rows[0].cells.slice(0, 2)).toEqual(["b", 0]);
    watch.close();
  });

  it("answers the old watch paths", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await post(cluster, "a");
    const watch = await openWatch(cluster, "/api/v1/watch/namespaces/default/configmaps/a");
    expect((await watch.next()).object.metadata.name).toBe("a");
    watch.close();
  });
});
