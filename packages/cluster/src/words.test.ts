/**
 * Words that mean something to JavaScript, in every place of a request: names, types, keys of maps, every text of every
 * built-in kind's schema, queries and headers. Whatever the answer is, it is no failure of the server's own.
 */
import { Agent, request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { type Json, KINDS } from "./test-fuzz.ts";
import { CONFIG_MAPS, call, define, widgetDefinition } from "./test-requests.ts";

const WORDS = ["toString", "__proto__", "constructor", "hasOwnProperty", "valueOf", "prototype", "__defineGetter__"];

let cluster: Cluster;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  cluster = await Cluster.start({ tls: false, kubelet: "simulate" });
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await define(cluster, widgetDefinition({}, { schema: { openAPIV3Schema: { ...open, properties: { spec: open } } } }));
});

afterAll(async () => {
  agent.destroy();
  await cluster.stop();
});

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function ask({ method, path, headers, body }: Question): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${cluster.token}`;
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const sending = httpRequest(
      {
        agent,
        host: "127.0.0.1",
        port: cluster.port,
        method,
        path,
        headers: { authorization, accept: "application/json", ...type, ...headers },
      },
      (response) => {
        const status = response.statusCode ?? 0;
        // Watches and logs go on.
        const done = () => resolve({ status, text: Buffer.concat(chunks).toString() });
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", done);
        response.on("error", reject);
        if (status < 400 && /watch=/.test(path)) {
          response.destroy();
          done();
        }
      },
    );
    sending.on("error", reject);
    sending.end(body);
  });
}

/** Sends all, some at a time; tells those that the server failed at. */
async function failures(questions: Iterable<Question>): Promise<string[]> {
  const defects: string[] = [];
  const iterator = questions[Symbol.iterator]();
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const { status, text } = await ask(next.value);
      if (status < 500 || status === 501 || isTheirs(text)) continue;
      const { method, path, body = "" } = next.value;
      defects.push(`${status} ${text.slice(0, 200)} to ${method} ${path} ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return defects.slice(0, 20);
}

/** A real server answers some mistakes of the client with 500, too, but without these words. */
const isTheirs = (text: string): boolean => !text.includes("Internal error occurred");

