import { deepEqual, labelValueErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, invalidValue, notSupported, required, tooManyItems } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { addressErrors, canonicalAddressErrors, endpointAddressErrors, parseAddress } from "./addresses.ts";
import { textOf, textsOf, unchanged } from "./common.ts";
import {
  complain,
  domainErrors,
  given,
  labelErrors,
  portNumberErrors,
  protocolErrors,
  qualifiedErrors,
  subdomainErrors,
} from "./values.ts";

type Fields = Record<string, unknown>;

/** What is wrong with Endpoints. */
export const endpointsCreate = (object: ApiObject): FieldError[] =>
  listAt(object, "subsets").flatMap((subset, i) => subsetErrors(subset, `subsets[${i}]`));

/** What was wrong before may stay as it is. */
export function endpointsUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return deepEqual(object.subsets, old.subsets) ? [] : endpointsCreate(object);
}

function subsetErrors(subset: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const ports = listAt(subset, "ports");
  if (listAt(subset, "addresses").length === 0 && listAt(subset, "notReadyAddresses").length === 0) {
    errors.push(required(path, "must specify `addresses` or `notReadyAddresses`"));
  }
  for (const key of ["addresses", "notReadyAddresses"]) {
    for (const [i, address] of listAt(subset, key).entries()) {
      errors.push(...subsetAddressErrors(address, `${path}.${key}[${i}]`));
    }
  }
  for (const [i, port] of ports.entries()) {
    errors.push(...subsetPortErrors(port, ports.length > 1, `${path}.ports[${i}]`));
  }
  return errors;
}

function subsetAddressErrors(address: Fields, path: string): FieldError[] {
  const ip = textOf(address.ip);
  // Two checks find the same mistake and tell it in their own words.
  return [
    ...addressErrors(ip, `${path}.ip`),
    ...(textOf(address.hostname) === "" ? [] : labelErrors(textOf(address.hostname), `${path}.hostname`)),
    ...(given(address.nodeName) ? subdomainErrors(textOf(address.nodeName), `${path}.nodeName`) : []),
    ...endpointAddressErrors(ip, `${path}.ip`, isRunningPod(address)),
  ];
}

/**
 * A pod that a node has begun to run. Where pods are processes of this machine they have no other address than its
 * loopback one, which a real cluster would refuse.
 */
function isRunningPod(endpoint: Fields): boolean {
  const { kind, uid } = objectAt(endpoint, "targetRef");
  return kind === "Pod" && given(uid) && given(endpoint.nodeName);
}

function subsetPortErrors(port: Fields, named: boolean, path: string): FieldError[] {
  const name = textOf(port.name);
  const errors: FieldError[] = [];
  if (name !== "") errors.push(...labelErrors(name, `${path}.name`));
  else if (named) errors.push(required(`${path}.name`));
  errors.push(...portNumberErrors(port.port, `${path}.port`), ...protocolErrors(port.protocol, `${path}.protocol`));
  if (given(port.appProtocol)) errors.push(...qualifiedErrors(textOf(port.appProtocol), `${path}.appProtocol`));
  return errors;
}

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const MOST_ADDRESSES = 100;
const MOST_PORTS = 20_000;
const MOST_ENDPOINTS = 1_000;
const MOST_HINTS = 8;

/** What is wrong with a new EndpointSlice. */
export const sliceCreate = (object: ApiObject): FieldError[] => sliceErrors(object, undefined);

/** What is wrong with a changed one: its type of addresses stays. */
export function sliceUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return [...sliceErrors(object, old), ...unchanged(object.addressType ?? "", old.addressType, "addressType")];
}

function sliceErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const type = textOf(object.addressType);
  const errors: FieldError[] = [];
  if (type === "") errors.push(required("addressType"));
  else if (!ADDRESS_TYPES.includes(type)) errors.push(notSupported("addressType", type, ADDRESS_TYPES));
  errors.push(...slicePortsErrors(listAt(object, "ports")));
  if (old && deepEqual(object.endpoints, old.endpoints)) return errors;
  const endpoints = listAt(object, "endpoints");
  if (endpoints.length > MOST_ENDPOINTS) {
    return [...errors, tooManyItems("endpoints", endpoints.length, MOST_ENDPOINTS)];
  }
  for (const [i, endpoint] of endpoints.entries()) errors.push(...endpointErrors(endpoint, type, `endpoints[${i}]`));
  return errors;
}

function slicePortsErrors(ports: readonly Fields[]): FieldError[] {
  if (ports.length > MOST_PORTS) return [tooManyItems("ports", ports.length, MOST_PORTS)];
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const path = `ports[${i}]`;
    const name = textOf(port.name);
    const errors = name === "" ? [] : labelErrors(name, `${path}.name`);
    if (names.has(name)) errors.push(duplicateValue(`${path}.name`, name));
    names.add(name);
    if (!given(port.protocol)) errors.push(required(`${path}.protocol`));
    else if (!["SCTP", "TCP", "UDP"].includes(textOf(port.protocol))) {
      errors.push(notSupported(`${path}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"]));
    }
    if (given(port.appProtocol)) errors.push(...qualifiedErrors(textOf(port.appProtocol), `${path}.appProtocol`));
    return errors;
  });
}

function endpointErrors(endpoint: Fields, type: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = `${path}.addresses`;
  const addresses = textsOf(endpoint.addresses);
  if (addresses.length === 0) errors.push(required(field, "must contain at least 1 address"));
  else if (addresses.length > MOST_ADDRESSES) errors.push(tooManyItems(field, addresses.length, MOST_ADDRESSES));
  for (const [i, address] of addresses.entries())
    errors.push(...sliceAddressErrors(address, type, field, i, isRunningPod(endpoint)));
  if (given(endpoint.nodeName)) errors.push(...subdomainErrors(textOf(endpoint.nodeName), `${path}.nodeName`));
  if (given(endpoint.hostname)) errors.push(...labelErrors(textOf(endpoint.hostname), `${path}.hostname`));
  if (given(endpoint.hints)) errors.push(...hintsErrors(objectAt(endpoint, "hints"), `${path}.hints`));
  return errors;
}

function sliceAddressErrors(address: string, type: string, list: string, i: number, running: boolean): FieldError[] {
  const field = `${list}[${i}]`;
  if (type === "FQDN") return domainErrors(address, field);
  if (type !== "IPv4" && type !== "IPv6") return [];
  const wrong = type === "IPv4" ? addressErrors(address, field) : canonicalAddressErrors(address, field);
  if (wrong.length > 0) return wrong;
  const other = parseAddress(address)?.v4 !== (type === "IPv4");
  return [
    ...(other ? [invalidValue(list, address, `must be an ${type} address`)] : []),
    ...endpointAddressErrors(address, field, running),
  ];
}

function hintsErrors(hints: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["forZones", "forNodes"]) {
    const items = listAt(hints, key);
    if (items.length > MOST_HINTS) return [...errors, tooManyItems(`${path}.${key}`, items.length, MOST_HINTS)];
    const names = new Set<string>();
    for (const [i, item] of items.entries()) {
      const name = textOf(item.name);
      const field = `${path}.${key}[${i}].name`;
      if (names.has(name)) errors.push(duplicateValue(field, name));
      names.add(name);
      if (key === "forZones") errors.push(...complain(labelValueErrors(name), field, name));
      else errors.push(...subdomainErrors(name, field));
    }
  }
  return errors;
}
