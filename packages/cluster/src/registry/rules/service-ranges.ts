import { pathSegmentErrors } from "@lotse/client/meta";
import { type FieldError, IMMUTABLE, invalidValue, required } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { canonicalAddressErrors, canonicalRangeErrors, parseRange } from "./addresses.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { complain, given, requiredSegment, subdomainErrors } from "./values.ts";

/** An address is named after itself. */
export function addressCreate(object: ApiObject): FieldError[] {
  const { name } = object.metadata;
  return [...(name ? canonicalAddressErrors(name, "metadata.name") : []), ...parentErrors(object)];
}

/** An IPAddress keeps the object that has it. */
export function addressUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const [now, before] = [objectAt(object, "spec").parentRef, objectAt(old, "spec").parentRef];
  const errors = addressCreate(object);
  if (JSON.stringify(now) === JSON.stringify(before)) return errors;
  const { group = "", resource = "", namespace = "", name = "" } = recordOf(now);
  const parent = { Group: group, Resource: resource, Namespace: namespace, Name: name };
  const shown = given(now) ? new Verbatim(JSON.stringify(parent)) : null;
  return [...errors, invalidValue("spec.parentRef", shown, IMMUTABLE)];
}

function parentErrors(object: ApiObject): FieldError[] {
  const path = "spec.parentRef";
  const { parentRef } = objectAt(object, "spec");
  if (!given(parentRef)) return [required(path)];
  const { group, resource, name, namespace } = recordOf(parentRef);
  return [
    ...(textOf(group) === "" ? [] : subdomainErrors(textOf(group), `${path}.group`)),
    ...requiredSegment(textOf(resource), `${path}.resource`),
    ...requiredSegment(textOf(name), `${path}.name`),
    ...complain(pathSegmentErrors(textOf(namespace)), `${path}.namespace`, namespace),
  ];
}

const FIELD = "spec.cidrs";

/** What is wrong with the ranges of a new ServiceCIDR. */
export const rangeCreate = (object: ApiObject): FieldError[] => rangesErrors(textsOf(objectAt(object, "spec").cidrs));

function rangesErrors(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [required(FIELD, "at least one CIDR required")];
  if (ranges.length > 2) {
    const shown = new Verbatim(JSON.stringify({ CIDRs: ranges }));
    return [invalidValue(FIELD, shown, "may only hold up to 2 values")];
  }
  const errors = ranges.flatMap((range, i) => canonicalRangeErrors(range, `${FIELD}[${i}]`));
  const [first, second] = ranges.map((range) => parseRange(range)?.address.v4);
  if (ranges.length === 2 && first !== undefined && first === second) {
    const text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    errors.push(invalidValue(FIELD, ranges, text));
  }
  return errors;
}

/** A range stays; only one of the other family may join it. */
export function rangeUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "status") return [];
  const [now, before] = [textsOf(objectAt(object, "spec").cidrs), textsOf(objectAt(old, "spec").cidrs)];
  if (now.length === before.length) {
    return before.flatMap((range, i) => (range === now[i] ? [] : [invalidValue(`${FIELD}[${i}]`, now[i], IMMUTABLE)]));
  }
  if (before.length !== 1 || now.length !== 2) return [invalidValue(FIELD, now, IMMUTABLE)];
  const first = now[0] === before[0] ? [] : [invalidValue(`${FIELD}[0]`, now[0], IMMUTABLE)];
  return [...first, ...rangesErrors(now)];
}
