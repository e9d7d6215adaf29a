/**
 * Webhooks and conversion: the same requests to a real server and to the embedded one, with the same webhooks behind
 * both. What the webhooks are sent and what the client is answered must be equal.
 */
import { readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RealCluster } from "./cluster.ts";

type Fields = Record<string, unknown>;

/** A review that a webhook got. */
interface Review extends Fields {
  readonly request: Fields & { readonly uid: string; readonly object: Fields | null };
}

/** What a webhook answers: JSON, or a status with a text, or nothing at all. */
type Reply = Fields | { readonly status: number; readonly text: string } | "hang up";

/** One webhook over TLS, whose answer each case chooses. */
class Hooks {
  readonly seen: Review[] = [];
  answer: (review: Review) => Reply = (review) => verdict(review, true);
  readonly #server: Server;

  constructor(certificate: string, key: string) {
    this.#server = createServer({ cert: certificate, key }, (request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      request.on("end", () => {
        const review = JSON.parse(text) as Review;
        this.seen.push(review);
        const reply = this.answer(review);
        if (reply === "hang up") return void request.socket.destroy();
        if (typeof reply.text === "string") {
          response.writeHead(Number(reply.status), { "content-type": "text/plain" });
          return void response.end(reply.text);
        }
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(reply));
      });
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

function verdict(review: Review, allowed: boolean, more: Fields = {}): Fields {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: review.request.uid, allowed, ...more },
  };
}

const patchOf = (...operations: Fields[]): Fields => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

/** A server with a webhook behind it. */
interface Side {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly hooks: Hooks;
  stop(): Promise<unknown>;
}

let sides: readonly [embedded: Side, real: Side] | undefined;
let caBundle = "";

beforeAll(async () => {
  const real = await RealCluster.start();
  const embedded = await Cluster.start();
  // The certificate that the real server made for itself is good for anybody on this machine's loopback interface.
  const file = (name: string) => readFileSync(path.join(real.folder, "certificates", name), "utf8");
  caBundle = Buffer.from(file("apiserver.crt")).toString("base64");
  const side = async (url: string, ca: string, token: string, stop: () => Promise<unknown>): Promise<Side> => {
    const hooks = new Hooks(file("apiserver.crt"), file("apiserver.key"));
    await hooks.listen();
    return { url, ca, token, hooks, stop: () => Promise.all([hooks.close(), stop()]) };
  };
  const admin = real.kubeconfig.users[0]?.user.token ?? "";
  sides = [
    await side(embedded.url, embedded.caPem, embedded.token, () => embedded.stop()),
    await side(real.url, file("apiserver.crt"), admin, () => real.stop()),
  ];
});

afterAll(async () => {
  await Promise.all((sides ?? []).map((side) => side.stop()));
});

/** What differs between any two servers, and nothing else. */
function masked(value: unknown): unknown {
  const text = JSON.stringify(value, (key, member: unknown) => {
    if (key === "managedFields" || key === "userInfo" || key === "resourceVersion") return `<${key}>`;
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return JSON.parse(
    (text ?? "null")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
      .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replaceAll(/127\.0\.0\.1:\d+/g, "<host>")
      .replaceAll(/"(generated-)[a-z0-9]{5}"/g, '"$1<suffix>"'),
  );
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: Fields | readonly Fields[];
  readonly type?: string;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: unknown;
}

function send({ url, ca, token }: Side, { method, path: where, body, type }: Request): Promise<Answer> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    "user-agent": "webhooks/1.0",
    "content-length": String(Buffer.byteLength(text)),
    ...(body === undefined ? {} : { "content-type": type ?? "application/json" }),
  };
  return new Promise((resolve, reject) => {
    const call = request(new URL(where, url), { method, ca, headers }, (answer) => {
      let read = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        read += chunk;
      });
      answer.on("error", reject);
      answer.on("end", () => {
        const json = answer.headers["content-type"]?.includes("json") === true;
        resolve({ status: answer.statusCode, body: json ? JSON.parse(read) : read });
      });
    });
    call.on("error", reject);
    call.end(text);
  });
}