const collection = (path: string, namespaced: boolean, namespace = "default"): string =>
  namespaced ? path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`) : path;

describe("words of JavaScript", () => {
  it("are names, namespaces, groups, versions, resources and subresources like any other", async () => {
    const questions: Question[] = [];
    for (const word of WORDS) {
      for (const path of [
        `/${word}`,
        `/api/${word}`,
        `/apis/${word}`,
        `/apis/${word}/v1`,
        `/apis/apps/${word}`,
        `/apis/apps/v1/${word}`,
        `/apis/${word}/${word}/${word}/${word}`,
        `/api/v1/${word}`,
        `/api/v1/namespaces/${word}`,
        `/api/v1/namespaces/${word}/pods`,
        `/api/v1/namespaces/default/${word}`,
        `/api/v1/namespaces/default/pods/${word}`,
        `/api/v1/namespaces/default/pods/p/${word}`,
        `/api/v1/namespaces/default/services/${word}/proxy/${word}`,
        `/apis/example.com/v1/namespaces/default/widgets/${word}`,
        `/apis/example.com/v1/namespaces/default/widgets/a/${word}`,
        `/openapi/v3/${word}`,
        `/openapi/v3/apis/${word}/v1`,
        `/openapi/${word}`,
        `/healthz/${word}`,
        `/readyz/${word}`,
        `/readyz?exclude=${word}`,
      ]) {
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", word]) {
          const body = ["GET", "DELETE"].includes(method) ? undefined : "{}";
          // A patch needs a type of its own, and so does a word.
          const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
          if (/^[A-Z]+$/.test(method)) questions.push({ method, path, headers, ...(body !== undefined && { body }) });
        }
      }
    }
    expect(await failures(questions)).toEqual([]);
  });

  it("are values and names of every parameter and header", async () => {
    const parameters = [
      ...[
        "watch",
        "limit",
        "continue",
        "resourceVersion",
        "resourceVersionMatch",
        "sendInitialEvents",
        "timeoutSeconds",
      ],
      ...[
        "labelSelector",
        "fieldSelector",
        "fieldManager",
        "fieldValidation",
        "dryRun",
        "force",
        "pretty",
        "container",
      ],
      ...[
        "propagationPolicy",
        "gracePeriodSeconds",
        "orphanDependents",
        "includeObject",
        "timeout",
        "verbose",
        "follow",
      ],
    ];
    const questions: Question[] = [];
    for (const [at, word] of WORDS.entries()) {
      const values = [
        word,
        `${word}=${word}`,
        `${word}!=a`,
        `${word} in (${word})`,
        `!${word}`,
        btoa(`{"v":"${word}"}`),
      ];
      for (const [turn, name] of [...parameters, word].entries()) {
        // Each parameter gets each form of value, and each word in two of them.
        for (const value of values.filter((_, form) => (form + at + turn) % 3 === 0)) {
          const query = `?${name}=${encodeURIComponent(value)}`;
          questions.push({ method: "GET", path: `/api/v1/pods${query}` });
          questions.push({
            method: "POST",
            path: `${CONFIG_MAPS}${query}&dryRun=All`,
            body: '{"metadata":{"name":"q"}}',
          });
          questions.push({ method: "DELETE", path: `${CONFIG_MAPS}/nothing${query}` });
        }
      }
      for (const headers of [
        { accept: word },
        { accept: `application/json;${word}=${word}` },
        { accept: `application/json;as=${word};v=${word};g=${word}` },
        { "content-type": word },
        { "content-type": `application/json;${word}=${word}` },
        { "impersonate-user": word },
        { "impersonate-user": "a", [`impersonate-extra-${word}`]: word },
        { "user-agent": word },
        { authorization: word },
        { authorization: `Bearer ${word}.${word}.${word}` },
        { [word]: word },
      ] as Record<string, string>[]) {
        questions.push({ method: "GET", path: "/api/v1/namespaces/default/configmaps", headers });
        questions.push({
          method: "POST",
          path: `${CONFIG_MAPS}?dryRun=All`,
          headers,
          body: '{"metadata":{"name":"h"}}',
        });
      }
    }
    // Not of a word, but of the same family: JSON that is no object where one is meant.
    for (const text of ["null", "[]", "1", '"x"', "true"]) {
      questions.push({ method: "GET", path: `/api/v1/pods?continue=${btoa(text).replace(/=+$/, "")}` });
    }
    expect(await failures(questions)).toEqual([]);
  });

  it("are values of every text, and keys of every map, of every kind", async () => {
    expect(await failures(wordsInBodies(await kindsOf()))).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect((await call(cluster, "GET", "/readyz")).text).toBe("ok");
  }, 300_000);

  it("are no type of Secret, and no field of a token", async () => {
    for (const word of WORDS) {
      const body = { metadata: { name: "typed" }, type: word, data: { [word]: "eA==" } };
      const secret = await call(cluster, "POST", "/api/v1/namespaces/default/secrets?dryRun=All", { body });
      expect(secret.status).toBe(201);
      expect(secret.body.type).toBe(word);
    }
    const token = await call(cluster, "GET", "/api/v1/pods?continue=bnVsbA");
    expect(token.status).toBe(400);
    expect(token.body.message).toContain("server does not recognize this encoded version");
  });

  it("select by labels nobody has", async () => {
    await call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name: "plain", labels: { app: "web" } } } });
    for (const word of ["toString", "constructor", "valueOf"]) {
      const found = await call(cluster, "GET", `${CONFIG_MAPS}?labelSelector=${word}`);
      expect(found.body.items).toEqual([]);
    }
  });
});

describe("selectors that make no sense", () => {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const job = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };
  const bodies: Record<string, (selector: unknown) => unknown> = {
    "/apis/apps/v1/namespaces/default/deployments": (selector) => ({ spec: { selector, template } }),
    "/apis/apps/v1/namespaces/default/replicasets": (selector) => ({ spec: { selector, template } }),
    "/apis/apps/v1/namespaces/default/statefulsets": (selector) => ({ spec: { selector, template, serviceName: "s" } }),
    "/apis/apps/v1/namespaces/default/daemonsets": (selector) => ({ spec: { selector, template } }),
    "/apis/batch/v1/namespaces/default/jobs": (selector) => ({
      spec: { selector, manualSelector: true, template: job, suspend: true },
    }),
    "/apis/batch/v1/namespaces/default/cronjobs": (selector) => ({
      spec: { schedule: "0 0 * * *", jobTemplate: { spec: { selector, manualSelector: true, template: job } } },
    }),
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets": (selector) => ({ spec: { selector, minAvailable: 1 } }),
    "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies": (selector) => ({
      spec: { podSelector: selector, ingress: [{ from: [{ namespaceSelector: selector }] }] },
    }),
    "/api/v1/namespaces/default/persistentvolumeclaims": (selector) => ({
      spec: { selector, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }),
    "/api/v1/namespaces/default/pods": (selector) => ({
      spec: {
        ...template.spec,
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: "k", whenUnsatisfiable: "DoNotSchedule", labelSelector: selector },
        ],
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "k", labelSelector: selector }],
          },
        },
      },
    }),
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": (selector) => ({
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { url: "https://127.0.0.1:1" },
          rules: [{ operations: ["CREATE"], apiGroups: ["none"], apiVersions: ["v1"], resources: ["nothing"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          namespaceSelector: selector,
          objectSelector: selector,
        },
      ],
    }),
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": (selector) => ({
      aggregationRule: { clusterRoleSelectors: [selector] },
    }),
  };
  const expressions: unknown[] = [
    { key: "a", operator: "Bogus" },
    { key: "a", operator: "toString" },
    { key: "a", operator: "" },
    { key: "a" },
    { operator: "Exists" },
    {},
    null,
    { key: "a", operator: "In" },
    { key: "a", operator: "In", values: [] },
    { key: "a", operator: "In", values: ["-- no label --"] },
    { key: "a", operator: "In", values: [null] },
    { key: "a", operator: "In", values: null },
    { key: "a", operator: "Exists", values: ["x"] },
    { key: "a", operator: "Gt", values: ["x"] },
    { key: "__proto__", operator: "Exists" },
    { key: "no key at all", operator: "DoesNotExist" },
  ];

  it("are refused, or select nothing, in every kind that has them, and stop no controller", async () => {
    const told: string[] = [];
    let number = 0;
    for (const [path, body] of Object.entries(bodies)) {
      for (const expression of expressions) {
        for (const selector of [
          { matchExpressions: [expression] },
          { matchLabels: { app: "web" }, matchExpressions: [expression] },
        ]) {
          const name = `s${number++}`;
          const answer = await call(cluster, "POST", path, {
            body: { metadata: { name }, ...(body(selector) as object) },
          });
          if (answer.status >= 500) told.push(`${path} ${JSON.stringify(expression)}: ${answer.status} ${answer.text}`);
          if (answer.status === 201) await call(cluster, "DELETE", `${path}/${name}`);
        }
      }
    }
    expect(told.slice(0, 20)).toEqual([]);
    // The controllers still work.
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const spec = { selector: { matchLabels: { app: "web" } }, template };
    await call(cluster, "POST", deployments, { body: { metadata: { name: "works" }, spec } });
    await expect
      .poll(async () => (await call(cluster, "GET", `${deployments}/works`)).body.status?.readyReplicas, {
        timeout: 170_000,
      })
      .toBe(1);
  }, 300_000);
});

interface Kind {
  readonly path: string;
  readonly namespaced: boolean;
  readonly schema: Schema;
  readonly resolve: (schema: Schema) => Schema;
  readonly base: { [key: string]: Json };
}

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** Every kind that can be created, with its schema as the server tells it. */
async function kindsOf(): Promise<Kind[]> {
  const groups = (await call(cluster, "GET", "/apis")).body.groups as { versions: { groupVersion: string }[] }[];
  const paths = [
    "api/v1",
    ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `apis/${groupVersion}`)),
  ];
  const kinds: Kind[] = [];
  for (const path of paths) {
    const { resources } = (await call(cluster, "GET", `/${path}`)).body as {
      resources: {
        name: string;
        namespaced: boolean;
        kind: string;
        verbs: string[];
        group?: string;
        version?: string;
      }[];
    };
    const document = (await call(cluster, "GET", `/openapi/v3/${path}`)).body;
    const schemas: Record<
      string,
      Schema & { "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[] }
    > = document.components.schemas;
    const groupVersion = path === "api/v1" ? "v1" : path.slice("apis/".length);
    for (const { name, namespaced, kind, verbs } of resources) {
      if (!verbs.includes("create") || name.includes("/")) continue;
      const schema = Object.values(schemas).find((one) =>
        one["x-kubernetes-group-version-kind"]?.some(
          (gvk) =>
            gvk.kind === kind && (gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`) === groupVersion,
        ),
      );
      if (!schema) continue;
      const resolve = (one: Schema): Schema => {
        const ref = one.$ref ?? one.allOf?.[0]?.$ref;
        return ref === undefined ? one : (schemas[ref.split("/").at(-1) as string] as Schema);
      };
      const known = KINDS.find((one) => one.path === `/${path}/${name}`)?.body("w") as
        | { [key: string]: Json }
        | undefined;
      const base = { apiVersion: groupVersion, kind, ...(known ?? { metadata: { name: "w" } }) };
      kinds.push({ path: `/${path}/${name}`, namespaced, schema, resolve, base });
    }
  }
  return kinds;
}

