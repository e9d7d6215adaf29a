import { type Container, type Found, record, type Subject } from "./subject.ts";
import { named, plural, quoted, setters, sortedSet } from "./wording.ts";

const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";

/** AppArmor: the runtime's own profile or one of the node's. */
export function appArmor({ security, containers, annotations }: Subject): Found {
  const wrong = (context: Readonly<Record<string, unknown>>): string | undefined => {
    const profile = context.appArmorProfile;
    if (profile === undefined || profile === null) return undefined;
    const type = String(record(profile).type ?? "");
    return type === "RuntimeDefault" || type === "Localhost" ? undefined : type;
  };
  const ofPod = wrong(security);
  const bad = containers.filter((container) => wrong(container.security) !== undefined);
  const notes = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(APP_ARMOR) && !allowedAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const values = [
    ...sortedSet([
      ...(ofPod === undefined ? [] : [ofPod]),
      ...bad.map((container) => wrong(container.security) as string),
    ]),
    ...notes,
  ];
  const who = [
    setters(ofPod !== undefined, bad),
    notes.length > 0 ? plural(notes.length, "annotation", "annotations") : "",
  ].filter((text) => text !== "");
  if (who.length === 0) return undefined;
  return {
    reason: plural(values.length, "forbidden AppArmor profile", "forbidden AppArmor profiles"),
    detail: `${who.join(" and ")} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

const allowedAppArmor = (value: string): boolean =>
  value === "" || value === "runtime/default" || value.startsWith("localhost/");

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  ...["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"],
  ...["SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"],
]);

/** The capabilities that a list of a container's security context names. */
export function capabilities({ security }: Container, list: "add" | "drop"): string[] {
  const value = record(security.capabilities)[list];
  return Array.isArray(value) ? value.map(String) : [];
}

/** No capabilities but those that a container has anyway. */
export function defaultCapabilities({ containers }: Subject): Found {
  const odd = (container: Container) =>
    capabilities(container, "add").filter((name) => !DEFAULT_CAPABILITIES.has(name));
  const bad = containers.filter((container) => odd(container).length > 0);
  if (bad.length === 0) return undefined;
  const detail = `${named(bad)} must not include ${quoted(sortedSet(bad.flatMap(odd)))} in securityContext.capabilities.add`;
  return { reason: "non-default capabilities", detail };
}

/** Nothing of the node's own network, processes and shared memory. */
export function hostNamespaces({ spec }: Subject): Found {
  const shared = ["hostNetwork", "hostPID", "hostIPC"].filter((key) => spec[key] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((key) => `${key}=true`).join(", ") };
}

/** No folders of the node. */
export function hostPaths({ spec }: Subject): Found {
  const volumes = Array.isArray(spec.volumes) ? spec.volumes.map(record) : [];
  const names = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => String(name));
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural(names.length, "volume", "volumes")} ${quoted(names)}` };
}

