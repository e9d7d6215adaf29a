/** Who the processes of a pod are on their node, and what they may do there. */
import { byteLength } from "@lotse/client/meta";
import { duplicateValue, invalidValue, notSupported, required, tooLongValue, Verbatim } from "../../fields.ts";
import {
  checkOneOf,
  checkRange,
  type Errors,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  subdomainMessages,
  text,
  texts,
} from "./check.ts";
import { checkLocalPath } from "./paths.ts";

const LARGEST_ID = 2_147_483_647;

function checkId(value: unknown, path: string, errors: Errors): void {
  if (isSet(value)) checkRange(number(value), 0, LARGEST_ID, path, errors);
}

/** What a single container may do. */
export function checkSecurityContext(
  context: Fields | undefined,
  hostUsers: boolean,
  path: string,
  errors: Errors,
): void {
  if (context === undefined) return;
  checkId(context.runAsUser, `${path}.runAsUser`, errors);
  checkId(context.runAsGroup, `${path}.runAsGroup`, errors);
  if (isSet(context.procMount)) {
    checkOneOf(context.procMount, ["Default", "Unmasked"], `${path}.procMount`, errors);
    if (hostUsers && context.procMount === "Unmasked") {
      const detail = "`hostUsers` must be false to use `Unmasked`";
      errors.push(invalidValue(`${path}.procMount`, context.procMount, detail));
    }
  }
  checkSeccomp(struct(context.seccompProfile), `${path}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) {
    const rule = "cannot set `allowPrivilegeEscalation` to false and";
    if (context.privileged === true) {
      errors.push(invalidValue(path, contextText(context), `${rule} \`privileged\` to true`));
    }
    for (const capability of texts(struct(context.capabilities)?.add)) {
      if (capability !== "CAP_SYS_ADMIN") continue;
      errors.push(invalidValue(path, contextText(context), `${rule} \`capabilities.Add\` CAP_SYS_ADMIN`));
    }
  }
  checkWindows(struct(context.windowsOptions), `${path}.windowsOptions`, errors);
  checkAppArmor(struct(context.appArmorProfile), `${path}.appArmorProfile`, errors);
}

