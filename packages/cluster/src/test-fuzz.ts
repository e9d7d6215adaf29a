/** Makes requests that no client would send on purpose: mostly right, and wrong somewhere. */

export interface Fuzzed {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

/** A value that JSON can write. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const JSON_TYPE = "application/json";
const PATCHES = [
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const NAMES = [
  "a",
  "b",
  "c",
  "x-1",
  "kubernetes",
  "default",
  "nothing",
  "widgets.example.com",
  "..",
  "%00",
  "A",
  "-",
  "é",
  "constructor",
  "toString",
  "__proto__",
];
const NAMESPACES = ["default", "kube-system", "nowhere", "fuzz", "..", ""];
const KEYS = [
  "name",
  "spec",
  "metadata",
  "labels",
  "data",
  "status",
  "kind",
  "apiVersion",
  "items",
  "type",
  "size",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  "$ref",
  "x-kubernetes-validations",
  "properties",
  "0",
  "a.b",
  "a/b",
];
const TEXTS = [
  "",
  "a",
  "0",
  "-1",
  "1e999",
  "9223372036854775808",
  "2026-01-01T00:00:00Z",
  "100m",
  "1Gi",
  "true",
  "null",
  "\u0000",
  "ä€😀",
  "\ud800",
  "../..",
  "x".repeat(300),
  "{}",
  "self.size > 1",
  "(a+)+$",
  "%s%n",
  "app=web",
  "=",
  "a in (b",
  "toString",
  "__proto__",
  "constructor",
];

/** Kinds with a body that is right. */
export const KINDS: readonly { path: string; namespaced: boolean; body: (name: string) => Json }[] = [
  {
    path: "/api/v1/configmaps",
    namespaced: true,
    body: (name) => ({ metadata: { name, labels: { app: "web" } }, data: { k: "v" } }),
  },
  {
    path: "/api/v1/secrets",
    namespaced: true,
    body: (name) => ({ metadata: { name }, stringData: { k: "v" }, type: "Opaque" }),
  },
  {
    path: "/api/v1/services",
    namespaced: true,
    body: (name) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: "web" } } }),
  },
  {
    path: "/api/v1/pods",
    namespaced: true,
    body: (name) => ({
      metadata: { name },
      spec: {
        containers: [{ name: "c", image: "i", env: [{ name: "A", value: "b" }], resources: { limits: { cpu: "1" } } }],
      },
    }),
  },
  { path: "/api/v1/namespaces", namespaced: false, body: (name) => ({ metadata: { name } }) },
  {
    path: "/api/v1/nodes",
    namespaced: false,
    body: (name) => ({ metadata: { name }, spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }),
  },
  {
    path: "/api/v1/events",
    namespaced: true,
    body: (name) => ({
      metadata: { name, namespace: "default" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      reason: "R",
    }),
  },
  {
    path: "/apis/apps/v1/deployments",
    namespaced: true,
    body: (name) => ({
      metadata: { name },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    }),
  },
  {
    path: "/apis/batch/v1/jobs",
    namespaced: true,
    body: (name) => ({
      metadata: { name },
      spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    }),
  },
  {
    path: "/apis/coordination.k8s.io/v1/leases",
    namespaced: true,
    body: (name) => ({ metadata: { name }, spec: { holderIdentity: "me", leaseDurationSeconds: 15 } }),
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/roles",
    namespaced: true,
    body: (name) => ({ metadata: { name }, rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] }),
  },
  {
    path: "/apis/example.com/v1/widgets",
    namespaced: true,
    body: (name) => ({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name },
      spec: { size: 1, list: [{ a: 1 }] },
    }),
  },
  { path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", namespaced: false, body: () => definition() },
  {
    path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    namespaced: false,
    body: (name) => ({
      metadata: { name },
      spec: {
        validations: [{ expression: "true" }],
        matchConstraints: {
          resourceRules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["limitranges"] }],
        },
      },
    }),
  },
  {
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    namespaced: false,
    body: () => ({ spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
  },
];

function definition(): Json {
  const size = { type: "integer", minimum: 0, default: 1 };
  const validations = [{ rule: "self.size >= 0", message: "no" }];
  const spec = {
    type: "object",
    properties: { size, name: { type: "string", pattern: "^[a-z]+$" } },
    "x-kubernetes-validations": validations,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "gadgets.fuzz.example.com" },
    spec: {
      group: "fuzz.example.com",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
          subresources: { status: {} },
        },
      ],
    },
  } as unknown as Json;
}

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  watch: ["1", "0", "true", "x"],
  limit: ["1", "0", "-1", "abc", "99999999999"],
  continue: ["", "x", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0", "e30", "bnVsbA"],
  resourceVersion: ["0", "", "1", "99999999", "abc", "-1", "18446744073709551616"],
  resourceVersionMatch: ["Exact", "NotOlderThan", "x"],
  sendInitialEvents: ["true", "false", "x"],
  allowWatchBookmarks: ["true"],
  timeoutSeconds: ["1", "0", "x"],
  labelSelector: [
    "app=web",
    "app in (web,x)",
    "!app",
    "a=b=c",
    "(",
    "a,,b",
    "app>1",
    "x".repeat(500),
    "=,".repeat(200),
  ],
  fieldSelector: ["metadata.name=a", "status.phase!=Running", "spec.x=1", "a", "\\", "metadata.name=a,".repeat(100)],
  fieldManager: ["me", "", "x".repeat(200), "\u0001"],
  fieldValidation: ["Strict", "Warn", "Ignore", "x"],
  dryRun: ["All", "x", ""],
  force: ["true", "false", "x"],
  pretty: ["true", "x"],
  propagationPolicy: ["Foreground", "Background", "Orphan", "x"],
  gracePeriodSeconds: ["0", "-1", "x"],
  includeObject: ["Object", "None", "x"],
  timeout: ["1s", "x"],
};

