import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { containsAddress, parseRange, rangeErrors } from "./addresses.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { complain, given, portNameComplaints, portNumberErrors, selectorErrors } from "./values.ts";

type Fields = Record<string, unknown>;

/** What an update tolerates because it was there before. */
interface Tolerance {
  readonly lenient: boolean;
  readonly ranges: readonly string[];
}

const STRICT: Tolerance = { lenient: false, ranges: [] };

/** What is wrong with a new NetworkPolicy. */
export const policyCreate = (object: ApiObject): FieldError[] => policyErrors(objectAt(object, "spec"), STRICT);

/** What is wrong with a changed one; what was tolerated before still is. */
export function policyUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const before = objectAt(old, "spec");
  const lenient = selectorErrors(before.podSelector, "spec.podSelector").length > 0;
  const peers = [
    ...listAt(before, "ingress").flatMap((rule) => listAt(rule, "from")),
    ...listAt(before, "egress").flatMap((rule) => listAt(rule, "to")),
  ];
  const ranges = peers
    .filter(({ ipBlock }) => given(ipBlock))
    .flatMap(({ ipBlock }) => [textOf(recordOf(ipBlock).cidr), ...textsOf(recordOf(ipBlock).except)]);
  return policyErrors(objectAt(object, "spec"), { lenient, ranges });
}

const TYPES = ["Ingress", "Egress"];

function policyErrors(spec: Fields, tolerance: Tolerance): FieldError[] {
  const errors = selectorErrors(spec.podSelector, "spec.podSelector", tolerance.lenient);
  for (const [direction, peers] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const) {
    for (const [i, rule] of listAt(spec, direction).entries()) {
      const path = `spec.${direction}[${i}]`;
      for (const [j, port] of listAt(rule, "ports").entries()) errors.push(...portErrors(port, `${path}.ports[${j}]`));
      for (const [j, peer] of listAt(rule, peers).entries()) {
        errors.push(...peerErrors(peer, `${path}.${peers}[${j}]`, tolerance));
      }
    }
  }
  const types = textsOf(spec.policyTypes);
  if (types.length > TYPES.length) {
    return [...errors, invalidValue("spec.policyTypes", types, "may not specify more than two policyTypes")];
  }
  for (const [i, type] of types.entries()) {
    if (!TYPES.includes(type)) errors.push(notSupported(`spec.policyTypes[${i}]`, type, TYPES));
  }
  return errors;
}

const PROTOCOLS = ["TCP", "UDP", "SCTP"];

function portErrors({ protocol, port, endPort }: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (given(protocol) && !PROTOCOLS.includes(textOf(protocol))) {
    errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  }
  const end = `${path}.endPort`;
  if (!given(port)) {
    if (given(endPort)) errors.push(invalidValue(end, endPort, "may not be specified when `port` is not specified"));
  } else if (typeof port === "number") {
    errors.push(...portNumberErrors(port, `${path}.port`));
    if (!given(endPort)) return errors;
    if (Number(endPort) < port) errors.push(invalidValue(end, port, "must be greater than or equal to `port`"));
    errors.push(...portNumberErrors(endPort, end));
  } else {
    if (given(endPort)) errors.push(invalidValue(end, endPort, "may not be specified when `port` is non-numeric"));
    errors.push(...complain(portNameComplaints(textOf(port)), `${path}.port`, port));
  }
  return errors;
}

function peerErrors(peer: Fields, path: string, tolerance: Tolerance): FieldError[] {
  const errors: FieldError[] = [];
  let peers = 0;
  for (const key of ["podSelector", "namespaceSelector"]) {
    if (!given(peer[key])) continue;
    peers++;
    errors.push(...selectorErrors(peer[key], `${path}.${key}`, tolerance.lenient));
  }
  const block = given(peer.ipBlock);
  if (block) errors.push(...blockErrors(recordOf(peer.ipBlock), `${path}.ipBlock`, tolerance));
  if (peers === 0 && !block) errors.push(required(path, "must specify a peer"));
  else if (peers > 0 && block) errors.push(forbiddenField(path, "may not specify both ipBlock and another peer"));
  return errors;
}

function blockErrors(block: Fields, path: string, { ranges }: Tolerance): FieldError[] {
  const cidr = textOf(block.cidr);
  if (cidr === "") return [required(`${path}.cidr`)];
  const errors = rangeErrors(cidr, `${path}.cidr`, ranges);
  const outer = parseRange(cidr);
  if (!outer) return errors;
  for (const [i, text] of textsOf(block.except).entries()) {
    const field = `${path}.except[${i}]`;
    errors.push(...rangeErrors(text, field, ranges));
    const inner = parseRange(text);
    if (inner && (!containsAddress(outer, inner) || outer.bits >= inner.bits)) {
      errors.push(invalidValue(field, text, "must be a strict subset of `cidr`"));
    }
  }
  return errors;
}
