import { describe, expect, it } from "vitest";
import { defaultPod } from "../../builtin/defaults-pod.ts";
import { describeError } from "../../fields.ts";
import type { ApiObject } from "../../object.ts";
import { pod, podTemplate, podUpdate } from "./index.ts";

type Fields = Record<string, unknown>;

const withDefaults = (spec: Fields, metadata: Fields = {}): ApiObject => {
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...metadata }, spec: structuredClone(spec) };
  defaultPod(object.spec);
  return object as unknown as ApiObject;
};
const container = (more: Fields = {}): Fields => ({ name: "c", image: "i:1", ...more });
const one = (more: Fields, rest: Fields = {}): Fields => ({ containers: [container(more)], ...rest });
const complaints = (spec: Fields, metadata?: Fields): string[] =>
  pod(withDefaults(spec, metadata)).map((error) => `${error.field}: ${describeError(error)}`);

const c0 = "spec.containers[0]";

const REFUSED: readonly [what: string, spec: Fields, complaints: readonly string[]][] = [
  ["no containers", { containers: [] }, ["spec.containers: Required value"]],
  [
    "a port above all ports",
    one({ ports: [{ containerPort: 65_536 }] }),
    [`${c0}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`],
  ],
  ["a port without a number", one({ ports: [{}] }), [`${c0}.ports[0].containerPort: Required value`]],
  [
    "a port with an unknown protocol",
    one({ ports: [{ containerPort: 1, protocol: "ICMP" }] }),
    [`${c0}.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`],
  ],
  [
    "two containers on one port of the node",
    one({
      ports: [
        { containerPort: 1, hostPort: 5 },
        { containerPort: 2, hostPort: 5 },
      ],
    }),
    [`${c0}.ports[1].hostPort: Duplicate value: "TCP//5"`],
  ],
  [
    "a container named in upper case",
    { containers: [container({ name: "C" })] },
    [expect.stringContaining(`${c0}.name: Invalid value: "C": a lowercase RFC 1123 label`) as unknown as string],
  ],
  [
    "a container and an init container of one name",
    one({}, { initContainers: [container()] }),
    [`spec.initContainers[0].name: Duplicate value: "c"`],
  ],
  [
    "more asked for than allowed",
    one({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    [`${c0}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  ],
  [
    "less than nothing asked for",
    one({ resources: { requests: { memory: "-1" } } }),
    [`${c0}.resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`],
  ],
  [
    "a resource that nobody knows",
    one({ resources: { requests: { gpu: "1" } } }),
    [
      `${c0}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
      `${c0}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
    ],
  ],
  [
    "half a device",
    one({ resources: { limits: { "e.io/gpu": "500m" } } }),
    [
      `${c0}.resources.limits[e.io/gpu]: Invalid value: "500m": must be an integer`,
      `${c0}.resources.requests[e.io/gpu]: Invalid value: "500m": must be an integer`,
    ],
  ],
  [
    "a volume with two sources",
    one({}, { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] }),
    ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
  ],
  [
    "a mount of a volume that has a mistake",
    one({ volumeMounts: [{ name: "v", mountPath: "/v" }] }, { volumes: [{ name: "v", secret: {} }] }),
    ["spec.volumes[0].secret.secretName: Required value", `${c0}.volumeMounts[0].name: Not found: "v"`],
  ],
  [
    "a probe without a handler",
    one({ livenessProbe: {} }),
    [`${c0}.livenessProbe: Required value: must specify a handler type`],
  ],
  [
    "a probe with two handlers",
    one({ readinessProbe: { exec: { command: ["a"] }, tcpSocket: { port: 1 } } }),
    [`${c0}.readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
  ],
  [
    "a probe that must succeed twice",
    one({ livenessProbe: { exec: { command: ["a"] }, successThreshold: 2 } }),
    [`${c0}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
  ],
  [
    "a hook that sleeps longer than the pod may take to end",
    one({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      `${c0}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`,
    ],
  ],
  [
    "a variable with a value of two sources",
    one({
      env: [
        {
          name: "A",
          valueFrom: { fieldRef: { fieldPath: "metadata.name" }, configMapKeyRef: { name: "m", key: "k" } },
        },
      ],
    }),
    [`${c0}.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`],
  ],
  [
    "a variable of a field that it cannot have",
    one({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.toString" } } }] }),
    [
      `${c0}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.toString": error converting fieldPath: field label not supported: spec.toString`,
    ],
  ],
  [
    "variables from nowhere",
    one({ envFrom: [{}] }),
    [`${c0}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``],
  ],
  [
    "a toleration of everything for a while",
    one({}, { tolerations: [{ operator: "Exists", tolerationSeconds: 5 }] }),
    [`spec.tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`],
  ],
  [
    "affinity without a topology",
    one({}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } }),
    [
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
      expect.stringContaining("name part must be non-empty") as unknown as string,
      expect.stringContaining("name part must consist of alphanumeric") as unknown as string,
    ],
  ],
  [
    "a spread that is never uneven",
    one({}, { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }] }),
    ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
  ],
  [
    "privileges that are taken and given",
    one({ securityContext: { allowPrivilegeEscalation: false, privileged: true } }),
    [
      expect.stringContaining(
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
      ) as unknown as string,
    ],
  ],
  [
    "a sysctl of the node's network",
    one({}, { hostNetwork: true, securityContext: { sysctls: [{ name: "net.a", value: "1" }] } }),
    [`spec.securityContext.sysctls[0].name: Invalid value: "net.a": may not be specified when 'hostNetwork' is true`],
  ],
  [
    "DNS of nobody",
    one({}, { dnsPolicy: "None" }),
    ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  ],
  [
    "an alias at an address with zeros",
    one({}, { hostAliases: [{ ip: "010.0.0.1" }] }),
    [`spec.hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s`],
  ],
  [
    "ephemeral containers from the beginning",
    one({}, { ephemeralContainers: [container({ name: "e", ports: [{ containerPort: 1 }] })] }),
    [
      "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
      "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ],
  ],
  [
    "an init container with a probe",
    one({}, { initContainers: [container({ name: "i", livenessProbe: { exec: { command: ["a"] } } })] }),
    [
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
  ],
  [
    "a node before its gates are gone",
    one({}, { nodeName: "n", schedulingGates: [{ name: "g" }] }),
    ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
  ],
  [
    "a deadline of no time",
    one({}, { activeDeadlineSeconds: 0 }),
    ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
  ],
  [
    "a system that nobody knows",
    one({}, { os: { name: "dos" } }),
    [`spec.os: Unsupported value: "dos": supported values: "linux", "windows"`],
  ],
];

const ACCEPTED: readonly [what: string, spec: Fields][] = [
  [
    "a sidecar with a probe",
    one(
      {},
      {
        initContainers: [
          container({ name: "s", restartPolicy: "Always", livenessProbe: { tcpSocket: { port: "http" } } }),
        ],
      },
    ),
  ],
  ["the node's network with ports", one({ ports: [{ containerPort: 80 }] }, { hostNetwork: true })],
  [
    "devices, huge pages and little storage",
    one({
      resources: { limits: { "e.io/gpu": "2", "hugepages-2Mi": "4Mi", memory: "1Gi", "ephemeral-storage": "1Gi" } },
    }),
  ],
  [
    "every label of the pod in a file",
    one(
      {},
      {
        volumes: [
          { name: "v", downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels['a/b']" } }] } },
        ],
      },
    ),
  ],
  ["a variable with a strange name", one({ env: [{ name: "toString" }, { name: "a b/c" }] })],
  [
    "names of every object's own fields",
    one({ volumeMounts: [{ name: "constructor", mountPath: "/a" }] }, { volumes: [{ name: "constructor" }] }),
  ],
];

describe("the rules of pods", () => {
  it.each(REFUSED)("refuse %s", (_, spec, expected) => {
    expect(complaints(spec)).toEqual(expected);
  });

  it.each(ACCEPTED)("accept %s", (_, spec) => {
    expect(complaints(spec)).toEqual([]);
  });

  it("refuse in a template what is refused in a pod, under its own path", () => {
    const { spec } = withDefaults({
      containers: [container({ image: " i " })],
      ephemeralContainers: [container({ name: "e" })],
    });
    const found = podTemplate({ template: { spec } } as unknown as ApiObject);
    // Spaces around an image are refused in pods alone.
    expect(found.map((error) => `${error.field}: ${describeError(error)}`)).toEqual([
      "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
    ]);
  });

  const before = withDefaults(one({}, { activeDeadlineSeconds: 50, schedulingGates: [{ name: "g" }] }));
  const changes = (spec: Fields): string[] => {
    const after = { ...before, spec: { ...structuredClone(before.spec as Fields), ...spec } } as ApiObject;
    return podUpdate(after, before).map((error) => `${error.field}: ${describeError(error)}`);
  };

  it.each<[string, Fields, string[]]>([
    [
      "a longer deadline",
      { activeDeadlineSeconds: 51 },
      ["spec.activeDeadlineSeconds: Invalid value: 51: must be less than or equal to previous value"],
    ],
    [
      "another gate",
      { schedulingGates: [{ name: "h" }] },
      ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling"],
    ],
    [
      "another command",
      { containers: [{ ...(before.spec as { containers: Fields[] }).containers[0], command: ["x"] }] },
      ["spec: Forbidden: pod updates may not change fields other than `spec."],
    ],
    [
      "one container more",
      {
        containers: [
          ...(before.spec as { containers: Fields[] }).containers,
          { ...(before.spec as { containers: Fields[] }).containers[0], name: "d" },
        ],
      },
      ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ],
  ])("refuse a change that asks for %s", (_, change, expected) => {
    expect(changes(change)).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it("let a pod that waits for its gates be told where it may run", () => {
    expect(changes({ nodeSelector: { a: "b" }, schedulingGates: undefined })).toEqual([]);
  });
});