/** How deep the fields of a kind are followed: pods in templates in jobs in cron jobs are pods. */
const DEPTH = Number(process.env.LOTSE_WORDS_DEPTH ?? 4);

/** One request for each place; the words take turns, so that each one comes to each kind. */
function* wordsInBodies(kinds: readonly Kind[]): Iterable<Question> {
  let turn = 0;
  for (const kind of kinds) {
    const path = `${collection(kind.path, kind.namespaced)}?dryRun=All&fieldValidation=Ignore`;
    for (const place of placesOf(kind.schema, kind.resolve, DEPTH)) {
      const word = WORDS[turn++ % WORDS.length] as string;
      const body = structuredClone(kind.base);
      put(body, place, word);
      yield { method: "POST", path, body: JSON.stringify(body) };
    }
  }
}

/** `*`: the key of a map; `[]`: the first item. */
function* placesOf(schema: Schema, resolve: Kind["resolve"], depth: number): Iterable<string[]> {
  const known = resolve(schema);
  if (known.type === "string" || known.format === "int-or-string") yield [];
  if (depth === 0) return;
  for (const [name, property] of Object.entries(known.properties ?? {})) {
    for (const rest of placesOf(property, resolve, depth - 1)) yield [name, ...rest];
  }
  if (known.items) for (const rest of placesOf(known.items, resolve, depth)) yield ["[]", ...rest];
  if (known.additionalProperties) {
    yield ["*"];
    for (const rest of placesOf(known.additionalProperties, resolve, depth - 1)) yield ["*", ...rest];
  }
}

function put(body: { [key: string]: Json }, place: readonly string[], word: string): void {
  let node: Json = body;
  for (const [i, step] of place.entries()) {
    const next = place[i + 1];
    const made: Json = next === undefined ? word : next === "[]" ? [] : {};
    const holder = node as { [key: string]: Json };
    const key = step === "*" ? word : step === "[]" ? "0" : step;
    const present = Object.hasOwn(holder, key) ? holder[key] : undefined;
    const keep = next !== undefined && typeof present === "object" && present !== null;
    if (!keep)
      Object.defineProperty(holder, key, { value: made, enumerable: true, writable: true, configurable: true });
    node = keep ? (present as Json) : made;
  }
}
