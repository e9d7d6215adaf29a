import type { Json, Script, Step } from "../script.ts";
import { patch, post } from "./requests.ts";
import { over, verdict, wrongValues } from "./wrong-values.ts";

type Fields = { readonly [key: string]: Json };

const path = "/api/v1/namespaces/{{ns}}/pods";
const rest = { query: { dryRun: "All" }, view: verdict, verdictOnly: true } as const;
const container = { name: "c", image: "i:1" };
const good = { containers: [container] };
const one = (more: Fields, spec: Fields = {}): Fields => ({ containers: [{ ...container, ...more }], ...spec });
const exec = { exec: { command: ["a"] } };
const volume = (source: Fields): Fields => one({}, { volumes: [{ name: "v", ...source }] });
const mounted = (mount: Fields, more: Fields = {}): Fields =>
  one(
    { volumeMounts: [{ name: "v", mountPath: "/v", ...mount }], ...more },
    { volumes: [{ name: "v", emptyDir: {} }] },
  );
const from = (valueFrom: Fields, more: Fields = {}): Fields => one({ env: [{ name: "A", valueFrom, ...more }] });
const init = (more: Fields): Fields => one({}, { initContainers: [{ name: "i", image: "i:1", ...more }] });
const secure = (securityContext: Fields): Fields => one({ securityContext });
const securePod = (securityContext: Fields, more: Fields = {}): Fields => one({}, { securityContext, ...more });
const asks = (requests: Fields, limits: Fields = {}): Fields => one({ resources: { requests, limits } });
const term = { labelSelector: { matchLabels: { a: "b" } }, topologyKey: "z" };
const near = (more: Fields): Fields =>
  one({}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...more }] } } });
const node = (expression: Fields, list = "matchExpressions"): Fields =>
  one(
    {},
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ [list]: [expression] }] },
        },
      },
    },
  );
const spread = (...list: Fields[]): Fields =>
  one(
    {},
    {
      topologySpreadConstraints: list.map((item) => ({
        maxSkew: 1,
        topologyKey: "z",
        whenUnsatisfiable: "DoNotSchedule",
        ...item,
      })),
    },
  );
const dns = (dnsConfig: Fields, dnsPolicy = "ClusterFirst"): Fields => one({}, { dnsPolicy, dnsConfig });
const file = (item: Fields): Fields => volume({ downwardAPI: { items: [{ path: "f", ...item }] } });
const together = (...sources: Fields[]): Fields => volume({ projected: { sources } });

