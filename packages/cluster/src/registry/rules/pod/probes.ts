/** Probes and lifecycle hooks: what is asked of a container, and what it does at its start and end. */
import { forbiddenField, invalidValue, required } from "../../fields.ts";
import {
  checkNotNegative,
  checkOneOf,
  checkPortOrName,
  checkPresent,
  type Errors,
  type Fields,
  isSet,
  number,
  struct,
  structs,
  text,
  texts,
} from "./check.ts";

/** The probes of a container, in the order in which they are checked. */
export const PROBES: readonly string[] = ["livenessProbe", "readinessProbe", "startupProbe"];

const COUNTS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** Every probe of a container. */
export function checkProbes(container: Fields, gracePeriod: number | undefined, path: string, errors: Errors): void {
  for (const name of PROBES) {
    const probe = struct(container[name]);
    if (probe === undefined) continue;
    const here = `${path}.${name}`;
    checkHandler(probe, PROBE_HANDLERS, gracePeriod, here, errors);
    for (const field of COUNTS) checkNotNegative(probe[field], `${here}.${field}`, errors);
    const grace = probe.terminationGracePeriodSeconds;
    const graceField = `${here}.terminationGracePeriodSeconds`;
    if (isSet(grace) && number(grace) <= 0) errors.push(invalidValue(graceField, grace, "must be greater than 0"));
    if (name === "readinessProbe") {
      if (isSet(grace)) errors.push(invalidValue(graceField, grace, "must not be set for readinessProbes"));
    } else if (number(probe.successThreshold) !== 1) {
      errors.push(invalidValue(`${here}.successThreshold`, number(probe.successThreshold), "must be 1"));
    }
  }
}

/** What happens after a container has started and before it is stopped. */
export function checkLifecycle(
  lifecycle: Fields | undefined,
  gracePeriod: number | undefined,
  path: string,
  errors: Errors,
): void {
  if (lifecycle === undefined) return;
  for (const name of ["postStart", "preStop"]) {
    const hook = struct(lifecycle[name]);
    if (hook !== undefined) checkHandler(hook, HOOK_HANDLERS, gracePeriod, `${path}.${name}`, errors);
  }
}

const PROBE_HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"];
const HOOK_HANDLERS = ["exec", "httpGet", "tcpSocket", "sleep"];

function checkHandler(
  handler: Fields,
  kinds: readonly string[],
  gracePeriod: number | undefined,
  path: string,
  errors: Errors,
): void {
  let found = false;
  for (const kind of kinds) {
    const action = struct(handler[kind]);
    if (action === undefined) continue;
    if (found) errors.push(forbiddenField(`${path}.${kind}`, "may not specify more than 1 handler type"));
    else checkAction(kind, action, gracePeriod, `${path}.${kind}`, errors);
    found = true;
  }
  if (!found) errors.push(required(path, "must specify a handler type"));
}

function checkAction(kind: string, action: Fields, grace: number | undefined, path: string, errors: Errors): void {
  if (kind === "exec") {
    if (texts(action.command).length === 0) errors.push(required(`${path}.command`));
  } else if (kind === "httpGet") checkHttpGet(action, path, errors);
  else if (kind === "sleep") {
    const seconds = number(action.seconds);
    if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
    errors.push(invalidValue(path, seconds, detail));
  } else checkPortOrName(action.port, `${path}.port`, errors);
}

const HEADER = /^[-A-Za-z0-9]+$/;
const HEADER_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function checkHttpGet(get: Fields, path: string, errors: Errors): void {
  checkPresent(get.path, `${path}.path`, errors);
  checkPortOrName(get.port, `${path}.port`, errors);
  checkOneOf(get.scheme, ["HTTP", "HTTPS"], `${path}.scheme`, errors);
  for (const header of structs(get.httpHeaders)) {
    const name = text(header.name);
    if (!HEADER.test(name)) errors.push(invalidValue(`${path}.httpHeaders`, name, HEADER_RULE));
  }
}
