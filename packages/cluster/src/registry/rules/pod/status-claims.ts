/** What the status of a pod may say about claims for devices. */
import { duplicateValue, invalidValue, required } from "../../fields.ts";
import {
  checkLabel,
  checkSubdomain,
  type Errors,
  entries,
  type Fields,
  isSet,
  struct,
  structs,
  subdomainMessages,
  text,
} from "./check.ts";

/** Claims that were made for a pod, those for its extended resources, and what they take from its node. */
export function checkClaimStatuses(status: Fields, spec: Fields, errors: Errors): void {
  checkMade(status, spec, errors);
  const extended = struct(status.extendedResourceClaimStatus);
  if (extended !== undefined) checkExtended(extended, spec, errors);
  checkTaken(status, spec, errors);
}

function checkMade(status: Fields, spec: Fields, errors: Errors): void {
  const names = new Set<string>();
  for (const [i, claim] of structs(status.resourceClaimStatuses).entries()) {
    const path = `status.resourceClaimStatuses[${i}]`;
    const name = text(claim.name);
    if (!structs(spec.resourceClaims).some((one) => one.name === name)) {
      errors.push(invalidValue(`${path}.name`, name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (names.has(name)) errors.push(duplicateValue(`${path}.name`, name));
    names.add(name);
    if (isSet(claim.resourceClaimName))
      checkSubdomain(text(claim.resourceClaimName), `${path}.resourceClaimName`, errors);
  }
}

const NOT_ASKED =
  "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
const NOT_THERE = "must match the name of an entry in spec.initContainers.name or spec.containers.name";

function checkExtended(status: Fields, spec: Fields, errors: Errors): void {
  const path = "status.extendedResourceClaimStatus";
  const mappings = structs(status.requestMappings);
  if (mappings.length === 0)
    errors.push(required(`${path}.requestMappings`, "at least one request mapping is required"));
  const containers = [...structs(spec.containers), ...structs(spec.initContainers)];
  const seen = new Set<string>();
  for (const [i, mapping] of mappings.entries()) {
    const here = `${path}.requestMappings[${i}]`;
    const parts = ["containerName", "resourceName", "requestName"].map((key) => text(mapping[key]));
    const [containerName = "", resourceName = "", requestName = ""] = parts;
    const container = containers.find(({ name }) => name === containerName);
    const requests = struct(struct(container?.resources)?.requests) ?? {};
    if (container === undefined) errors.push(invalidValue(`${here}.containerName`, containerName, NOT_THERE));
    else if (!Object.hasOwn(requests, resourceName)) {
      errors.push(invalidValue(`${here}.resourceName`, resourceName, NOT_ASKED));
    }
    // The path of this one is not that of its mapping.
    checkLabel(requestName, `${path}.requestName`, errors);
    const key = JSON.stringify(parts);
    if (seen.has(key)) {
      errors.push(
        duplicateValue(`${here}.containerName`, containerName),
        duplicateValue(`${here}.resourceName`, resourceName),
        duplicateValue(`${here}.requestName`, requestName),
      );
    }
    seen.add(key);
  }
  const name = text(status.resourceClaimName);
  if (name === "") errors.push(required(`${path}.resourceClaimName`));
  for (const message of name === "" ? [] : subdomainMessages(name)) {
    errors.push(invalidValue(`${path}.resourceClaimName`, name, message));
  }
}

function checkTaken(status: Fields, spec: Fields, errors: Errors): void {
  const known = new Set(
    [...structs(spec.resourceClaims), ...structs(status.resourceClaimStatuses)].map((claim) => claim.resourceClaimName),
  );
  for (const [i, taken] of structs(status.nodeAllocatableResourceClaimStatuses).entries()) {
    const path = `status.nodeAllocatableResourceClaimStatuses[${i}]`;
    const name = text(taken.resourceClaimName);
    if (name === "") errors.push(required(`${path}.resourceClaimName`, "must not be empty"));
    if (!known.has(name))
      errors.push(invalidValue(`${path}.resourceClaimName`, name, "no mapping found in pod reference"));
    if (!Array.isArray(taken.containers) || taken.containers.length === 0) {
      errors.push(required(`${path}.containers`, "must not be empty"));
    }
    const resources = entries(taken.resources);
    if (resources.length === 0) errors.push(required(`${path}.resources`, "must not be empty"));
    for (const [resource, amount] of resources) {
      const here = `${path}.resources[${resource}]`;
      if (resource.includes("/") && !resource.includes("kubernetes.io/")) {
        errors.push(invalidValue(here, resource, "must be a node allocatable resource name"));
      }
      if (String(amount).startsWith("-")) errors.push(invalidValue(here, amount, "must be non-negative"));
    }
  }
}