/** Mistakes between fields, and values that are right only for one field. */
const CASES: Readonly<Record<string, Fields>> = {
  "no containers": { containers: [] },
  "two containers of one name": { containers: [container, container] },
  "a container with a name of a domain": { containers: [{ ...container, name: "a.b" }] },
  "a container with a long name": { containers: [{ ...container, name: "a".repeat(64) }] },
  "spaces around the image": { containers: [{ ...container, image: " i " }] },
  "two ports of one name": one({
    ports: [
      { name: "p", containerPort: 1 },
      { name: "p", containerPort: 2 },
    ],
  }),
  "a port with a name of numbers": one({ ports: [{ name: "80", containerPort: 1 }] }),
  "a port with a long name": one({ ports: [{ name: "a-very-long-port-name", containerPort: 1 }] }),
  "a port of the node twice": one({
    ports: [
      { containerPort: 1, hostPort: 5 },
      { containerPort: 2, hostPort: 5 },
    ],
  }),
  "a port of the node for two protocols": one({
    ports: [
      { containerPort: 1, hostPort: 5 },
      { containerPort: 2, hostPort: 5, protocol: "UDP" },
    ],
  }),
  "the node's network and another port": one({ ports: [{ containerPort: 1, hostPort: 5 }] }, { hostNetwork: true }),
  "the node's network and a port": one({ ports: [{ containerPort: 1 }] }, { hostNetwork: true }),
  "more asked for than allowed": asks({ cpu: "2" }, { cpu: "1" }),
  "a device without a limit": asks({ "e.io/gpu": "1" }),
  "a device with another limit": asks({ "e.io/gpu": "1" }, { "e.io/gpu": "2" }),
  "half a device": asks({}, { "e.io/gpu": "500m" }),
  "a resource of Kubernetes": asks({ "kubernetes.io/x": "1" }),
  "a resource for quotas": asks({ "requests.cpu": "1" }),
  "a resource called after requests": asks({}, { "requests.e.io/gpu": "1" }),
  "huge pages alone": asks({}, { "hugepages-2Mi": "2Mi" }),
  "one and a half huge pages": asks({}, { "hugepages-2Mi": "3Mi", cpu: "1" }),
  "huge pages of no size": asks({}, { "hugepages-x": "3Mi", cpu: "1" }),
  "a claim that is not there": one({ resources: { claims: [{ name: "a" }] } }),
  "a claim twice": one(
    { resources: { claims: [{ name: "a" }, { name: "a" }] } },
    {
      resourceClaims: [
        { name: "a", resourceClaimName: "x" },
        { name: "b", resourceClaimName: "x" },
      ],
    },
  ),
  "a claim that is another's": one(
    { resources: { claims: [{ name: "z" }] } },
    { resourceClaims: [{ name: "b", resourceClaimName: "x" }] },
  ),
  "claims of both sorts": one(
    {},
    { resourceClaims: [{ name: "a", resourceClaimName: "x", resourceClaimTemplateName: "y" }, { name: "a" }] },
  ),
  "a pod with less than its containers": {
    ...one({ resources: { requests: { cpu: "2" } } }),
    resources: { requests: { cpu: "1" } },
  },
  "a pod with lower limits than its container": {
    ...one({ resources: { limits: { cpu: "2" } } }),
    resources: { limits: { cpu: "1" } },
  },
  "a pod with storage": { ...good, resources: { requests: { storage: "1" } } },
  "a pod of Windows with resources": { ...good, os: { name: "windows" }, resources: { requests: { cpu: "1" } } },
  "a probe without a handler": one({ livenessProbe: {} }),
  "a probe with two handlers": one({ livenessProbe: { ...exec, tcpSocket: { port: 1 } } }),
  "a probe that succeeds twice": one({
    livenessProbe: { ...exec, successThreshold: 2 },
    startupProbe: { ...exec, successThreshold: 2 },
    readinessProbe: { ...exec, successThreshold: 2 },
  }),
  "a readiness probe with its own end": one({ readinessProbe: { ...exec, terminationGracePeriodSeconds: 5 } }),
  "a probe with a bad header": one({
    livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "" }] } },
  }),
  "a probe of a named port": one({ livenessProbe: { httpGet: { port: "http" } } }),
  "a hook that sleeps too long": one({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
  "a hook that sleeps": one({ lifecycle: { preStop: { sleep: { seconds: 30 } } } }),
  "a hook without a handler": one({ lifecycle: { postStart: {} } }),
  "a variable with an equals sign": one({ env: [{ name: "a=b", value: "c" }] }),
  "a variable with strange signs": one({ env: [{ name: "a b/c", value: "c" }] }),
  "a variable beyond ASCII": one({ env: [{ name: "ä", value: "c" }] }),
  "a variable with a value twice": from({ fieldRef: { fieldPath: "metadata.name" } }, { value: "x" }),
  "a variable of two sources": from({
    fieldRef: { fieldPath: "metadata.name" },
    secretKeyRef: { name: "a", key: "b" },
  }),
  "a variable of no source": from({}),
  "a variable of labels": from({ fieldRef: { fieldPath: "metadata.labels" } }),
  "a variable of one label": from({ fieldRef: { fieldPath: "metadata.labels['a']" } }),
  "a variable of a bad label": from({ fieldRef: { fieldPath: "metadata.labels['!']" } }),
  "a variable of a part of a name": from({ fieldRef: { fieldPath: "metadata.name['a']" } }),
  "a variable of the old host": from({ fieldRef: { fieldPath: "spec.host" } }),
  "a variable of another version": from({ fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" } }),
  "a variable of a resource": from({ resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } }),
  "a variable of a resource by a strange divisor": from({ resourceFieldRef: { resource: "limits.cpu", divisor: "2" } }),
  "a variable of memory by a strange divisor": from({
    resourceFieldRef: { resource: "limits.memory", divisor: "2Mi" },
  }),
  "a variable of an unknown resource": from({ resourceFieldRef: { resource: "limits.gpu" } }),
  "a variable of a bad key": from({ configMapKeyRef: { name: "a", key: ".." } }),
  "a variable of a file that is not there": from({ fileKeyRef: { volumeName: "v", path: "f", key: "K" } }),
  "a variable of a file above": {
    ...from({ fileKeyRef: { volumeName: "v", path: "../f", key: "K" } }),
    volumes: [{ name: "v", secret: { secretName: "s" } }],
  },
  "variables of both": one({ envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
  "variables of a name with a dash": one({ envFrom: [{ configMapRef: { name: "a-" } }] }),
  "variables with a bad prefix": one({ envFrom: [{ prefix: "a=b", configMapRef: { name: "a" } }] }),
  "a volume with two sources": volume({ emptyDir: {}, hostPath: { path: "/" } }),
  "a volume with three sources": volume({
    cephfs: { monitors: ["a"] },
    downwardAPI: {},
    rbd: { monitors: ["a"], image: "i" },
  }),
  "two volumes of one name": one({}, { volumes: [{ name: "v" }, { name: "v" }] }),
  "a mount of nothing": one({ volumeMounts: [{ name: "z", mountPath: "/z" }] }),
  "a mount of a volume with a mistake": one(
    { volumeMounts: [{ name: "v", mountPath: "/z" }] },
    { volumes: [{ name: "v", secret: {} }] },
  ),
  "two mounts at one place": one(
    {
      volumeMounts: [
        { name: "v", mountPath: "/z" },
        { name: "v", mountPath: "/z" },
      ],
    },
    { volumes: [{ name: "v" }] },
  ),
  "a mount of both paths": mounted({ subPath: "a", subPathExpr: "b" }),
  "a mount of a path above": mounted({ subPath: "../a" }),
  "a mount of an absolute path": mounted({ subPathExpr: "/a" }),
  "a mount in both directions": mounted({ mountPropagation: "Bidirectional" }),
  "a mount in both directions with rights": mounted(
    { mountPropagation: "Bidirectional" },
    { securityContext: { privileged: true } },
  ),
  "a mount that is read only to the ground": mounted({ recursiveReadOnly: "Enabled" }),
  "a mount that is read only": mounted({ recursiveReadOnly: "Enabled", readOnly: true }),
  "a mount that is read only and seen": mounted({
    recursiveReadOnly: "IfPossible",
    readOnly: true,
    mountPropagation: "HostToContainer",
  }),
  "a device of no disk": one(
    {
      volumeDevices: [
        { name: "v", devicePath: "/d" },
        { name: "v", devicePath: "/d" },
      ],
    },
    { volumes: [{ name: "v", emptyDir: {} }] },
  ),
  "a device and a mount of one disk": one(
    { volumeDevices: [{ name: "v", devicePath: "/d" }], volumeMounts: [{ name: "v", mountPath: "/d" }] },
    { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "a" } }] },
  ),
  "a device above": one(
    { volumeDevices: [{ name: "v", devicePath: "/d/../x" }] },
    { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "a" } }] },
  ),
  "a path of the host above": volume({ hostPath: { path: "/a/../b" } }),
  "a Secret's key above": volume({
    secret: {
      secretName: "s",
      items: [
        { key: "k", path: "../k" },
        { key: "k", path: "..k" },
        { key: "k", path: "/k", mode: 512 },
      ],
    },
  }),
  "a file of nothing": file({}),
  "a file of both": file({
    fieldRef: { fieldPath: "metadata.name" },
    resourceFieldRef: { containerName: "c", resource: "limits.cpu" },
  }),
  "a file of a resource of nobody": file({ resourceFieldRef: { resource: "limits.cpu" } }),
  "a file of an address": file({ fieldRef: { fieldPath: "status.podIP" } }),
  "one file twice": together(
    { secret: { name: "a", items: [{ key: "k", path: "p" }] } },
    { configMap: { name: "b", items: [{ key: "k", path: "p" }] } },
  ),
  "two sources in one": together({ secret: { name: "a" }, configMap: { name: "b" } }),
  "a token for a moment": together({ serviceAccountToken: { path: "t", expirationSeconds: 5 } }),
  "a token for a life": together({ serviceAccountToken: { path: "../t", expirationSeconds: 5_000_000_000 } }),
  "a disk of iSCSI": volume({
    iscsi: { targetPortal: "a", iqn: "iqn.2001-04.com.example:storage", lun: 256, chapAuthSession: true },
  }),
  "a disk of iSCSI with a bad name": volume({
    iscsi: { targetPortal: "a", iqn: "iqn.x", lun: 0, initiatorName: "eui.1" },
  }),
  "a disk of Fibre Channel of both": volume({ fc: { targetWWNs: ["a"], wwids: ["b"] } }),
  "a disk of Azure": volume({ azureDisk: { diskName: "a", diskURI: "b", kind: "Managed" } }),
  "a volume of NFS below": volume({ nfs: { server: "a", path: "b" } }),
  "a volume of Quobyte": volume({ quobyte: { registry: "a", volume: "b" } }),
  "a volume of Flex": volume({ flexVolume: { driver: "a/b", options: { "x.k8s.io/a": "b" } } }),
  "a volume of CSI with a long name": volume({ csi: { driver: "a".repeat(64) } }),
  "an ephemeral volume": volume({
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { name: "x" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "0" } } },
      },
    },
  }),
  "the claim of an ephemeral volume": one(
    {},
    {
      volumes: [
        {
          name: "v",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } },
            },
          },
        },
        { name: "w", persistentVolumeClaim: { claimName: "one-v" } },
      ],
    },
  ),
  "privileges taken and given": secure({
    allowPrivilegeEscalation: false,
    privileged: true,
    capabilities: { add: ["CAP_SYS_ADMIN"] },
  }),
  "everything of /proc": secure({ procMount: "Unmasked" }),
  "everything of /proc for its own users": { ...secure({ procMount: "Unmasked" }), hostUsers: false },
  "a profile without a file": secure({ seccompProfile: { type: "Localhost" }, appArmorProfile: { type: "Localhost" } }),
  "a profile with a file": secure({
    seccompProfile: { type: "RuntimeDefault", localhostProfile: "a" },
    appArmorProfile: { type: "Unconfined", localhostProfile: "a" },
  }),
  "a profile above": secure({
    seccompProfile: { type: "Localhost", localhostProfile: "../a" },
    appArmorProfile: { type: "Localhost", localhostProfile: " a" },
  }),
  "a user of Windows": secure({ windowsOptions: { runAsUserName: "a\\b\\c", gmsaCredentialSpec: "" } }),
  "a bad user of Windows": secure({ windowsOptions: { runAsUserName: "-\\a:b", gmsaCredentialSpecName: "!" } }),
  "a process of the host": secure({ windowsOptions: { hostProcess: true } }),
  "a process of the host that is none": {
    ...secure({ windowsOptions: { hostProcess: false } }),
    securityContext: { windowsOptions: { hostProcess: true } },
    hostNetwork: true,
  },
  "Windows with things of Linux": {
    ...secure({ runAsUser: 1, privileged: false, capabilities: {} }),
    os: { name: "windows" },
    hostPID: true,
    securityContext: { fsGroup: 1, runAsUser: 1, sysctls: [{ name: "a", value: "b" }] },
  },
  "Linux with things of Windows": {
    ...secure({ windowsOptions: {} }),
    os: { name: "linux" },
    securityContext: { windowsOptions: {} },
  },
  "a sysctl twice": securePod({
    sysctls: [
      { name: "kernel.a", value: "1" },
      { name: "kernel.a", value: "1" },
    ],
  }),
  "a sysctl of the node's network": securePod(
    {
      sysctls: [
        { name: "net.ipv4.a", value: "1" },
        { name: "net/ipv4/b", value: "1" },
      ],
    },
    { hostNetwork: true },
  ),
  "a sysctl of the node's memory": securePod({ sysctls: [{ name: "kernel.shmmax", value: "1" }] }, { hostIPC: true }),
  "processes of both": one({}, { hostPID: true, shareProcessNamespace: true }),
  "own users on the host": one({}, { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true }),
  "mounts of SELinux": securePod({ seLinuxChangePolicy: "MountOption" }),
  "a toleration of everything": one({}, { tolerations: [{ operator: "Exists" }] }),
  "a toleration of everything and a value": one({}, { tolerations: [{ operator: "Exists", value: "x" }] }),
  "a toleration without a key": one({}, { tolerations: [{ value: "x" }] }),
  "a toleration for a while": one({}, { tolerations: [{ key: "a", effect: "NoSchedule", tolerationSeconds: 5 }] }),
  "a toleration that compares": one({}, { tolerations: [{ key: "a", operator: "Lt", value: "5" }] }),
  "a toleration with a bad value": one({}, { tolerations: [{ key: "a", value: "!" }] }),
  "a gate twice": one({}, { schedulingGates: [{ name: "a" }, { name: "a" }] }),
  "a gate and a node": one({}, { schedulingGates: [{ name: "a" }], nodeName: "n" }),
  "a spread twice": spread({}, {}),
  "a spread of few domains": spread({ minDomains: 1, whenUnsatisfiable: "ScheduleAnyway" }),
  "a spread by labels of nobody": spread({ matchLabelKeys: ["a"] }),
  "a spread by labels": spread({ matchLabelKeys: ["a"], labelSelector: { matchLabels: { b: "c" } } }),
  "a spread with a bad selector": spread({ labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
  "pods near by labels of nobody": near({ matchLabelKeys: ["a"], labelSelector: null }),
  "pods near and far by one label": near({
    matchLabelKeys: ["a"],
    mismatchLabelKeys: ["a"],
    labelSelector: { matchLabels: { z: "y" } },
  }),
  "pods near in a bad namespace": near({ namespaces: ["A"] }),
  "a node of no values": node({ key: "a", operator: "In" }),
  "a node of too many values": node({ key: "a", operator: "Exists", values: ["b"] }),
  "a node that is greater than two": node({ key: "a", operator: "Gt", values: ["1", "2"] }),
  "a node of a bad value": node({ key: "a", operator: "In", values: ["!"] }),
  "a node by its name": node({ key: "metadata.name", operator: "In", values: ["a"] }, "matchFields"),
  "a node by two names": node({ key: "metadata.name", operator: "In", values: ["a", "!"] }, "matchFields"),
  "a node by its uid": node({ key: "metadata.uid", operator: "Exists" }, "matchFields"),
  "a node of no terms": one(
    {},
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
  ),
  "DNS of nobody": one({}, { dnsPolicy: "None" }),
  "DNS of no server": dns({ searches: ["a"] }, "None"),
  "DNS of many servers": dns({ nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"] }),
  "DNS of strange servers": dns({ nameservers: ["01.1.1.1", "::ffff:1.2.3.4", "x"] }),
  "DNS of strange searches": dns({ searches: [".", "_a.b_c.", "A", ""] }),
  "DNS of an unnamed option": dns({ options: [{ value: "x" }] }),
  "a host name beside the full one": one({}, { hostnameOverride: "a", setHostnameAsFQDN: true }),
  "a host name on the host": one({}, { hostnameOverride: "a".repeat(65), hostNetwork: true }),
  "an init container with a probe": init({ livenessProbe: exec, lifecycle: { preStop: exec } }),
  "an init container of another's name": init({ name: "c" }),
  "a sidecar with a probe": init({ restartPolicy: "Always", livenessProbe: exec }),
  "a sidecar with a bad probe": init({ restartPolicy: "Always", livenessProbe: {} }),
  "an init container that is restarted to be resized": init({
    resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }],
  }),
  "a container resized twice": one(
    {
      resizePolicy: [
        { resourceName: "cpu", restartPolicy: "NotRequired" },
        { resourceName: "cpu", restartPolicy: "RestartContainer" },
      ],
    },
    { restartPolicy: "Never" },
  ),
  "a container with rules alone": one({ restartPolicyRules: [{ action: "Restart" }] }),
  "a container with rules": one({
    restartPolicy: "Never",
    restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }],
  }),
  "a container with many rules": one({
    restartPolicy: "Never",
    restartPolicyRules: Array.from({ length: 21 }, () => ({ action: "Magic", exitCodes: { operator: "Like" } })),
  }),
  "an ephemeral container": one({}, { ephemeralContainers: [{ name: "e", image: "i" }] }),
  "an ephemeral container with everything": one(
    {},
    {
      ephemeralContainers: [
        {
          name: "c",
          image: " i",
          targetContainerName: "z",
          ports: [{ containerPort: 1 }],
          livenessProbe: exec,
          resources: { limits: { cpu: "1" } },
          volumeMounts: [{ name: "v", mountPath: "/v", subPath: "a" }],
        },
      ],
      volumes: [{ name: "v" }],
    },
  ),
  "less than no time to end": one({}, { terminationGracePeriodSeconds: -1 }),
};

