import type { ApiObject } from "../../object.ts";
import { isSet, struct, structs, text, texts } from "../pod/index.ts";
import { addressWarnings, rangeWarnings } from "./addresses.ts";

/** Whether one of the server's own controllers writes an object: those spell addresses as they should. */
const isManagedBy = ({ metadata }: ApiObject, label: string, ...names: string[]): boolean =>
  names.includes(metadata.labels?.[label] ?? "");

/** Warnings about an EndpointSlice. */
export function sliceWarnings(object: ApiObject, old?: ApiObject): string[] {
  const warnings = !old && object.addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
  const own = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
  if (isManagedBy(object, "endpointslice.kubernetes.io/managed-by", ...own)) return warnings;
  for (const [i, endpoint] of structs(object.endpoints).entries()) {
    for (const [j, address] of texts(endpoint.addresses).entries()) {
      warnings.push(...addressWarnings(address, `endpoints[${i}].addresses[${j}]`));
    }
  }
  return warnings;
}

/** Warnings about Endpoints that a user writes by hand. */
export function endpointsWarnings(object: ApiObject): string[] {
  if (isManagedBy(object, "endpoints.kubernetes.io/managed-by", "endpoint-controller")) return [];
  return structs(object.subsets).flatMap((subset, i) =>
    ["addresses", "notReadyAddresses"].flatMap((list) =>
      structs(subset[list]).flatMap(({ ip }, j) => addressWarnings(text(ip), `subsets[${i}].${list}[${j}].ip`)),
    ),
  );
}

/** Warnings about addresses in a NetworkPolicy. */
export function networkPolicyWarnings(object: ApiObject): string[] {
  const spec = struct(object.spec);
  const directions = [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const;
  return directions.flatMap(([direction, peers]) =>
    structs(spec?.[direction]).flatMap((rule, i) =>
      structs(rule[peers]).flatMap(({ ipBlock }, j) => {
        const block = struct(ipBlock);
        if (!block) return [];
        const path = `spec.${direction}[${i}].${peers}[${j}].ipBlock`;
        return [
          ...rangeWarnings(text(block.cidr), `${path}.cidr`),
          ...texts(block.except).flatMap((range, k) => rangeWarnings(range, `${path}.except[${k}]`)),
        ];
      }),
    ),
  );
}

const CLASS = "kubernetes.io/ingress.class";

/** The warning about the annotation that names an Ingress' class. */
export function ingressWarnings({ metadata, spec }: ApiObject): string[] {
  if (!Object.hasOwn(metadata.annotations ?? {}, CLASS) || isSet(struct(spec)?.ingressClassName)) return [];
  return [`annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}

/** Warnings about deprecated fields and odd ranges of a Node. */
export function nodeWarnings(object: ApiObject): string[] {
  const spec = struct(object.spec) ?? {};
  return [
    ...(isSet(spec.configSource) ? ["spec.configSource: the feature is removed"] : []),
    ...(text(spec.externalID) === "" ? [] : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
    ...texts(spec.podCIDRs).flatMap((range, i) => rangeWarnings(range, `spec.podCIDRs[${i}]`)),
  ];
}
