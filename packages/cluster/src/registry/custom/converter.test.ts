import { describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { type HookCall, type HookReply, TestHooks } from "../../test-hooks.ts";
import { call, DEFINITIONS, define, MERGE, openWatch, TABLE, widgetDefinition } from "../../test-requests.ts";

const V1 = "/apis/example.com/v1/namespaces/default/widgets";
const V2 = "/apis/example.com/v2/namespaces/default/widgets";

const version = (name: string, storage: boolean, field: string) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { [field]: { type: "string" } } } },
    },
  },
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: "Host", type: "string", jsonPath: `.spec.${field}` }],
});

// biome-ignore lint/suspicious/noExplicitAny: the webhook of a test takes objects apart
function rename(object: any, desired: string): object {
  const text = object.spec?.host ?? object.spec?.address;
  const field = desired.endsWith("/v1") ? "host" : "address";
  return { ...object, apiVersion: desired, spec: { [field]: text } };
}

/** Renames `spec.host` of v1 to `spec.address` of v2 and back. */
function convert(seen: HookCall): object {
  const { uid, desiredAPIVersion, objects } = seen.body.request;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: {
      uid,
      result: { status: "Success" },
      convertedObjects: objects.map((object: object) => rename(object, desiredAPIVersion)),
    },
  };
}

async function converting(answer: (call: HookCall) => HookReply = convert) {
  const hooks = await TestHooks.start(answer);
  const cluster = await Cluster.start({ tls: false });
  const definition = widgetDefinition({
    versions: [version("v1", true, "host"), version("v2", false, "address")],
    conversion: {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: hooks.at("/convert") },
    },
  });
  expect((await define(cluster, definition)).status).toBe(201);
  const dispose = async () => {
    await cluster.stop();
    await hooks[Symbol.asyncDispose]();
  };
  return { hooks, cluster, [Symbol.asyncDispose]: dispose };
}

const v1 = (name: string, host: string) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec: { host },
});
const v2 = (name: string, address: string) => ({ ...v1(name, ""), apiVersion: "example.com/v2", spec: { address } });

