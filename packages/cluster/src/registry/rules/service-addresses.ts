import { duplicateValue, type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { addressErrors, parseAddress } from "./addresses.ts";
import { textOf, textsOf } from "./common.ts";
import { given } from "./values.ts";

type Fields = Record<string, unknown>;

const FAMILIES = ["IPv4", "IPv6"];
const FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const MOST_ADDRESSES = 2;

/** A service that has no address of its own: its name leads to its endpoints. */
export function isHeadless(spec: Fields): boolean {
  const ips = textsOf(spec.clusterIPs);
  return ips.length === 1 && ips[0] === "None";
}

/** The family of an address that is known to be one. */
export const familyOf = (ip: string): string => (parseAddress(ip)?.v4 ? "IPv4" : "IPv6");

/** How a service's addresses, families and their policy fit together. */
export function clusterAddressErrors(spec: Fields, old: Fields | undefined): FieldError[] {
  if (spec.type === "ExternalName") return [];
  const ips = textsOf(spec.clusterIPs);
  const families = textsOf(spec.ipFamilies);
  const field = "spec.clusterIPs";
  const errors: FieldError[] = [];
  const ip = textOf(spec.clusterIP);
  if (ip === "") {
    if (ips.length > 0) errors.push(invalidValue(field, ips, "must be empty when `clusterIP` is not specified"));
  } else if (ips.length === 0) errors.push(required(field));
  else if (ips[0] !== ip) errors.push(invalidValue(field, ips, "first value must match `clusterIP`"));
  const seen = new Set<string>();
  for (const [i, family] of families.entries()) {
    if (!FAMILIES.includes(family)) errors.push(notSupported(`spec.ipFamilies[${i}]`, family, FAMILIES));
    if (seen.has(family)) errors.push(duplicateValue(`spec.ipFamilies[${i}]`, family));
    seen.add(family);
  }
  const policy = spec.ipFamilyPolicy;
  if (given(policy) && !FAMILY_POLICIES.includes(textOf(policy))) {
    errors.push(notSupported("spec.ipFamilyPolicy", policy, FAMILY_POLICIES));
  }
  const wrong = addressListErrors(ips, textsOf(old?.clusterIPs), field);
  errors.push(...wrong);
  if (ips.length > MOST_ADDRESSES) errors.push(invalidValue(field, ips, "may only hold up to 2 values"));
  // Addresses that cannot be read have no family to speak of.
  if (wrong.length > 0) return errors;
  if (ips.length > 1 && new Set(ips.map(familyOf)).size !== ips.length) {
    errors.push(invalidValue(field, ips, "may specify no more than one IP for each IP family"));
  }
  if (isHeadless(spec)) return errors;
  for (const [i, address] of ips.entries()) {
    const wanted = families[i];
    if ((wanted !== "IPv4" && wanted !== "IPv6") || familyOf(address) === wanted) continue;
    const text = `expected an ${wanted} value as indicated by \`ipFamilies[${i}]\``;
    errors.push(invalidValue(`${field}[${i}]`, address, text));
  }
  return errors;
}

function addressListErrors(ips: readonly string[], known: readonly string[], field: string): FieldError[] {
  return ips.flatMap((ip, i) => {
    if (i > 0 || ip !== "None") return addressErrors(ip, `${field}[${i}]`, known);
    return ips.length > 1 ? [invalidValue(field, ips, "'None' must be the first and only value")] : [];
  });
}
