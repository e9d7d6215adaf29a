import { qualifiedNameErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, forbiddenField, invalidValue } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { parseRange, rangeErrors } from "./addresses.ts";
import { taintsErrors } from "./classes.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { amountErrors } from "./resources.ts";
import { complain } from "./values.ts";

/** What is wrong with a new Node. */
export function nodeCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  // Taints stand in the spec and are told as if they stood in the metadata.
  const errors = taintsErrors(listAt(spec, "taints"), "metadata.taints");
  errors.push(...resourcesErrors(object), ...featuresErrors(object));
  const ranges = textsOf(spec.podCIDRs);
  const field = "spec.podCIDRs";
  for (const [i, range] of ranges.entries()) errors.push(...rangeErrors(range, `${field}[${i}]`));
  if (ranges.length < 2) return errors;
  const families = new Set(ranges.map((range) => parseRange(range)?.address.v4));
  if (families.size !== 2 || families.has(undefined) || ranges.length > 2) {
    errors.push(invalidValue(field, ranges, "may specify no more than one CIDR for each IP family"));
  }
  return errors;
}

function resourcesErrors(object: ApiObject): FieldError[] {
  return ["capacity", "allocatable"].flatMap((key) =>
    Object.entries(recordOf(objectAt(object, "status")[key])).flatMap(([name, value]) =>
      amountErrors(name, value, `status.${key}.${name}`),
    ),
  );
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const LONGEST_FEATURE = 253;

function featuresErrors(object: ApiObject): FieldError[] {
  const features = textsOf(objectAt(object, "status").declaredFeatures);
  return features.flatMap((feature, i) => {
    const field = (index: number) => `status.declaredFeatures[${index}]`;
    const errors: FieldError[] = [];
    const quoted = JSON.stringify(feature);
    if (feature.length > LONGEST_FEATURE) {
      const text = `invalid feature name ${quoted}: must be no more than ${LONGEST_FEATURE} characters`;
      errors.push(invalidValue(field(i), feature, text));
    } else if (!FEATURE.test(feature)) {
      const text = `invalid feature name ${quoted}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`;
      errors.push(invalidValue(field(i), feature, text));
    }
    const next = features[i + 1];
    if (next === feature) errors.push(duplicateValue(field(i + 1), next));
    else if (next !== undefined && feature > next) {
      errors.push(invalidValue(field(i + 1), next, "list must be sorted alphabetically"));
    }
    return errors;
  });
}

/** What is wrong with a changed Node, or with its status. */
export function nodeUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  // The server asks twice about a node that is changed, and all that is found by the first is told first.
  const whole = subresource === "status" ? [] : nodeCreate(object);
  const errors = [...whole, ...resourcesErrors(object), ...featuresErrors(object)];
  const seen = new Set<string>();
  for (const [i, { type, address }] of listAt(object, "status", "addresses").entries()) {
    const key = `${type}\n${address}`;
    if (seen.has(key)) {
      const shown = new Verbatim(JSON.stringify({ Type: type, Address: address }));
      errors.push(duplicateValue(`status.addresses[${i}]`, shown));
    }
    seen.add(key);
  }
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  const [ranges, known] = [textsOf(now.podCIDRs), textsOf(before.podCIDRs)];
  const fixed = 'node updates may not change podCIDR except from "" to valid';
  if (known.length > 0 && known.length !== ranges.length) errors.push(forbiddenField("spec.podCIDRs", fixed));
  else {
    for (const [i, range] of known.entries()) {
      if (range !== ranges[i]) errors.push(forbiddenField("spec.podCIDRs", fixed));
    }
  }
  if (textOf(before.providerID) !== "" && before.providerID !== now.providerID) {
    const text = 'node updates may not change providerID except from "" to valid';
    errors.push(forbiddenField("spec.providerID", text));
  }
  errors.push(...taintsErrors(listAt(now, "taints"), "metadata.taints"));
  if (textOf(now.externalID) !== textOf(before.externalID)) {
    errors.push(forbiddenField("spec.externalID", "may not be updated"));
  }
  return errors;
}

const FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

function finalizerErrors(name: string, field: string): FieldError[] {
  const errors = complain(qualifiedNameErrors(name), field, name);
  if (!name.includes("/") && !FINALIZERS.has(name)) {
    errors.push(invalidValue(field, name, "name is neither a standard finalizer name nor is it fully qualified"));
  }
  return errors;
}

/** What is wrong with the finalizers of a new Namespace. */
export const namespaceCreate = (object: ApiObject): FieldError[] =>
  textsOf(objectAt(object, "spec").finalizers).flatMap((name) => finalizerErrors(name, "spec.finalizers"));

/** What is wrong with the finalizers or the status of a changed Namespace. */
export function namespaceUpdate(object: ApiObject, _old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "finalize") {
    const names = textsOf(objectAt(object, "spec").finalizers);
    return names.flatMap((name, i) => finalizerErrors(name, `spec.finalizers[${i}]`));
  }
  if (subresource !== "status") return [];
  const phase = textOf(objectAt(object, "status").phase);
  const leaving = object.metadata.deletionTimestamp !== undefined;
  const wanted = leaving ? "Terminating" : "Active";
  if (phase === wanted) return [];
  const text = `may only be '${wanted}' if \`deletionTimestamp\` is ${leaving ? "not " : ""}empty`;
  return [invalidValue("status.Phase", phase, text)];
}