const ANNOTATIONS: Readonly<Record<string, string>> = {
  "kubernetes.io/config.mirror": "x",
  "controller.kubernetes.io/pod-deletion-cost": "+1",
  "seccomp.security.alpha.kubernetes.io/pod": "magic",
  "container.seccomp.security.alpha.kubernetes.io/c": "localhost/../a",
  "container.apparmor.security.beta.kubernetes.io/z": "magic",
};

const pod = (spec: Json, meta: Fields = {}): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "one", ...meta },
  spec,
});
const create = (name: string, spec: Json, meta: Fields = {}): Step => post(name, path, pod(spec, meta), rest);
const values = wrongValues("PodSpec", [
  "volumes[].ephemeral.volumeClaimTemplate.metadata",
  // Whether there is such a class is no rule of pods.
  "runtimeClassName",
]);
const change = (name: string, body: Json): Step => patch("merge", name, `${path}/kept`, body, rest);

const fields: Script = {
  title: "the fields of pods",
  namespace: "rules-of-fields",
  steps: values.map(({ name, fields: spec }) => create(`creates with ${name}`, over(good, spec))),
};

const relations: Script = {
  title: "the rules of pods",
  namespace: "rules-of-pods",
  steps: [
    ...Object.entries(CASES).map(([name, spec]) => create(`creates a pod with ${name}`, spec)),
    ...Object.entries(CASES).map(([name, spec]) =>
      post(
        `creates a template with ${name}`,
        path.replace("pods", "podtemplates"),
        {
          apiVersion: "v1",
          kind: "PodTemplate",
          metadata: { name: "one" },
          template: { spec },
        },
        rest,
      ),
    ),
    ...Object.entries(ANNOTATIONS).map(([key, value]) =>
      create(`creates with the annotation ${key}`, good, { annotations: { [key]: value } }),
    ),
  ],
};

