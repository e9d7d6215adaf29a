import type { Json, Script, Step } from "../script.ts";
import { configMap, get, patch, post, put, type Rest, remove } from "./requests.ts";

const registration = "/apis/admissionregistration.k8s.io/v1";
const maps = "/api/v1/namespaces/{{ns}}/configmaps";
const pods = "/api/v1/namespaces/{{ns}}/pods";

type Fields = { readonly [key: string]: Json | undefined };

const mine = { matchLabels: { "kubernetes.io/metadata.name": "{{ns}}" } };
const ofMaps = {
  resourceRules: [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
  ],
  namespaceSelector: mine,
};

const kindOf = (side: "Validating" | "Mutating", suffix = "") => ({
  path: `${registration}/${side.toLowerCase()}admissionpolic${suffix === "" ? "ies" : "ybindings"}`,
  kind: `${side}AdmissionPolicy${suffix}`,
});

function policyBody(side: "Validating" | "Mutating", name: string, spec: Fields): Json {
  const more = side === "Mutating" ? { reinvocationPolicy: "Never" } : {};
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kindOf(side).kind,
    metadata: { name },
    spec: { matchConstraints: ofMaps, ...more, ...spec },
  };
}

function bindingBody(side: "Validating" | "Mutating", name: string, spec: Fields): Json {
  const more = side === "Validating" ? { validationActions: ["Deny"] } : {};
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kindOf(side, "Binding").kind,
    metadata: { name: `${name}-binding` },
    spec: { policyName: name, ...more, ...spec },
  };
}

/** A policy with its binding, in force when the last step has been answered. */
function installed(
  side: "Validating" | "Mutating",
  name: string,
  spec: Fields,
  binding: Fields,
  probe: Omit<Step, "name" | "path">,
): Step[] {
  return [
    post(`writes the policy ${name}`, kindOf(side).path, policyBody(side, name, spec)),
    post(`binds the policy ${name}`, kindOf(side, "Binding").path, bindingBody(side, name, binding), {
      view: withoutOwners,
    }),
    { name: `waits for the policy ${name}`, method: "POST", path: `${maps}?dryRun=All`, ...probe },
  ];
}

const removed = (side: "Validating" | "Mutating", name: string): Step[] => [
  remove(`takes the binding of ${name} away`, `${kindOf(side, "Binding").path}/${name}-binding`),
  remove(`takes the policy ${name} away`, `${kindOf(side).path}/${name}`),
];

const denied = (body: Json): Omit<Step, "name" | "path"> => ({ body, until: { status: 422 } });

/** A write that is only tried, so that it can be tried often. */
const tried = (name: string, body: Json, rest: Rest = {}): Step => post(name, `${maps}?dryRun=All`, body, rest);

const data = (members: { [key: string]: Json }) => ({ data: members });

const invalidPolicies: readonly (readonly [name: string, spec: Fields])[] = [
  ["without anything to check", {}],
  ["with an expression that is no condition", { validations: [{ expression: "object.data" }] }],
  ["with an unknown variable", { validations: [{ expression: "objects.data == 1" }] }],
  ["with an unknown field of the request", { validations: [{ expression: "request.nam == 'x'" }] }],
  ["with parameters that it does not declare", { validations: [{ expression: "params.x == 1" }] }],
  ["with an empty expression", { validations: [{ expression: " " }] }],
  ["with a message of two lines", { validations: [{ expression: "true", message: "a\nb" }] }],
  ["with a message that is a number", { validations: [{ expression: "true", messageExpression: "1" }] }],
  ["with an unknown reason", { validations: [{ expression: "true", reason: "Because" }] }],
  [
    "with wrong variables",
    {
      variables: [
        { name: "a-b", expression: "1" },
        { name: "x", expression: "variables.later" },
        { name: "y", expression: "" },
      ],
      validations: [{ expression: "variables.x == 1" }],
    },
  ],
  [
    "with wrong conditions",
    {
      matchConditions: [
        { name: "a b", expression: "true" },
        { name: "c", expression: "1" },
        { name: "c", expression: "true" },
      ],
      validations: [{ expression: "true" }],
    },
  ],
  ["without rules", { matchConstraints: { namespaceSelector: mine }, validations: [{ expression: "true" }] }],
  [
    "with a wrong kind of parameters",
    { paramKind: { apiVersion: "a/b/c", kind: "x y" }, validations: [{ expression: "true" }] },
  ],
  [
    "with wrong annotations",
    {
      auditAnnotations: [
        { key: "a b", valueExpression: "'x'" },
        { key: "c", valueExpression: "1" },
        { key: "c", valueExpression: "" },
      ],
    },
  ],
  ["with an unknown failure policy", { failurePolicy: "Maybe", validations: [{ expression: "true" }] }],
];

