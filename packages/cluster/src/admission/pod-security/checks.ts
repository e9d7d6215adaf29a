import * as baseline from "./baseline.ts";
import type { LevelVersion } from "./policy.ts";
import * as restricted from "./restricted.ts";
import { seccompAnnotations, seccompFields, seccompRequired } from "./seccomp.ts";
import type { Objection, Subject } from "./subject.ts";

type Check = (subject: Subject) => Objection | undefined;

/** A check as it is from a minor version on, until that of the next entry. */
interface Entry {
  readonly since: number;
  readonly check: Check;
}

interface Row {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** The check of the baseline level that this one takes the place of. */
  readonly replaces?: string;
}

const unless =
  (exempt: (subject: Subject) => boolean, check: Check): Check =>
  (subject) =>
    exempt(subject) ? undefined : check(subject);
const from = (since: number, check: Check): Entry => ({ since, check });

const { isWindows } = restricted;
const { hasOwnUsers } = baseline;
const KEEPALIVE = ["time", "intvl", "probes"].map((name) => `net.ipv4.tcp_keepalive_${name}`);
const SYSCTLS_27 = ["net.ipv4.ip_local_reserved_ports"];
const SYSCTLS_29 = [...SYSCTLS_27, ...KEEPALIVE, "net.ipv4.tcp_fin_timeout"];
const SYSCTLS_32 = [...SYSCTLS_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

/** In the order in which a sentence lists what it found: that of their names, within a level. */
const BASELINE: readonly Row[] = [
  { id: "appArmorProfile", entries: [from(0, baseline.appArmor)] },
  { id: "capabilities_baseline", entries: [from(0, baseline.defaultCapabilities)] },
  { id: "hostNamespaces", entries: [from(0, baseline.hostNamespaces)] },
  { id: "hostPathVolumes", entries: [from(0, baseline.hostPaths)] },
  { id: "hostPorts", entries: [from(0, baseline.hostPorts)] },
  { id: "hostProbesAndHostLifecycle", entries: [from(34, baseline.probeHosts)] },
  { id: "privileged", entries: [from(0, baseline.privileged)] },
  { id: "procMount", entries: [from(0, baseline.procMount), from(35, unless(hasOwnUsers, baseline.procMount))] },
  { id: "seLinuxOptions", entries: [from(0, baseline.selinux()), from(31, baseline.selinux(["container_engine_t"]))] },
  { id: "seccompProfile_baseline", entries: [from(0, seccompAnnotations), from(19, seccompFields)] },
  {
    id: "sysctls",
    entries: [
      from(0, baseline.sysctls()),
      from(27, baseline.sysctls(...SYSCTLS_27)),
      from(29, baseline.sysctls(...SYSCTLS_29)),
      from(32, baseline.sysctls(...SYSCTLS_32)),
    ],
  },
  { id: "windowsHostProcess", entries: [from(0, baseline.hostProcess)] },
];

const RESTRICTED: readonly Row[] = [
  {
    id: "allowPrivilegeEscalation",
    entries: [from(8, restricted.escalation), from(25, unless(isWindows, restricted.escalation))],
  },
  {
    id: "capabilities_restricted",
    entries: [from(22, restricted.fewCapabilities), from(25, unless(isWindows, restricted.fewCapabilities))],
    replaces: "capabilities_baseline",
  },
  { id: "procMount_restricted", entries: [from(35, baseline.procMount)], replaces: "procMount" },
  { id: "restrictedVolumes", entries: [from(0, restricted.volumeTypes)], replaces: "hostPathVolumes" },
  { id: "runAsNonRoot", entries: [from(0, restricted.nonRoot), from(35, unless(hasOwnUsers, restricted.nonRoot))] },
  {
    id: "runAsUser",
    entries: [from(23, restricted.notUserZero), from(35, unless(hasOwnUsers, restricted.notUserZero))],
  },
  {
    id: "seccompProfile_restricted",
    entries: [from(19, seccompRequired), from(25, unless(isWindows, seccompRequired))],
    replaces: "seccompProfile_baseline",
  },
];

function checkAt({ entries }: Row, minor: number): Check | undefined {
  return entries.findLast(({ since }) => since <= minor)?.check;
}

/** What a level has against a pod; empty when nothing. */
export function objections({ level, minor = Number.POSITIVE_INFINITY }: LevelVersion, subject: Subject): Objection[] {
  if (level === "privileged") return [];
  const strict = level === "restricted" ? RESTRICTED.filter((row) => checkAt(row, minor) !== undefined) : [];
  const replaced = new Set(strict.map(({ replaces }) => replaces));
  const rows = [...BASELINE.filter(({ id }) => !replaced.has(id)), ...strict];
  return rows.flatMap((row) => checkAt(row, minor)?.(subject) ?? []);
}
