import { dns1123SubdomainErrors, lookup } from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { isIp, isIpv4, isIpv6, NO_IP, numberOrPercent, recordOf, textOf, textsOf, unchanged } from "./common.ts";

export function endpoints(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, subset] of listAt(object, "subsets").entries()) {
    for (const key of ["addresses", "notReadyAddresses"]) {
      for (const [j, address] of listAt(subset, key).entries()) {
        const field = `subsets[${i}].${key}[${j}].ip`;
        const ip = textOf(address.ip);
        // Two checks find the same mistake and tell it in their own words.
        if (!isIp(ip))
          errors.push(invalidValue(field, ip, NO_IP), invalidValue(field, ip, "must be a valid IP address"));
      }
    }
  }
  return errors;
}

const ADDRESSES: Readonly<Record<string, readonly [(text: string) => boolean, string]>> = {
  IPv4: [isIpv4, "must be an IPv4 address"],
  IPv6: [isIpv6, "must be an IPv6 address"],
};

export function endpointSlice(object: ApiObject): FieldError[] {
  const type = textOf(object.addressType);
  if (type === "") return [required("addressType")];
  const errors: FieldError[] = [];
  if (!["FQDN", "IPv4", "IPv6"].includes(type)) {
    errors.push(notSupported("addressType", type, ["FQDN", "IPv4", "IPv6"]));
  }
  for (const [i, endpoint] of listAt(object, "endpoints").entries()) {
    const path = `endpoints[${i}].addresses`;
    const addresses = textsOf(endpoint.addresses);
    if (addresses.length === 0) errors.push(required(path, "must contain at least 1 address"));
    for (const [j, address] of addresses.entries()) {
      const field = `${path}[${j}]`;
      const rule = lookup(ADDRESSES, type);
      if (!rule) errors.push(...dns1123SubdomainErrors(address).map((text) => invalidValue(field, address, text)));
      else if (!isIp(address)) errors.push(invalidValue(field, address, NO_IP));
      else if (!rule[0](address)) errors.push(invalidValue(field, address, rule[1]));
    }
  }
  return errors;
}

export function endpointSliceUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return unchanged(object.addressType, old.addressType, "addressType");
}

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];

export function ingress(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const rules = listAt(spec, "rules");
  const errors: FieldError[] = [];
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    errors.push(invalidValue("spec", spec.rules ?? null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec.defaultBackend !== undefined) errors.push(...backend(recordOf(spec.defaultBackend), "spec.defaultBackend"));
  for (const [i, rule] of rules.entries()) {
    const path = `spec.rules[${i}]`;
    const host = textOf(rule.host);
    if (isIp(host)) errors.push(invalidValue(`${path}.host`, host, "must be a DNS name, not an IP address"));
    else if (host !== "" && !host.startsWith("*.")) {
      errors.push(...dns1123SubdomainErrors(host).map((text) => invalidValue(`${path}.host`, host, text)));
    }
    for (const [j, item] of listAt(rule, "http", "paths").entries()) {
      errors.push(...ingressPath(item, `${path}.http.paths[${j}]`));
    }
  }
  return errors;
}

function ingressPath(item: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = item.pathType;
  if (type === undefined) errors.push(required(`${path}.pathType`, "pathType must be specified"));
  else if (!PATH_TYPES.includes(String(type))) errors.push(notSupported(`${path}.pathType`, type, PATH_TYPES));
  else if (type !== "ImplementationSpecific" && !textOf(item.path).startsWith("/")) {
    errors.push(invalidValue(`${path}.path`, textOf(item.path), "must be an absolute path"));
  }
  return [...errors, ...backend(recordOf(item.backend), `${path}.backend`)];
}

function backend(value: Record<string, unknown>, path: string): FieldError[] {
  const { service, resource } = value;
  if (service !== undefined && resource !== undefined) {
    return [invalidValue(path, "", "cannot set both resource and service backends")];
  }
  if (resource !== undefined) return [];
  if (service === undefined) return [required(path, "port name or number is required")];
  const port = objectAt(service, "port");
  const errors: FieldError[] = [];
  if (!recordOf(service).name) errors.push(required(`${path}.service.name`));
  if (!port.name && !port.number) errors.push(required(path, "port name or number is required"));
  return errors;
}

export function ingressClass(object: ApiObject): FieldError[] {
  const controller = textOf(objectAt(object, "spec").controller);
  const field = "spec.controller";
  if (controller === "") return [required(field)];
  const [domain = "", ...path] = controller.split("/");
  if (path.join("/") === "") {
    return [invalidValue(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  return dns1123SubdomainErrors(domain).map((text) => invalidValue(field, domain, text));
}

export function ingressClassUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return unchanged(objectAt(object, "spec").controller, objectAt(old, "spec").controller, "spec.controller");
}

export function networkPolicy(object: ApiObject): FieldError[] {
  const types = ["Ingress", "Egress"];
  return textsOf(objectAt(object, "spec").policyTypes).flatMap((type, i) =>
    types.includes(type) ? [] : [notSupported(`spec.policyTypes[${i}]`, type, types)],
  );
}

export function budget(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    const text = "minAvailable and maxUnavailable cannot be both set";
    return [invalidValue("spec", new Verbatim(JSON.stringify(shown)), text)];
  }
  return [
    ...numberOrPercent(minAvailable, "spec.minAvailable"),
    ...numberOrPercent(maxUnavailable, "spec.maxUnavailable"),
  ];
}

export function autoscaler(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const most = Number(spec.maxReplicas ?? 0);
  const least = Number(spec.minReplicas ?? 1);
  if (least < 1) errors.push(invalidValue("spec.minReplicas", least, "must be greater than or equal to 1"));
  if (most < 1) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
  if (most < least) {
    errors.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  }
  const target = objectAt(spec, "scaleTargetRef");
  const path = "spec.scaleTargetRef";
  for (const key of ["kind", "name"]) if (!target[key]) errors.push(required(`${path}.${key}`));
  const version = textOf(target.apiVersion);
  // The core group has nothing to scale but replication controllers, which nobody means when they leave it out.
  if (version === "" || (!version.includes("/") && !["ReplicationController"].includes(textOf(target.kind)))) {
    errors.push(invalidValue(`${path}.apiVersion`, version, "apiVersion must specify API group"));
  }
  return errors;
}