const invalidMutations: readonly (readonly [name: string, spec: Fields])[] = [
  ["without mutations", {}],
  ["with an unknown type of patch", { mutations: [{ patchType: "Merge" }] }],
  ["without its expression", { mutations: [{ patchType: "JSONPatch" }] }],
  [
    "with both expressions",
    {
      mutations: [
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' },
          applyConfiguration: { expression: "Object{}" },
        },
      ],
    },
  ],
  [
    "with an expression of another type",
    { mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "1" } }] },
  ],
  [
    "without a word on reinvocation",
    {
      reinvocationPolicy: undefined,
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } }],
    },
  ],
];

const invalidBindings: readonly (readonly [name: string, spec: Fields])[] = [
  ["without actions", { validationActions: [] }],
  ["with actions that repeat each other", { validationActions: ["Deny", "Warn", "Deny"] }],
  ["with an unknown action", { validationActions: ["Shout"] }],
  ["with a half reference to parameters", { paramRef: { namespace: "x" } }],
  ["with two references to parameters", { paramRef: { name: "a", selector: {}, parameterNotFoundAction: "Deny" } }],
  ["without the name of a policy", { policyName: "" }],
];

const tooMany = { validations: [{ expression: "size(object.data) < 2" }] };
const full = data({ a: "1", b: "2" });