describe("a conversion webhook", () => {
  it("is not called for the version that is stored", async () => {
    await using test = await converting();
    await call(test.cluster, "POST", V1, { body: v1("a", "here") });
    expect((await call(test.cluster, "GET", `${V1}/a`)).body.spec).toEqual({ host: "here" });
    expect(test.hooks.calls).toHaveLength(0);
  });

  it("converts what is written and read in another version", async () => {
    await using test = await converting();
    const { cluster, hooks } = test;
    const created = await call(cluster, "POST", V2, { body: v2("a", "there") });
    expect(created.body).toMatchObject({ apiVersion: "example.com/v2", spec: { address: "there" } });
    expect(hooks.calls[0]?.path).toBe("/convert?timeout=30s");
    expect(hooks.calls[0]?.body).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "ConversionReview",
      request: { desiredAPIVersion: "example.com/v1", objects: [{ apiVersion: "example.com/v2" }] },
    });
    expect((await call(cluster, "GET", `${V1}/a`)).body.spec).toEqual({ host: "there" });
    const patched = await call(cluster, "PATCH", `${V2}/a`, { type: MERGE, body: { spec: { address: "else" } } });
    expect(patched.body.spec).toEqual({ address: "else" });
    expect((await call(cluster, "GET", `${V1}/a`)).body).toMatchObject({
      apiVersion: "example.com/v1",
      metadata: { generation: 2 },
      spec: { host: "else" },
    });
    expect((await call(cluster, "DELETE", `${V2}/a`)).status).toBe(200);
  });

  it("converts a list with one call", async () => {
    await using test = await converting();
    const { cluster, hooks } = test;
    for (const name of ["a", "b", "c"]) await call(cluster, "POST", V1, { body: v1(name, name) });
    const list = await call(cluster, "GET", V2);
    expect(list.body.items.map((item: { spec: object }) => item.spec)).toEqual([
      { address: "a" },
      { address: "b" },
      { address: "c" },
    ]);
    expect(hooks.calls.map(({ body }) => body.request.objects.length)).toEqual([3]);
    const first = await call(cluster, "GET", `${V2}?limit=2`);
    expect(first.body.items).toHaveLength(2);
    const table = await call(cluster, "GET", V2, { headers: { accept: TABLE } });
    expect(table.body.rows[0].cells).toEqual(["a", "a"]);
  });

  it("converts what watchers see, in order", async () => {
    await using test = await converting();
    const { cluster } = test;
    await call(cluster, "POST", V1, { body: v1("a", "1") });
    const watch = await openWatch(cluster, `${V2}?watch=1`);
    expect((await watch.next()).object.spec).toEqual({ address: "1" });
    await call(cluster, "PATCH", `${V1}/a`, { type: MERGE, body: { spec: { host: "2" } } });
    await call(cluster, "DELETE", `${V1}/a`);
    const events = [await watch.next(), await watch.next()];
    expect(events.map(({ type, object }) => [type, object.spec.address])).toEqual([
      ["MODIFIED", "2"],
      ["DELETED", "2"],
    ]);
    watch.close();
  });

  it("keeps objects readable whose version is no longer the stored one", async () => {
    await using test = await converting();
    const { cluster } = test;
    await call(cluster, "POST", V1, { body: v1("old", "x") });
    const versions = [version("v1", false, "host"), version("v2", true, "address")];
    const path = `${DEFINITIONS}/widgets.example.com`;
    expect((await call(cluster, "PATCH", path, { type: MERGE, body: { spec: { versions } } })).status).toBe(200);
    expect((await call(cluster, "GET", `${V2}/old`)).body.spec).toEqual({ address: "x" });
    expect((await call(cluster, "GET", `${V1}/old`)).body.spec).toEqual({ host: "x" });
  });

  it.each([
    [
      { strategy: "None", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a/" } } },
      "[spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook, spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook]",
    ],
    [
      { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1", "v1"], clientConfig: { url: "http://a/" } } },
      '[spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path], spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version]',
    ],
    [
      { strategy: "Webhook", webhook: { conversionReviewVersions: ["v7"], clientConfig: {} } },
      '[spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required, spec.conversion.conversionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1]',
    ],
  ])("is refused with %j", async (conversion, message) => {
    await using cluster = await Cluster.start({ tls: false });
    const answer = await define(cluster, widgetDefinition({ conversion }));
    expect(answer.body.message).toBe(
      `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: ${message}`,
    );
  });

  const prefix = "conversion webhook for example.com/v1, Kind=Widget";
  const failing: [string, (seen: HookCall) => HookReply, string][] = [
    [
      "says so",
      (seen) => ({
        ...convert(seen),
        response: { uid: seen.body.request.uid, result: { status: "Failure", message: "no idea" } },
      }),
      `${prefix} failed: no idea`,
    ],
    [
      "answers with an error",
      () => ({ status: 500, text: "boom" }),
      `${prefix} failed: an error on the server ("boom")`,
    ],
    [
      "gives too few objects",
      (seen) => ({
        ...convert(seen),
        response: { uid: seen.body.request.uid, result: { status: "Success" }, convertedObjects: [] },
      }),
      `${prefix} returned 0 objects, expected 1`,
    ],
    [
      "changes the name",
      (seen) => {
        const { uid, desiredAPIVersion, objects } = seen.body.request;
        const convertedObjects = objects.map((object: { metadata: object }) => ({
          ...rename(object, desiredAPIVersion),
          metadata: { ...object.metadata, name: "other" },
        }));
        return { ...convert(seen), response: { uid, result: { status: "Success" }, convertedObjects } };
      },
      `${prefix} returned invalid object: must have the same name: a != other`,
    ],
  ];
  it.each(failing)("fails the request when it %s", async (_, answer, message) => {
    await using test = await converting(answer);
    await call(test.cluster, "POST", V1, { body: v1("a", "x") });
    const failed = await call(test.cluster, "GET", `${V2}/a`);
    expect(failed.status).toBe(500);
    expect(failed.body.message).toContain(message);
  });

  it("is not asked for the past, which is told in the versions of then", async () => {
    await using test = await converting();
    const { cluster, hooks } = test;
    await call(cluster, "POST", V1, { body: v1("a", "here") });
    const versions = [version("v1", false, "host"), version("v2", true, "address")];
    expect(
      (
        await call(cluster, "PATCH", `${DEFINITIONS}/widgets.example.com`, {
          type: MERGE,
          body: { spec: { versions } },
        })
      ).status,
    ).toBe(200);
    await cluster.settle();
    await call(cluster, "PATCH", `${V2}/a`, { type: MERGE, body: { spec: { address: "there" } } });
    const asked = hooks.calls.length;
    expect(cluster.history("widgets", "default", "a").map(({ object }) => [object.apiVersion, object.spec])).toEqual([
      ["example.com/v1", { host: "here" }],
      ["example.com/v2", { address: "there" }],
    ]);
    expect(hooks.calls).toHaveLength(asked);
  });
});