const ACCEPTS = [
  JSON_TYPE,
  "application/yaml",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  PROTOBUF,
  "*/*",
  "text/html",
  ";;;=",
  "application/json;as=Nonsense",
];

const SUBRESOURCES = [
  "status",
  "scale",
  "log",
  "exec",
  "binding",
  "eviction",
  "token",
  "finalize",
  "proxy",
  "portforward",
  "ephemeralcontainers",
  "approval",
  "nonsense",
];

/** The same requests for the same seed, however many are asked for. */
export class RequestGenerator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /**
   * Several requests to be sent at once. Some ask for another protocol, mostly the last one; and the client that sent
   * them may have little patience.
   */
  volley(): { readonly requests: Fuzzed[]; readonly patienceMs: number } {
    const count = 2 + Math.floor(this.#random() * 5);
    const requests = Array.from({ length: count }, (_, i) =>
      this.#chance(i === count - 1 ? 0.7 : 0.1) ? this.#upgrade() : this.next(),
    );
    return { requests, patienceMs: this.#pick([0, 1, 5, 20, 50]) };
  }

  #upgrade(): Fuzzed {
    const { path, headers } = this.next();
    const where = this.#pick([
      path,
      "/api/v1/namespaces/default/pods/a/exec?command=id&stdout=1",
      "/api/v1/namespaces/default/pods/a/attach?stdin=1&stdout=1",
      "/api/v1/namespaces/default/pods/a/portforward?ports=80",
      "/api/v1/pods?watch=1",
      "/openapi/v2",
    ]);
    const protocol = this.#pick(["websocket", "websocket", "SPDY/3.1", "h2c", "nonsense"]);
    const spoken = this.#pick(["v5.channel.k8s.io", "v4.channel.k8s.io", "portforward.k8s.io", "nonsense", ""]);
    return {
      method: protocol === "SPDY/3.1" ? "POST" : "GET",
      path: where,
      headers: {
        ...headers,
        connection: this.#pick(["Upgrade", "upgrade, keep-alive", "close", "keep-alive"]),
        upgrade: protocol,
        "sec-websocket-version": this.#pick(["13", "8", ""]),
        "sec-websocket-key": this.#pick(["dGhlIHNhbXBsZSBub25jZQ==", "", "x"]),
        "sec-websocket-protocol": spoken,
        "x-stream-protocol-version": spoken,
      },
      body: undefined,
    };
  }

  next(): Fuzzed {
    const kind = this.#pick(KINDS);
    const name = this.#chance(0.7) ? this.#pick(["a", "b", "c", "x-1"]) : this.#pick(NAMES);
    const method = this.#pick([
      "GET",
      "GET",
      "POST",
      "POST",
      "POST",
      "PUT",
      "PATCH",
      "PATCH",
      "PATCH",
      "DELETE",
      this.#pick(["HEAD", "OPTIONS", "TRACE", "PROPFIND"]),
    ]);
    const path = this.#chance(0.06) ? this.#oddPath() : this.#path(kind, name, method);
    const accept = this.#chance(0.8) ? JSON_TYPE : this.#pick(ACCEPTS);
    const headers: Record<string, string> = { accept };
    if (this.#chance(0.05)) headers["user-agent"] = this.#pick(["curl/8", "Mozilla/5.0", "", "/".repeat(200)]);
    if (this.#chance(0.03)) headers["impersonate-user"] = this.#pick(["jane", "", "system:admin"]);
    if (this.#chance(0.02)) headers["impersonate-group"] = this.#pick(["g", ""]);
    let body: Buffer | undefined;
    if (method === "POST" || method === "PUT" || method === "PATCH" || (method === "DELETE" && this.#chance(0.4))) {
      const type = method === "PATCH" ? this.#pick(PATCHES) : JSON_TYPE;
      const value = method === "DELETE" ? this.#deleteOptions() : this.#body(kind, name, method, type);
      body = this.#encode(value);
      headers["content-type"] = this.#chance(0.93)
        ? type
        : this.#pick([PROTOBUF, "application/yaml", "text/plain", "", "application/json; charset=utf-8"]);
      if (headers["content-type"] === PROTOBUF && this.#chance(0.7)) body = this.#protobuf();
    }
    return { method, path: `${path}${this.#query()}`, headers, body };
  }

  #path(kind: (typeof KINDS)[number], name: string, method: string): string {
    const at = kind.path.lastIndexOf("/");
    const namespace = this.#chance(0.9) ? "default" : this.#pick(NAMESPACES);
    const inNamespace = kind.namespaced !== this.#chance(0.03);
    const base = inNamespace ? `${kind.path.slice(0, at)}/namespaces/${namespace}${kind.path.slice(at)}` : kind.path;
    const named = method === "POST" ? this.#chance(0.1) : this.#chance(method === "GET" ? 0.5 : 0.95);
    if (!named) return base;
    const sub = this.#chance(0.15) ? `/${this.#pick(SUBRESOURCES)}` : "";
    return `${base}/${encodeURI(name)}${sub}`;
  }

  #oddPath(): string {
    return this.#pick([
      "/",
      "/api",
      "/apis",
      "/apis/apps",
      "/apis/nothing/v1/x",
      "/api/v1/watch/pods",
      "/openapi/v3",
      "/openapi/v2",
      "/version",
      "/healthz",
      "/readyz?verbose",
      "/api/v1/namespaces/%ff/pods",
      "/api/v1//pods",
      "/api/v1/namespaces/default/pods/a/b/c/d/e",
      "//",
      "/%",
      `/${"a/".repeat(500)}`,
      "/.well-known/openid-configuration",
      "/openid/v1/jwks",
      "/apis/__proto__/v1/constructor",
      "/api/v1/__proto__",
      "/api/v1/namespaces/__proto__/configmaps/constructor",
    ]);
  }

  #query(): string {
    const parts: string[] = [];
    while (this.#chance(0.25)) {
      const key = this.#pick(Object.keys(PARAMETERS));
      parts.push(`${key}=${encodeURIComponent(this.#pick(PARAMETERS[key] as readonly string[]))}`);
    }
    if (this.#chance(0.01)) parts.push("%zz=%", "a=b=c", "&&");
    // A watch never ends by itself, and the rest of the requests waits for it.
    if (parts.some((part) => part.startsWith("watch="))) parts.push("timeoutSeconds=1");
    return parts.length === 0 ? "" : `?${parts.join("&")}`;
  }

  #body(kind: (typeof KINDS)[number], name: string, method: string, type: string): Json {
    if (type === "application/json-patch+json") return this.#jsonPatch();
    const body = kind.body(name);
    if (type.includes("apply") || method === "PUT") this.#addKind(kind, body);
    return this.#chance(0.35) ? body : this.#mutate(body, 4);
  }

  #addKind({ path }: (typeof KINDS)[number], body: Json): void {
    if (!isObject(body) || body.kind) return;
    const [, root, ...rest] = path.split("/");
    const plural = rest.at(-1) as string;
    const kinds: Record<string, string> = {
      configmaps: "ConfigMap",
      validatingadmissionpolicies: "ValidatingAdmissionPolicy",
      selfsubjectaccessreviews: "SelfSubjectAccessReview",
    };
    body.apiVersion = root === "api" ? "v1" : `${rest[0]}/${rest[1]}`;
    body.kind = kinds[plural] ?? `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;
  }

  #jsonPatch(): Json {
    const operations: Json[] = [];
    do {
      operations.push({
        op: this.#pick(["add", "remove", "replace", "test", "move", "copy", "nonsense"]),
        path: this.#pick([
          "/metadata/labels",
          "/metadata/labels/app",
          "/data/k",
          "/spec",
          "/spec/replicas",
          "/",
          "",
          "/__proto__/polluted",
          "/metadata/name",
          "/a~2",
          "/spec/list/-",
          "/spec/list/99",
          "x",
          "/metadata/managedFields",
        ]),
        ...(this.#chance(0.8) ? { value: this.#value(2) } : {}),
        ...(this.#chance(0.3) ? { from: this.#pick(["/metadata", "/spec", "/nothing"]) } : {}),
      });
    } while (this.#chance(0.4));
    return operations;
  }

  #deleteOptions(): Json {
    const options: Json = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    };
    return this.#chance(0.5) ? options : this.#mutate(options, 2);
  }

  /** The same value, wrong in one or several places. */
  #mutate(value: Json, depth: number): Json {
    if (depth === 0 || this.#chance(0.1)) return this.#value(2);
    if (Array.isArray(value)) {
      if (value.length === 0 || this.#chance(0.2)) return [...value, this.#value(1), ...value];
      const at = this.#below(value.length);
      return value.map((item, i) => (i === at ? this.#mutate(item, depth - 1) : item));
    }
    if (!isObject(value)) return this.#value(1);
    const entries = Object.entries(value);
    const result = Object.fromEntries(entries) as { [key: string]: Json };
    const roll = this.#below(5);
    const key = entries.length > 0 ? (this.#pick(entries)[0] as string) : "x";
    if (roll === 0) set(result, this.#pick(KEYS), this.#value(2));
    else if (roll === 1) delete result[key];
    else set(result, key, this.#mutate(result[key] ?? null, depth - 1));
    return result;
  }

  #value(depth: number): Json {
    switch (this.#below(depth > 0 ? 9 : 6)) {
      case 0:
        return null;
      case 1:
        return this.#chance(0.5);
      case 2:
        return this.#pick([0, 1, -1, 1.5, 1e21, 2 ** 31, 2 ** 53, -0, 1e-7]);
      case 6:
        return Array.from({ length: this.#below(3) }, () => this.#value(depth - 1));
      case 7:
      case 8: {
        const result: { [key: string]: Json } = {};
        for (let i = this.#below(4); i > 0; i--) set(result, this.#pick(KEYS), this.#value(depth - 1));
        return result;
      }
      default:
        return this.#pick(TEXTS);
    }
  }

  #encode(value: Json): Buffer {
    let text = JSON.stringify(value);
    const roll = this.#below(60);
    if (roll === 0) text = text.slice(0, this.#below(text.length));
    else if (roll === 1) text = text.replace("{", '{"__proto__":{"polluted":true},');
    else if (roll === 2) text = `${"[".repeat(this.#below(3_000))}${text}`;
    else if (roll === 3) text = `{"spec":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`;
    else if (roll === 4) text = text.replace('"', '"x":1,"');
    else if (roll === 5) text = `{"metadata":{"name":"a","name":"b"},"metadata":{}}`;
    const bytes = Buffer.from(text);
    if (roll === 6 && bytes.length > 0) bytes[this.#below(bytes.length)] = this.#below(256);
    return roll === 7 ? Buffer.alloc(0) : bytes;
  }

  /** An envelope with a message, both damaged somewhere. */
  #protobuf(): Buffer {
    const text = (field: number, value: string) =>
      Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]);
    const nested = (field: number, value: Buffer) =>
      Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), value]);
    const type = nested(
      1,
      Buffer.concat([text(1, "v1"), text(2, this.#pick(["ConfigMap", "Pod", "Secret", "Nonsense"]))]),
    );
    const object = nested(
      2,
      Buffer.concat([nested(1, text(1, "a")), nested(2, Buffer.concat([text(1, "k"), text(2, "v")]))]),
    );
    const bytes = Buffer.concat([Buffer.from("k8s\0"), type, object]);
    for (let i = this.#below(4); i > 0; i--) bytes[this.#below(bytes.length)] = this.#below(256);
    return this.#chance(0.3) ? bytes.subarray(0, this.#below(bytes.length)) : bytes;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #random(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function set(object: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