/** Policies that judge and change what is written. */
export const policies: Script = {
  title: "admission policies",
  namespace: "policies",
  steps: [
    ...invalidPolicies.map(([name, spec]) =>
      post(`refuses a policy ${name}`, kindOf("Validating").path, policyBody("Validating", "wrong", spec)),
    ),
    ...invalidMutations.map(([name, spec]) =>
      post(`refuses a mutating policy ${name}`, kindOf("Mutating").path, policyBody("Mutating", "wrong", spec)),
    ),
    ...invalidBindings.map(([name, spec]) =>
      post(`refuses a binding ${name}`, kindOf("Validating", "Binding").path, bindingBody("Validating", "wrong", spec)),
    ),

    ...installed("Validating", "count", tooMany, {}, { ...denied(configMap("x", full)) }),
    tried("lets pass what the policy likes", configMap("few", data({ a: "1" }))),
    tried("refuses what it does not like, with a generated name", {
      ...(configMap("x", full) as Fields),
      metadata: { generateName: "g-" },
    }),
    tried("cannot judge what is not there", configMap("none")),
    get("shows the policy", `${kindOf("Validating").path}/count`),
    get("shows the binding", `${kindOf("Validating", "Binding").path}/count-binding`, {}, { view: withoutOwners }),
    patch(
      "merge",
      "makes the binding warn",
      `${kindOf("Validating", "Binding").path}/count-binding`,
      { spec: { validationActions: ["Warn", "Audit"] } },
      { view: withoutOwners },
    ),
    tried("is warned", configMap("warned", full), { until: { status: 201 } }),
    ...removed("Validating", "count"),

    ...installed(
      "Validating",
      "words",
      {
        variables: [{ name: "mode", expression: "'mode' in object.data ? object.data['mode'] : 'none'" }],
        matchConditions: [{ name: "not-left-alone", expression: "!has(object.metadata.labels)" }],
        validations: [
          {
            expression: "variables.mode in ['a', 'b', 'none']",
            messageExpression: "'no mode ' + variables.mode + ' for ' + request.userInfo.groups[0]",
            reason: "Forbidden",
          },
          { expression: "!('deep' in object.data) || object.data.missing == 'x'" },
          { expression: "!('big' in object.data)", message: " too big ", reason: "RequestEntityTooLarge" },
          { expression: "!('space' in object.data) || namespaceObject.metadata.name != request.namespace" },
          { expression: "!('who' in object.data) || !authorizer.group('').resource('pods').check('list').allowed()" },
          { expression: "!('type' in object.data) || request.kind.kind + request.resource.resource == 'x'" },
        ],
      },
      {},
      { body: configMap("x", data({ mode: "c" })), until: { status: 403 } },
    ),
    tried("is told what its message expression says", configMap("x", data({ mode: "z" }))),
    tried("fails on a key that is not there", configMap("x", data({ deep: "1" }))),
    tried("is told that it is too large", configMap("x", data({ big: "1" }))),
    tried("is judged by its namespace", configMap("x", data({ space: "1" }))),
    tried("is judged by what the user may do", configMap("x", data({ who: "1" }))),
    tried("is judged by its kind", configMap("x", data({ type: "1" }))),
    tried("is left alone by a condition", configMap("x", data({ mode: "z" }), { labels: { a: "b" } })),
    ...removed("Validating", "words"),

    post("writes the parameters", maps, configMap("limits", data({ most: "1" }))),
    ...installed(
      "Validating",
      "limited",
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [
          {
            expression: "size(object.data) <= int(params.data.most)",
            messageExpression: "'at most ' + params.data.most",
          },
        ],
      },
      { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
      { ...denied(configMap("x", full)) },
    ),
    remove("takes the parameters away", `${maps}/limits`),
    // Allowed for as long as the server still believes in the parameters.
    tried("is refused without parameters", configMap("x", data({ a: "1" })), { until: { status: 422 } }),
    ...removed("Validating", "limited"),

    ...installed(
      "Mutating",
      "stamp",
      {
        variables: [{ name: "size", expression: "string(size(object.data))" }],
        matchConditions: [{ name: "has-data", expression: "has(object.data)" }],
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: {
              expression:
                'Object{metadata: Object.metadata{labels: {"size": variables.size}}, data: {"stamped": "yes"}}',
            },
          },
          {
            patchType: "JSONPatch",
            jsonPatch: {
              expression:
                '[JSONPatch{op: "test", path: "/metadata/name", value: "stamp-me"}, JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a~b"), value: "1"}]',
            },
          },
        ],
      },
      {},
      {
        body: configMap("x", data({ a: "1" })),
        until: { status: 201, path: "metadata.labels.size", is: "1" },
        view: withoutOwners,
      },
    ),
    tried("is stamped", configMap("other", full), { view: withoutOwners }),
    tried("is not stamped without data", configMap("empty"), { view: withoutOwners }),
    ...removed("Mutating", "stamp"),

    ...installed(
      "Mutating",
      "broken",
      {
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: { expression: "Object{spec: Object.spec{replicas: 1}}" },
          },
        ],
      },
      {},
      { body: configMap("x", data({ a: "1" })), until: { status: 403 } },
    ),
    ...removed("Mutating", "broken"),
  ],
};

/** Who owns a field that a policy changed is another matter. */
function withoutOwners(body: Json): Json {
  const { metadata, ...rest } = body as { metadata?: Fields };
  if (metadata === undefined) return body;
  const { managedFields: _, ...meta } = metadata;
  return { ...rest, metadata: meta };
}

