import { type Found, record, type Subject } from "./subject.ts";
import { named, plural, quoted, setters, sortedSet } from "./wording.ts";

const OF_POD = "seccomp.security.alpha.kubernetes.io/pod";
const OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const reason = "seccompProfile";

/** Profiles as annotations name them, in the first versions. */
export function seccompAnnotations({ annotations, containers }: Subject): Found {
  const keys = [OF_POD, ...containers.map(({ name }) => OF_CONTAINER + name)];
  const bad = sortedSet(
    keys.flatMap((key) => {
      const value = annotations[key];
      return value === undefined || isAllowedNote(value) ? [] : [`${key}=${JSON.stringify(value)}`];
    }),
  );
  if (bad.length === 0) return undefined;
  return { reason, detail: `forbidden ${plural(bad.length, "annotation", "annotations")} ${bad.join(", ")}` };
}

const isAllowedNote = (value: string): boolean =>
  value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/");

type Context = Readonly<Record<string, unknown>>;

const isSet = ({ seccompProfile }: Context): boolean => seccompProfile !== undefined && seccompProfile !== null;
const typeOf = ({ seccompProfile }: Context): string => String(record(seccompProfile).type ?? "");
const isBad = (context: Context): boolean =>
  isSet(context) && !["RuntimeDefault", "Localhost"].includes(typeOf(context));

/** No profile but the runtime's own or one of the node's. */
export function seccompFields({ security, containers }: Subject): Found {
  const bad = containers.filter((container) => isBad(container.security));
  const who = setters(isBad(security), bad);
  if (who === "") return undefined;
  const types = sortedSet([...(isBad(security) ? [typeOf(security)] : []), ...bad.map((c) => typeOf(c.security))]);
  return { reason, detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(types)}` };
}

/** The same, and a profile there must be. */
export function seccompRequired(subject: Subject): Found {
  const found = seccompFields(subject);
  if (found !== undefined || isSet(subject.security)) return found;
  const silent = subject.containers.filter(({ security }) => !isSet(security));
  if (silent.length === 0) return undefined;
  const wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason, detail: `pod or ${named(silent)} ${wanted}` };
}