const maps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, data: Fields = {}, metadata: Fields = {}): Fields => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { hooked: "yes" }, ...metadata },
  data,
});
const created = (name: string, data: Fields = { own: "1" }): Request => ({
  method: "POST",
  path: `${maps}?dryRun=All`,
  body: configMap(name, data),
});

const registration = "/apis/admissionregistration.k8s.io/v1";

/** Registers one webhook on both sides and waits until it is called. */
async function register(kind: "Mutating" | "Validating", more: Fields = {}): Promise<void> {
  for (const side of sides ?? []) {
    side.hooks.answer = (review) => verdict(review, true);
    for (const known of ["mutating", "validating"]) {
      await send(side, { method: "DELETE", path: `${registration}/${known}webhookconfigurations/hooks` });
    }
    await send(side, {
      method: "POST",
      path: `${registration}/${kind.toLowerCase()}webhookconfigurations`,
      body: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: `${kind}WebhookConfiguration`,
        metadata: { name: "hooks" },
        webhooks: [
          {
            name: "hook.example.com",
            clientConfig: { url: side.hooks.url, caBundle },
            rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
            objectSelector: { matchLabels: { hooked: "yes" } },
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            ...more,
          },
        ],
      },
    });
    side.hooks.seen.length = 0;
    while (side.hooks.seen.length === 0) await send(side, created("probe"));
    // The configuration before this one may still be on its way out of the real server's caches.
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** Sends the requests to both sides; what was answered, and what the webhooks saw. */
async function compared(requests: readonly Request[], answer?: Hooks["answer"]): Promise<[unknown, unknown]> {
  const results: unknown[] = [];
  for (const side of sides ?? []) {
    if (answer) side.hooks.answer = answer;
    side.hooks.seen.length = 0;
    const answers: unknown[] = [];
    for (const request of requests) answers.push(await send(side, request));
    results.push(masked({ answers, seen: side.hooks.seen }));
  }
  return results as [unknown, unknown];
}

describe("a mutating webhook", () => {
  beforeAll(() => register("Mutating"));

  const patches: readonly (readonly [name: string, more: Fields])[] = [
    ["nothing to change", {}],
    ["a field to add", patchOf({ op: "add", path: "/data/n", value: "5" }, { op: "add", path: "/bogus", value: 1 })],
    ["a place that is not there", patchOf({ op: "add", path: "/missing/deep", value: 1 })],
    ["a key that is not there to remove", patchOf({ op: "remove", path: "/data/zzz" })],
    ["a place that is not there to remove", patchOf({ op: "remove", path: "/zzz/yyy" })],
    ["a place that is not there to replace", patchOf({ op: "replace", path: "/zzz/yyy", value: 1 })],
    ["a key that is not there to replace", patchOf({ op: "replace", path: "/data/zzz", value: "1" })],
    ["a test that fails", patchOf({ op: "test", path: "/data/own", value: "2" })],
    ["a value of the wrong type", patchOf({ op: "add", path: "/data/n", value: 5 })],
    ["a patch that is no list", { patchType: "JSONPatch", patch: Buffer.from("{}").toString("base64") }],
    ["another type of patch", { ...patchOf({ op: "remove", path: "/data" }), patchType: "Merge" }],
    ["a patch without a type", { patch: "W10=" }],
    ["a type without a patch", { patchType: "JSONPatch" }],
  ];
  it.each(patches)("that answers with %s", async (_, more) => {
    const [embedded, real] = await compared([created("patched")], (review) => verdict(review, true, more));
    expect(embedded).toEqual(real);
  });

  it("sees an object without a name before one is generated", async () => {
    const body = configMap("", {}, { name: undefined, generateName: "generated-" });
    const [embedded, real] = await compared([{ method: "POST", path: `${maps}?dryRun=All`, body }]);
    expect(embedded).toEqual(real);
  });

  it("cannot change what is deleted", async () => {
    const allow: Hooks["answer"] = (review) => verdict(review, true);
    await compared([{ method: "POST", path: maps, body: configMap("going") }], allow);
    const [embedded, real] = await compared([{ method: "DELETE", path: `${maps}/going` }], (review) =>
      verdict(review, true, patchOf({ op: "remove", path: "/data" })),
    );
    expect(embedded).toEqual(real);
  });
});

describe("a validating webhook", () => {
  beforeAll(() => register("Validating"));

  it("sees what every verb does", async () => {
    const merge = "application/merge-patch+json";
    const [embedded, real] = await compared([
      { method: "POST", path: `${maps}?fieldManager=me&fieldValidation=Strict`, body: configMap("seen", { x: "1" }) },
      { method: "PATCH", path: `${maps}/seen?fieldManager=me`, body: { data: { x: "2" } }, type: merge },
      { method: "PUT", path: `${maps}/seen?dryRun=All`, body: configMap("seen", { x: "3" }) },
      {
        method: "PATCH",
        path: `${maps}/applied?fieldManager=me&force=true`,
        body: configMap("applied", { x: "1" }),
        type: "application/apply-patch+yaml",
      },
      { method: "DELETE", path: `${maps}/seen?propagationPolicy=Background` },
      {
        method: "DELETE",
        path: `${maps}/applied`,
        body: { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 },
      },
      {
        method: "POST",
        path: maps,
        body: configMap("", {}, { name: undefined, generateName: "generated-", labels: { hooked: "yes" } }),
      },
    ]);
    expect(embedded).toEqual(real);
  });

  const answers: readonly (readonly [name: string, answer: Hooks["answer"]])[] = [
    ["no", (review) => verdict(review, false)],
    ["no, and why", (review) => verdict(review, false, { status: { message: "no", code: 403, reason: "Forbidden" } })],
    ["no, for a reason alone", (review) => verdict(review, false, { status: { reason: "Weird", code: 200 } })],
    ["another uid", (review) => verdict(review, true, { uid: "x" })],
    ["no response", () => ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" })],
    ["an older version", (review) => ({ ...verdict(review, true), apiVersion: "admission.k8s.io/v1beta1" })],
    ["no kind", (review) => ({ response: verdict(review, true).response })],
    ["another kind", (review) => ({ ...verdict(review, true), apiVersion: "v1", kind: "Foo" })],
    ["a patch", (review) => verdict(review, true, patchOf({ op: "remove", path: "/data" }))],
    ["a text for a truth", (review) => verdict(review, true, { allowed: "yes" })],
    ["an error", () => ({ status: 500, text: "boom\n" })],
    ["a page that is not there", () => ({ status: 404, text: "nope" })],
    ["a refusal of the request", () => ({ status: 403, text: "go away" })],
    ["an odd status", () => ({ status: 418, text: "tea" })],
    ["a text", () => ({ status: 200, text: "hello" })],
    ["an empty page", () => ({ status: 200, text: "" })],
    ["silence", () => "hang up"],
  ];
  it.each(answers)("that answers with %s", async (_, answer) => {
    const [embedded, real] = await compared([created("judged")], answer);
    expect(embedded).toEqual(real);
  });

  it("that nobody answers for", async () => {
    await register("Validating");
    for (const side of sides ?? []) {
      await send(side, {
        method: "PATCH",
        path: `${registration}/validatingwebhookconfigurations/hooks`,
        type: "application/json-patch+json",
        body: [{ op: "replace", path: "/webhooks/0/clientConfig/url", value: "https://127.0.0.1:1/gone" }],
      });
      side.hooks.answer = (review) => verdict(review, false);
      let answer = await send(side, created("gone"));
      while (answer.status !== 500) answer = await send(side, created("gone"));
    }
    const [embedded, real] = await compared([created("gone")]);
    expect(embedded).toEqual(real);
  });
});

describe("a conversion webhook", () => {
  const version = (name: string, storage: boolean, field: string): Fields => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { [field]: { type: "string" } } } },
      },
    },
  });
  const at = (name: string) => `/apis/hooks.example.com/${name}/namespaces/default/gadgets`;
  const gadget = (name: string, spec: Fields, apiVersion = "v1"): Fields => ({
    apiVersion: `hooks.example.com/${apiVersion}`,
    kind: "Gadget",
    metadata: { name },
    spec,
  });

  /** Renames `host` of v1 to `address` of v2 and back; `change` spoils each object. */
  const convert =
    (change: (object: Fields) => void = () => {}) =>
    (review: Review): Fields => {
      const { uid, desiredAPIVersion, objects } = review.request as unknown as {
        uid: string;
        desiredAPIVersion: string;
        objects: (Fields & { spec: Fields; metadata: Fields })[];
      };
      const convertedObjects = objects.map((object) => {
        const text = object.spec.host ?? object.spec.address;
        const spec = desiredAPIVersion.endsWith("/v1") ? { host: text } : { address: text };
        const converted: Fields = { ...object, apiVersion: desiredAPIVersion, spec };
        change(converted);
        return converted;
      });
      return {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "ConversionReview",
        response: { uid, result: { status: "Success" }, convertedObjects },
      };
    };
  const responding = (response: Fields) => (review: Review) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid: review.request.uid, ...response },
  });

  beforeAll(async () => {
    for (const side of sides ?? []) {
      side.hooks.answer = convert();
      await send(side, {
        method: "POST",
        path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        body: {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          metadata: { name: "gadgets.hooks.example.com" },
          spec: {
            group: "hooks.example.com",
            scope: "Namespaced",
            names: { plural: "gadgets", kind: "Gadget" },
            versions: [version("v1", true, "host"), version("v2", false, "address")],
            conversion: {
              strategy: "Webhook",
              webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: side.hooks.url, caBundle } },
            },
          },
        },
      });
      const first = { method: "POST", path: at("v1"), body: gadget("first", { host: "x" }) };
      let answer = await send(side, first);
      while (answer.status !== 201) answer = await send(side, first);
    }
  });

  it("lets both versions be written and read", async () => {
    const merge = "application/merge-patch+json";
    const [embedded, real] = await compared(
      [
        { method: "GET", path: `${at("v2")}/first` },
        { method: "POST", path: at("v2"), body: gadget("second", { address: "y" }, "v2") },
        { method: "PATCH", path: `${at("v2")}/first`, body: { spec: { address: "z" } }, type: merge },
        { method: "GET", path: `${at("v1")}/first` },
        { method: "GET", path: at("v2") },
      ],
      convert(),
    );
    // How often a server asks is its own business: the real one also fills its caches.
    expect((embedded as Fields).answers).toEqual((real as Fields).answers);
  });

  const answers: readonly (readonly [name: string, answer: Hooks["answer"]])[] = [
    ["a failure", responding({ result: { status: "Failure", message: "no idea" } })],
    ["a failure without a word", responding({ result: { status: "Failure" } })],
    ["too few objects", responding({ result: { status: "Success" }, convertedObjects: [] })],
    ["another uid", responding({ uid: "x", result: { status: "Success" } })],
    ["no response", () => ({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" })],
    ["no kind", (review) => ({ response: convert()(review).response })],
    ["an older version", (review) => ({ ...convert()(review), apiVersion: "apiextensions.k8s.io/v1beta1" })],
    ["an error", () => ({ status: 500, text: "boom" })],
    ["another name", convert((object) => Object.assign(object, { metadata: { name: "other", namespace: "default" } }))],
    ["another version", convert((object) => Object.assign(object, { apiVersion: "hooks.example.com/v9" }))],
    ["another kind", convert((object) => Object.assign(object, { kind: "Foo" }))],
    [
      "a label that is none",
      convert((object) =>
        Object.assign(object, { metadata: { ...(object.metadata as Fields), labels: { "a b": "c" } } }),
      ),
    ],
    [
      "a label that is a number",
      convert((object) => Object.assign(object, { metadata: { ...(object.metadata as Fields), labels: { a: 1 } } })),
    ],
  ];
  it.each(answers)("that answers with %s", async (_, answer) => {
    const [embedded, real] = await compared(
      [
        { method: "GET", path: `${at("v2")}/first` },
        { method: "POST", path: `${at("v2")}?dryRun=All`, body: gadget("third", { address: "y" }, "v2") },
      ],
      answer,
    );
    expect((embedded as Fields).answers).toEqual((real as Fields).answers);
  });
});