const pod = (name: string, resources: Json = {}, spec: Fields = {}): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "main", image: "main:1", resources }], automountServiceAccountToken: false, ...spec },
});

const claim = (name: string, storage: string): Json => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});

const quota = "/api/v1/namespaces/{{ns}}/resourcequotas/few";

/** What the server itself gives to objects, and what it keeps them from taking. */
export const limits: Script = {
  title: "admission limits",
  namespace: "limits",
  steps: [
    post("writes a LimitRange", "/api/v1/namespaces/{{ns}}/limitranges", {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "range" },
      spec: {
        limits: [
          {
            type: "Container",
            max: { cpu: "1", memory: "1Gi" },
            min: { cpu: "100m" },
            defaultRequest: { cpu: "200m" },
          },
          { type: "Pod", max: { "ephemeral-storage": "1Gi" } },
          { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
        ],
      },
    }),
    post("waits for the LimitRange", `${pods}?dryRun=All`, pod("probe", { limits: { cpu: "2" } }), {
      until: { status: 403 },
      anyOrder: true,
    }),
    post(
      "is refused a claim that is too large",
      "/api/v1/namespaces/{{ns}}/persistentvolumeclaims",
      claim("big", "2Gi"),
    ),
    post("gets the defaults of the range", pods, pod("filled", { limits: { "ephemeral-storage": "1Mi" } }), {
      view: withoutOwners,
    }),
    remove("deletes the LimitRange", "/api/v1/namespaces/{{ns}}/limitranges/range"),
    post("waits until the LimitRange is gone", `${pods}?dryRun=All`, pod("probe"), { until: { status: 201 } }),
    post("is refused an unknown class", pods, pod("classless", {}, { priorityClassName: "nope" })),
    post("is refused a priority of its own", pods, pod("proud", {}, { priority: 5 })),
    post("writes a PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "limits-high" },
      value: 1000,
      preemptionPolicy: "Never",
    }),
    post(
      "gets the priority of its class",
      `${pods}?dryRun=All`,
      pod("high", {}, { priorityClassName: "limits-high" }),
      {
        until: { status: 201 },
        view: withoutOwners,
      },
    ),
    post(
      "runs as a system pod",
      `${pods}?dryRun=All`,
      pod("critical", {}, { priorityClassName: "system-node-critical" }),
      {
        view: withoutOwners,
      },
    ),
    remove("deletes the PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses/limits-high"),

    post(
      "writes a ResourceQuota",
      "/api/v1/namespaces/{{ns}}/resourcequotas",
      {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "few" },
        spec: { hard: { secrets: "1", "count/secrets": "5", "requests.cpu": "1" } },
      },
      { view: specOf },
    ),
    {
      ...put("counts for the controller", `${quota}/status`, {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "few" },
        spec: { hard: { secrets: "1", "count/secrets": "5", "requests.cpu": "1" } },
        status: {
          hard: { secrets: "1", "count/secrets": "5", "requests.cpu": "1" },
          used: { secrets: "0", "count/secrets": "0", "requests.cpu": "200m" },
        },
      }),
      view: statusOf,
    },
    post("is refused a pod that asks for nothing", pods, pod("silent"), { until: { status: 403 } }),
    post("is refused a pod that asks for too much", pods, pod("hungry", { requests: { cpu: "900m" } })),
    post("takes the last place", "/api/v1/namespaces/{{ns}}/secrets", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "one" },
    }),
    post("is refused another secret", "/api/v1/namespaces/{{ns}}/secrets", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "two" },
    }),
    { ...get("sees what is used", quota), view: statusOf },
    remove("deletes the ResourceQuota", quota, undefined, { view: specOf }),
  ],
};

function statusOf(body: Json): Json {
  return (body as { status?: Json }).status ?? null;
}

/** The status depends on who counts, and when. */
function specOf(body: Json): Json {
  return (body as { spec?: Json }).spec ?? body;
}