const changes: Script = {
  title: "changes of pods",
  namespace: "changes-of-pods",
  steps: [
    post(
      "creates the one that is changed",
      path,
      pod({ ...good, activeDeadlineSeconds: 50, tolerations: [{ key: "a" }] }, { name: "kept" }),
      { view: verdict, verdictOnly: true },
    ),
    ...values
      .filter(({ name }) => !name.slice(0, name.indexOf(" ")).includes("[]") || name.startsWith("tolerations"))
      .map(({ name, fields: spec }) => change(`changes ${name}`, { spec })),
    ...Object.entries(CASES).map(([name, spec]) => change(`changes to ${name}`, { spec })),
    change("takes the deadline away", { spec: { activeDeadlineSeconds: null } }),
    change("makes the deadline longer", { spec: { activeDeadlineSeconds: 51 } }),
    change("makes the deadline shorter", { spec: { activeDeadlineSeconds: 49 } }),
    change("takes a toleration away", { spec: { tolerations: [] } }),
    change("changes the image", { spec: { containers: [{ name: "c", image: "i:2" }] } }),
    change("adds a container", { spec: { containers: [container, { name: "d", image: "i" }] } }),
    change("adds a gate", { spec: { schedulingGates: [{ name: "a" }] } }),
    ...Object.entries(ANNOTATIONS).map(([key, value]) =>
      change(`adds the annotation ${key}`, { metadata: { annotations: { [key]: value } } }),
    ),
    post(
      "creates one with gates",
      path,
      pod({ ...good, schedulingGates: [{ name: "a" }, { name: "b" }], nodeSelector: { a: "b" } }, { name: "gated" }),
      { view: verdict, verdictOnly: true },
    ),
    ...Object.entries({
      "takes a gate away": { schedulingGates: [{ name: "a" }] },
      "adds another gate": { schedulingGates: [{ name: "c" }] },
      "selects fewer nodes": { nodeSelector: { c: "d" } },
      "selects other nodes": { nodeSelector: { a: "c" } },
      "likes some nodes": node({ key: "a", operator: "Exists" }),
      "changes a command": one({ command: ["x"] }),
    }).map(([name, spec]) => patch("merge", name, `${path}/gated`, { spec: spec as Fields }, rest)),
  ],
};

/** Every field of a pod wrong once, every rule broken once, and every change tried. */
export const podRules: readonly Script[] = [fields, relations, changes];
