import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLongValue } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { addressErrors, parseAddress } from "./addresses.ts";
import { recordOf, textOf, textsOf, unchanged } from "./common.ts";
import { hostnameErrors } from "./service.ts";
import {
  complain,
  domainPathErrors,
  given,
  labelErrors,
  portNameComplaints,
  portNumberErrors,
  requiredSegment,
  subdomainComplaints,
  subdomainErrors,
  wildcardComplaints,
} from "./values.ts";

type Fields = Record<string, unknown>;

/** What an update tolerates because it was there before. */
interface Tolerance {
  readonly secretNames: boolean;
  readonly wildcardRules: boolean;
}

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

/** What is wrong with a new Ingress. */
export function ingressCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = ingressErrors(spec, { secretNames: false, wildcardRules: false });
  const annotated = object.metadata.annotations?.[CLASS_ANNOTATION];
  if (annotated !== undefined && given(spec.ingressClassName) && annotated !== spec.ingressClassName) {
    const text = "must match `ingressClassName` when both are specified";
    errors.push(invalidValue(`annotations.${CLASS_ANNOTATION}`, annotated, text));
  }
  return errors;
}

/** What is wrong with a changed one, or with its status. */
export function ingressUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return statusErrors(object, old);
  const before = objectAt(old, "spec");
  return ingressErrors(objectAt(object, "spec"), {
    secretNames: listAt(before, "tls").some(({ secretName }) => secretComplaints(secretName).length > 0),
    wildcardRules: listAt(before, "rules").some(
      (rule) => textOf(rule.host).includes("*") && ruleErrors(rule, "").length > 0,
    ),
  });
}