/** No ports of the node. */
export function hostPorts({ containers }: Subject): Found {
  const used = ({ fields }: Container): string[] => {
    const ports = Array.isArray(fields.ports) ? fields.ports.map(record) : [];
    return ports.flatMap(({ hostPort }) => (typeof hostPort === "number" && hostPort !== 0 ? [String(hostPort)] : []));
  };
  const bad = containers.filter((container) => used(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sortedSet(bad.flatMap(used));
  const verb = plural(bad.length, "uses", "use");
  const what = plural(ports.length, "hostPort", "hostPorts");
  return { reason: "hostPort", detail: `${named(bad)} ${verb} ${what} ${ports.join(", ")}` };
}

/** Probes and lifecycle hooks ask the pod and no other host. */
export function probeHosts({ containers }: Subject): Found {
  const hosts = ({ fields }: Container): string[] => {
    const lifecycle = record(fields.lifecycle);
    const askers = [fields.livenessProbe, fields.readinessProbe, fields.startupProbe];
    return [...askers, lifecycle.postStart, lifecycle.preStop].flatMap((asker) =>
      ["httpGet", "tcpSocket"].flatMap((way) => {
        const { host } = record(record(asker)[way]);
        return typeof host === "string" && host !== "" ? [host] : [];
      }),
    );
  };
  const bad = containers.filter((container) => hosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const asked = sortedSet(bad.flatMap(hosts));
  const names = sortedSet(bad.map(({ name }) => name)).map((name) => ({ name }));
  const verb = plural(bad.length, "uses", "use");
  const what = plural(asked.length, "probe or lifecycle host", "probe or lifecycle hosts");
  return { reason: "probe or lifecycle host", detail: `${named(names)} ${verb} ${what} ${quoted(asked)}` };
}

/** No container that may do everything. */
export function privileged({ containers }: Subject): Found {
  const bad = containers.filter(({ security }) => security.privileged === true);
  if (bad.length === 0) return undefined;
  return { reason: "privileged", detail: `${named(bad)} must not set securityContext.privileged=true` };
}

/** `/proc` as the runtime masks it. */
export function procMount({ containers }: Subject): Found {
  const bad = containers.filter(({ security }) => security.procMount !== undefined && security.procMount !== "Default");
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map(({ security }) => String(security.procMount)));
  return { reason: "procMount", detail: `${named(bad)} must not set securityContext.procMount to ${quoted(types)}` };
}

/** Whether root inside of the pod is another user outside. */
export const hasOwnUsers = ({ spec }: Subject): boolean => spec.hostUsers === false;

const SELINUX_TYPES = ["", "container_t", "container_init_t", "container_kvm_t"];

/** SELinux: types of containers, neither user nor role. */
export function selinux(also: readonly string[] = []) {
  const allowed = new Set([...SELINUX_TYPES, ...also]);
  return ({ security, containers }: Subject): Found => {
    const options = [security, ...containers.map((container) => container.security)]
      .map((context) => record(context.seLinuxOptions))
      .map(({ type, user, role }) => ({ type: String(type ?? ""), user: Boolean(user), role: Boolean(role) }));
    const wrong = options.map(({ type, user, role }) => !allowed.has(type) || user || role);
    if (!wrong.includes(true)) return undefined;
    const bad = containers.filter((_, i) => wrong[i + 1]);
    const types = sortedSet(options.map(({ type }) => type).filter((type) => !allowed.has(type)));
    const data = [
      ...(types.length > 0 ? [`${plural(types.length, "type", "types")} ${quoted(types)}`] : []),
      ...(options.some(({ user }) => user) ? ["user may not be set"] : []),
      ...(options.some(({ role }) => role) ? ["role may not be set"] : []),
    ];
    const who = setters(wrong[0] === true, bad);
    const detail = `${who} set forbidden securityContext.seLinuxOptions: ${data.join("; ")}`;
    return { reason: "seLinuxOptions", detail };
  };
}

const SAFE_SYSCTLS = [
  ...["kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies"],
  ...["net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"],
];

/** Only settings of the kernel that each pod has for itself. */
export function sysctls(...also: string[]) {
  const allowed = new Set([...SAFE_SYSCTLS, ...also]);
  return ({ security }: Subject): Found => {
    const set = Array.isArray(security.sysctls) ? security.sysctls.map((entry) => String(record(entry).name)) : [];
    const bad = set.filter((name) => !allowed.has(name));
    return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") };
  };
}

/** No process of the Windows node itself. */
export function hostProcess({ security, containers }: Subject): Found {
  const isHost = (context: Readonly<Record<string, unknown>>) => record(context.windowsOptions).hostProcess === true;
  const bad = containers.filter((container) => isHost(container.security));
  if (!isHost(security) && bad.length === 0) return undefined;
  const detail = `${setters(isHost(security), bad)} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: "hostProcess", detail };
}
