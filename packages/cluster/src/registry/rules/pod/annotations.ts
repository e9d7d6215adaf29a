/** Annotations that mean something to a pod, mostly because they are older than the fields that say the same. */
import { forbiddenField, invalidValue } from "../../fields.ts";
import { type Errors, entries, type Fields, isSet, struct, structs, text } from "./check.ts";
import { everyContainer } from "./containers.ts";
import { checkLocalPath } from "./paths.ts";
import { checkTolerations } from "./scheduling.ts";

const MIRROR = "kubernetes.io/config.mirror";
const TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const LOCAL = "localhost/";

/** Whether a pod is the picture of one that a node runs by itself. */
export const isMirror = (annotations: Fields): boolean => Object.hasOwn(annotations, MIRROR);

/** What the annotations of a pod or of a template say. */
export function checkPodAnnotations(annotations: Fields, spec: Fields, path: string, errors: Errors): void {
  if (Object.keys(annotations).length === 0) return;
  if (isMirror(annotations) && text(spec.nodeName) === "") {
    const detail = "must set spec.nodeName if mirror pod annotation is set";
    errors.push(invalidValue(`${path}[${MIRROR}]`, annotations[MIRROR], detail));
  }
  if (text(annotations[TOLERATIONS]) !== "") checkOldTolerations(text(annotations[TOLERATIONS]), path, errors);
  if (Object.hasOwn(annotations, DELETION_COST) && !isCost(text(annotations[DELETION_COST]))) {
    const detail = "must be a 32bit integer";
    errors.push(invalidValue(`${path}[${DELETION_COST}]`, annotations[DELETION_COST], detail));
  }
  if (Object.hasOwn(annotations, SECCOMP_POD)) {
    checkSeccompName(text(annotations[SECCOMP_POD]), `${path}.${SECCOMP_POD}`, errors);
  }
  const all = entries<string>(annotations);
  for (const [key, value] of all) {
    if (key.startsWith(SECCOMP_CONTAINER)) checkSeccompName(value, `${path}.${key}`, errors);
  }
  for (const [key, value] of all) {
    if (!key.startsWith(APP_ARMOR)) continue;
    const name = key.slice(APP_ARMOR.length);
    const known = [...everyContainer(spec, "")].some(([container]) => container.name === name);
    if (!known) errors.push(invalidValue(`${path}[${key}]`, name, "container not found"));
    if (value === "" || value === "runtime/default" || value === "unconfined" || value.startsWith(LOCAL)) continue;
    const detail = `invalid AppArmor profile name: ${JSON.stringify(value)}`;
    errors.push(invalidValue(`${path}[${key}]`, value, detail));
  }
}

function checkOldTolerations(json: string, path: string, errors: Errors): void {
  try {
    checkTolerations(structs(JSON.parse(json)), `${path}.${TOLERATIONS}`, errors);
  } catch {
    errors.push(invalidValue(path, TOLERATIONS, "invalid character in JSON"));
  }
}

/** A whole number of 32 bits, written without a plus and without zeros in front. */
function isCost(value: string): boolean {
  if (!/^-?\d+$/.test(value) || /^0\d/.test(value)) return false;
  return Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31;
}

function checkSeccompName(name: string, path: string, errors: Errors): void {
  if (name === "runtime/default" || name === "docker/default" || name === "unconfined") return;
  if (name.startsWith(LOCAL)) checkLocalPath(name.slice(LOCAL.length), path, errors);
  else errors.push(invalidValue(path, name, "must be a valid seccomp profile"));
}

/** Annotations that say something else than the fields which took their place. */
export function checkAgreement(annotations: Fields, spec: Fields, path: string, errors: Errors): void {
  if (Object.keys(annotations).length === 0) return;
  const pod = struct(struct(spec.securityContext)?.seccompProfile);
  if (pod !== undefined && Object.hasOwn(annotations, SECCOMP_POD)) {
    checkSame("seccomp", text(annotations[SECCOMP_POD]), pod, `${path}.securityContext.seccompProfile`, errors);
  }
  for (const [container, here] of everyContainer(spec, path)) {
    const own = struct(struct(container.securityContext)?.seccompProfile);
    const key = `${SECCOMP_CONTAINER}${text(container.name)}`;
    if (own === undefined || !Object.hasOwn(annotations, key)) continue;
    checkSame("seccomp", text(annotations[key]), own, `${here}.securityContext.seccompProfile`, errors);
  }
  if (struct(spec.os)?.name === "windows") return;
  const shared = struct(struct(spec.securityContext)?.appArmorProfile);
  for (const [container, here] of everyContainer(spec, path)) {
    const own = struct(struct(container.securityContext)?.appArmorProfile) ?? shared;
    const key = `${APP_ARMOR}${text(container.name)}`;
    if (own === undefined || !Object.hasOwn(annotations, key)) continue;
    checkSame("apparmor", text(annotations[key]), own, `${here}.securityContext.appArmorProfile`, errors);
  }
}

function checkSame(what: "seccomp" | "apparmor", said: string, profile: Fields, path: string, errors: Errors): void {
  const differs = (field: string, noun: string): void => {
    errors.push(forbiddenField(`${path}.${field}`, `${what} ${noun} in annotation and field must match`));
  };
  if (profile.type === "Unconfined") {
    if (said !== "unconfined") differs("type", "type");
  } else if (profile.type === "RuntimeDefault") {
    const old = what === "seccomp" && said === "docker/default";
    if (said !== "runtime/default" && !old) differs("type", "type");
  } else if (profile.type === "Localhost") {
    if (!said.startsWith(LOCAL)) differs("type", "type");
    else if (said.slice(LOCAL.length) !== profile.localhostProfile) differs("localhostProfile", "profile");
  }
}

/** Annotations that a pod keeps for its life. */
export function checkAnnotationUpdates(now: Fields, before: Fields, path: string, errors: Errors): void {
  const fixed = (key: string): string | undefined => {
    if (key.startsWith(APP_ARMOR)) return "AppArmor annotations";
    return key === MIRROR ? "mirror pod annotation" : undefined;
  };
  for (const [key, value] of entries(before)) {
    const what = fixed(key);
    if (what === undefined || now[key] === value) continue;
    errors.push(forbiddenField(`${path}[${key}]`, `may not remove or update ${what}`));
  }
  for (const [key] of entries(now)) {
    const what = fixed(key);
    if (what !== undefined && !isSet(before[key]))
      errors.push(forbiddenField(`${path}[${key}]`, `may not add ${what}`));
  }
}