/** What all containers of a pod may do. */
export function checkPodSecurityContext(spec: Fields, path: string, errors: Errors): void {
  const context = struct(spec.securityContext);
  if (context === undefined) return;
  checkId(context.fsGroup, `${path}.fsGroup`, errors);
  checkId(context.runAsUser, `${path}.runAsUser`, errors);
  checkId(context.runAsGroup, `${path}.runAsGroup`, errors);
  for (const [i, group] of texts(context.supplementalGroups).entries()) {
    checkId(group, `${path}.supplementalGroups[${i}]`, errors);
  }
  if (spec.hostPID === true && spec.shareProcessNamespace === true) {
    const detail = "ShareProcessNamespace and HostPID cannot both be enabled";
    errors.push(invalidValue(`${path}.shareProcessNamespace`, true, detail));
  }
  checkSysctls(structs(context.sysctls), spec, `${path}.sysctls`, errors);
  if (isSet(context.fsGroupChangePolicy)) {
    checkOneOf(context.fsGroupChangePolicy, ["Always", "OnRootMismatch"], `${path}.fsGroupChangePolicy`, errors);
  }
  checkSeccomp(struct(context.seccompProfile), `${path}.seccompProfile`, errors);
  checkWindows(struct(context.windowsOptions), `${path}.windowsOptions`, errors);
  checkAppArmor(struct(context.appArmorProfile), `${path}.appArmorProfile`, errors);
  if (isSet(context.supplementalGroupsPolicy)) {
    checkOneOf(context.supplementalGroupsPolicy, ["Merge", "Strict"], `${path}.supplementalGroupsPolicy`, errors);
  }
  if (isSet(context.seLinuxChangePolicy)) {
    checkOneOf(context.seLinuxChangePolicy, ["Recursive"], `${path}.seLinuxChangePolicy`, errors);
  }
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_RULE =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const LONGEST_SYSCTL = 253;

function checkSysctls(list: readonly Fields[], spec: Fields, path: string, errors: Errors): void {
  const names = new Set<string>();
  for (const [i, sysctl] of list.entries()) {
    const here = `${path}[${i}].name`;
    const name = text(sysctl.name);
    if (name === "") errors.push(required(here));
    else if (name.length > LONGEST_SYSCTL || !SYSCTL.test(name)) errors.push(invalidValue(here, name, SYSCTL_RULE));
    else if (names.has(name)) errors.push(duplicateValue(here, name));
    names.add(name);
    const namespace = sysctlNamespace(name);
    if (spec.hostNetwork === true && namespace === "net") {
      errors.push(invalidValue(here, name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec.hostIPC === true && namespace === "ipc") {
      errors.push(invalidValue(here, name, "may not be specified when 'hostIPC' is true"));
    }
  }
}

const IPC: ReadonlySet<string> = new Set([
  ...["kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm"],
  ...["kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"],
]);

function sysctlNamespace(name: string): "net" | "ipc" | undefined {
  const separator = /[./]/.exec(name)?.[0];
  const dotted = separator === "/" ? name.replace(/[./]/g, (sign) => (sign === "." ? "/" : ".")) : name;
  const stem = dotted.split("*")[0] as string;
  if (IPC.has(stem) || stem.startsWith("fs.mqueue.")) return "ipc";
  return stem.startsWith("net.") ? "net" : undefined;
}

const SECCOMP_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];

function checkSeccomp(profile: Fields | undefined, path: string, errors: Errors): void {
  if (profile === undefined) return;
  const type = text(profile.type);
  if (type === "") errors.push(required(`${path}.type`, "type is required when seccompProfile is set"));
  else checkOneOf(type, SECCOMP_TYPES, `${path}.type`, errors);
  const local = `${path}.localhostProfile`;
  if (type === "Localhost") {
    if (!isSet(profile.localhostProfile)) {
      errors.push(required(local, "must be set when seccomp type is Localhost"));
    } else checkLocalPath(text(profile.localhostProfile), local, errors);
  } else if (isSet(profile.localhostProfile)) {
    errors.push(invalidValue(local, profileText(profile), "can only be set when seccomp type is Localhost"));
  }
}

const LONGEST_PROFILE = 4_095;

function checkAppArmor(profile: Fields | undefined, path: string, errors: Errors): void {
  if (profile === undefined) return;
  const local = `${path}.localhostProfile`;
  const name = profile.localhostProfile;
  const missing = "must be set when AppArmor type is Localhost";
  if (profile.type === "Localhost") {
    if (!isSet(name)) errors.push(required(local, missing));
    else {
      const trimmed = text(name).trim();
      if (trimmed !== name) errors.push(invalidValue(local, name, "must not be padded with whitespace"));
      else if (trimmed === "") errors.push(required(local, missing));
      if (byteLength(text(name)) > LONGEST_PROFILE) errors.push(tooLongValue(local, LONGEST_PROFILE));
    }
  } else if (profile.type === "RuntimeDefault" || profile.type === "Unconfined") {
    if (isSet(name)) errors.push(invalidValue(local, name, "can only be set when AppArmor type is Localhost"));
  } else if (text(profile.type) === "") {
    errors.push(required(`${path}.type`, "type is required when appArmorProfile is set"));
  } else errors.push(notSupported(`${path}.type`, profile.type, SECCOMP_TYPES));
}

const LONGEST_SPEC = 64 * 1_024;

function checkWindows(options: Fields | undefined, path: string, errors: Errors): void {
  if (options === undefined) return;
  if (isSet(options.gmsaCredentialSpecName)) {
    const name = text(options.gmsaCredentialSpecName);
    for (const message of subdomainMessages(name)) {
      errors.push(invalidValue(`${path}.gmsaCredentialSpecName`, name, message));
    }
  }
  if (isSet(options.gmsaCredentialSpec)) {
    const spec = text(options.gmsaCredentialSpec);
    const field = `${path}.gmsaCredentialSpec`;
    if (spec === "") errors.push(invalidValue(field, spec, "gmsaCredentialSpec cannot be an empty string"));
    else if (byteLength(spec) > LONGEST_SPEC) {
      errors.push(invalidValue(field, spec, "gmsaCredentialSpec size must be under 64 KiB"));
    }
  }
  if (isSet(options.runAsUserName)) checkUserName(text(options.runAsUserName), `${path}.runAsUserName`, errors);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const CONTROL = /[\u0000-\u001f\u007f]/;
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DOMAIN = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const FORBIDDEN_IN_USER = /["/\\:;|=,+*?<>@[\]]/;
const ONLY_DOTS = /^[. ]+$/;

/** `DOMAIN\USER`, as Windows has it. */
function checkUserName(name: string, path: string, errors: Errors): void {
  const wrong = (why: string): void => {
    errors.push(invalidValue(path, name, `runAsUserName${why}`));
  };
  const parts = name.split("\\");
  if (name === "") wrong(" cannot be an empty string");
  else if (CONTROL.test(name)) wrong(" cannot contain control characters");
  else if (parts.length > 2) wrong(" cannot contain more than one backslash");
  else checkUserParts(parts, wrong);
}

function checkUserParts(parts: readonly string[], wrong: (why: string) => void): void {
  const user = parts.at(-1) as string;
  const domain = parts.length === 2 ? parts[0] : undefined;
  if (domain !== undefined && domain.length >= 256) wrong("'s Domain length must be under 256 characters");
  if (domain !== undefined && !NETBIOS.test(domain) && !DOMAIN.test(domain)) {
    wrong("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") wrong("'s User cannot be empty");
  else if (user.length > 104) wrong("'s User length must not be longer than 104 characters");
  if (ONLY_DOTS.test(user)) wrong("'s User cannot contain only periods or spaces");
  if (FORBIDDEN_IN_USER.test(user)) wrong(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
}

/** A profile as errors print it: with the names of the server's own fields. */
const profileText = (profile: Fields): Verbatim => new Verbatim(JSON.stringify(ownProfile(profile)));

const ownProfile = (profile: Fields | undefined) =>
  profile && { Type: text(profile.type), LocalhostProfile: profile.localhostProfile ?? null };

/** A security context as errors print it: with the names of the server's own fields. */
function contextText(context: Fields): Verbatim {
  const capabilities = struct(context.capabilities);
  const linux = struct(context.seLinuxOptions);
  const windows = struct(context.windowsOptions);
  const own = {
    Capabilities: capabilities ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null } : null,
    Privileged: context.privileged ?? null,
    SELinuxOptions: linux
      ? { User: text(linux.user), Role: text(linux.role), Type: text(linux.type), Level: text(linux.level) }
      : null,
    WindowsOptions: windows
      ? {
          GMSACredentialSpecName: windows.gmsaCredentialSpecName ?? null,
          GMSACredentialSpec: windows.gmsaCredentialSpec ?? null,
          RunAsUserName: windows.runAsUserName ?? null,
          HostProcess: windows.hostProcess ?? null,
        }
      : null,
    RunAsUser: context.runAsUser ?? null,
    RunAsGroup: context.runAsGroup ?? null,
    RunAsNonRoot: context.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
    ProcMount: context.procMount ?? null,
    SeccompProfile: ownProfile(struct(context.seccompProfile)) ?? null,
    AppArmorProfile: ownProfile(struct(context.appArmorProfile)) ?? null,
  };
  return new Verbatim(JSON.stringify(own));
}