function ingressErrors(spec: Fields, tolerance: Tolerance): FieldError[] {
  const rules = listAt(spec, "rules");
  const errors: FieldError[] = [];
  if (rules.length === 0 && !given(spec.defaultBackend)) {
    errors.push(invalidValue("spec", spec.rules ?? null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (given(spec.defaultBackend)) errors.push(...backendErrors(recordOf(spec.defaultBackend), "spec.defaultBackend"));
  for (const [i, rule] of rules.entries()) {
    const host = textOf(rule.host);
    const wildcard = host.includes("*");
    if (host !== "") errors.push(...hostErrors(host, `spec.rules[${i}].host`));
    if (!wildcard || !tolerance.wildcardRules) errors.push(...ruleErrors(rule, `spec.rules[${i}]`));
  }
  for (const [i, tls] of listAt(spec, "tls").entries()) {
    const path = `spec.tls[${i}]`;
    for (const [j, host] of textsOf(tls.hosts).entries()) {
      const complaints = host.includes("*") ? wildcardComplaints(host) : subdomainComplaints(host);
      errors.push(...complain(complaints, `${path}.hosts[${j}]`, host));
    }
    if (tolerance.secretNames) continue;
    errors.push(...complain(secretComplaints(tls.secretName), `${path}.secretName`, tls.secretName));
  }
  if (given(spec.ingressClassName)) {
    errors.push(...subdomainErrors(textOf(spec.ingressClassName), "spec.ingressClassName"));
  }
  return errors;
}

const secretComplaints = (name: unknown): string[] => (textOf(name) === "" ? [] : subdomainComplaints(textOf(name)));

function hostErrors(host: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (parseAddress(host)) errors.push(invalidValue(field, host, "must be a DNS name, not an IP address"));
  const complaints = host.includes("*") ? wildcardComplaints(host) : subdomainComplaints(host);
  return [...errors, ...complain(complaints, field, host)];
}

function ruleErrors(rule: Fields, path: string): FieldError[] {
  if (!given(rule.http)) return [];
  const paths = listAt(rule.http, "paths");
  const errors: FieldError[] = paths.length === 0 ? [required(`${path}.http.paths`)] : [];
  for (const [i, item] of paths.entries()) errors.push(...pathErrors(item, `${path}.http.paths[${i}]`));
  return errors;
}

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_PARTS = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS = ["/..", "/."];

function pathErrors(item: Fields, path: string): FieldError[] {
  if (!given(item.pathType)) return [required(`${path}.pathType`, "pathType must be specified")];
  const text = textOf(item.path);
  const field = `${path}.path`;
  const errors: FieldError[] = [];
  const absolute = text.startsWith("/") ? [] : [invalidValue(field, text, "must be an absolute path")];
  switch (item.pathType) {
    case "Exact":
    case "Prefix":
      errors.push(...absolute);
      for (const part of BAD_PARTS) {
        if (text.includes(part)) errors.push(invalidValue(field, text, `must not contain '${part}'`));
      }
      for (const end of BAD_ENDS) {
        if (text.endsWith(end)) errors.push(invalidValue(field, text, `cannot end with '${end}'`));
      }
      break;
    case "ImplementationSpecific":
      if (text !== "") errors.push(...absolute);
      break;
    default:
      errors.push(notSupported(`${path}.pathType`, item.pathType, PATH_TYPES));
  }
  return [...errors, ...backendErrors(recordOf(item.backend), `${path}.backend`)];
}

function backendErrors({ service, resource }: Fields, path: string): FieldError[] {
  if (given(service) && given(resource)) {
    return [invalidValue(path, "", "cannot set both resource and service backends")];
  }
  if (given(resource)) return referenceErrors(recordOf(resource), `${path}.resource`);
  if (!given(service)) return [invalidValue(path, "", "resource or service backend is required")];
  const name = textOf(recordOf(service).name);
  const errors = name === "" ? [required(`${path}.service.name`)] : labelErrors(name, `${path}.service.name`);
  const port = objectAt(service, "port");
  const field = `${path}.service.port`;
  if (port.name && port.number) errors.push(invalidValue(path, "", "cannot set both port name & port number"));
  else if (port.name) errors.push(...complain(portNameComplaints(textOf(port.name)), `${field}.name`, port.name));
  else if (port.number) errors.push(...portNumberErrors(port.number, `${field}.number`));
  else errors.push(required(path, "port name or number is required"));
  return errors;
}

function referenceErrors({ apiGroup, kind, name }: Fields, path: string): FieldError[] {
  return [
    ...(given(apiGroup) ? subdomainErrors(textOf(apiGroup), `${path}.apiGroup`) : []),
    ...requiredSegment(textOf(kind), `${path}.kind`),
    ...requiredSegment(textOf(name), `${path}.name`),
  ];
}

function statusErrors(object: ApiObject, old: ApiObject): FieldError[] {
  const known = listAt(old, "status", "loadBalancer", "ingress").map(({ ip }) => textOf(ip));
  return listAt(object, "status", "loadBalancer", "ingress").flatMap((item, i) => {
    const path = `status.loadBalancer.ingress[${i}]`;
    const ip = textOf(item.ip);
    const errors = ip === "" ? [] : addressErrors(ip, `${path}.ip`, known);
    return [...errors, ...hostnameErrors(item, `${path}.hostname`)];
  });
}

const LONGEST_CONTROLLER = 250;

/** What is wrong with a new IngressClass. */
export function classCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const controller = textOf(spec.controller);
  const errors: FieldError[] = [];
  if (controller.length > LONGEST_CONTROLLER) errors.push(tooLongValue("spec.controller", LONGEST_CONTROLLER));
  errors.push(...domainPathErrors(controller, "spec.controller"));
  if (given(spec.parameters)) errors.push(...parametersErrors(recordOf(spec.parameters), "spec.parameters"));
  return errors;
}

/** What is wrong with a changed IngressClass: its controller stays. */
export function classUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const [now, before] = [objectAt(object, "spec").controller, objectAt(old, "spec").controller];
  return [...unchanged(now ?? "", before ?? "", "spec.controller"), ...classCreate(object)];
}

const SCOPES = ["Cluster", "Namespace"];

function parametersErrors(parameters: Fields, path: string): FieldError[] {
  const errors = referenceErrors(parameters, path);
  const { scope, namespace } = parameters;
  if (!given(scope)) return [...errors, required(`${path}.scope`)];
  if (!SCOPES.includes(textOf(scope))) return [...errors, notSupported(`${path}.scope`, scope, SCOPES)];
  const field = `${path}.namespace`;
  if (scope === "Namespace") {
    if (!given(namespace)) return [...errors, required(field, "`parameters.scope` is set to 'Namespace'")];
    return [...errors, ...labelErrors(textOf(namespace), field)];
  }
  if (given(namespace)) errors.push(forbiddenField(field, "`parameters.scope` is set to 'Cluster'"));
  return errors;
}
