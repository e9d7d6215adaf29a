import { deepEqual } from "@lotse/client/meta";
import { ensureObject } from "../../object.ts";
import { everyContainer, type Fields, isSet, struct, text } from "../pod/index.ts";

/** What the annotations begin with that said which profile of AppArmor a container has. */
export const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";

/** The field that says what such an annotation says; undefined when it says nothing. */
export function appArmorOf(annotation: string): Fields | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const profile = annotation.startsWith("localhost/") ? annotation.slice("localhost/".length) : "";
  return profile === "" ? undefined : { type: "Localhost", localhostProfile: profile };
}

/** Whether two profiles are the same: then there is nothing to warn of. */
export const sameProfile = (a: Fields | undefined, b: Fields | undefined): boolean => deepEqual(a, b);

const LONGEST_PROFILE = 4_095;

/** Turns the annotations of a pod into the fields that took their place, and tells of each. */
export function adoptAppArmor(spec: Fields, annotations: Fields, warn: (text: string) => void): void {
  if (text(struct(spec.os)?.name) === "windows") return;
  const ofPod = struct(struct(spec.securityContext)?.appArmorProfile);
  for (const [container] of everyContainer(spec, "")) {
    const key = `${APP_ARMOR}${text(container.name)}`;
    if (!Object.hasOwn(annotations, key) || isSet(struct(container.securityContext)?.appArmorProfile)) continue;
    const profile = usable(appArmorOf(text(annotations[key])));
    if (profile && sameProfile(profile, ofPod)) continue;
    if (profile) ensureObject(container as Record<string, unknown>, "securityContext").appArmorProfile = profile;
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

/** A profile that validation would refuse is left in its annotation. */
function usable(profile: Fields | undefined): Fields | undefined {
  const name = profile?.localhostProfile;
  if (typeof name !== "string") return profile;
  return name.trim() === name && name.length <= LONGEST_PROFILE ? profile : undefined;
}
