import { readDer, readOid } from "@lotse/client/certificates";

/** What a certificate is about besides its subject: its alternative names, by what they are. */
interface Names {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
  /** Four or sixteen bytes. */
  readonly ip: readonly Buffer[];
}

/** Which names an authority may sign for: one of the permitted where there are any of that sort, and none of the excluded. */
interface NameConstraints {
  readonly permitted: Names;
  readonly excluded: Names;
}

/** What an authority may sign, and what a certificate says that such limits are about. */
export interface CertificateLimits {
  /** So many certificates may stand between this authority and the last one. */
  readonly pathLength?: number | undefined;
  readonly constraints?: NameConstraints | undefined;
  readonly names?: Names | undefined;
  /** It has a limit that is not understood, and whose maker wanted it to be. */
  readonly unknown: boolean;
}

const BASIC = "2.5.29.19";
const ALTERNATIVE_NAMES = "2.5.29.17";
const NAME_CONSTRAINTS = "2.5.29.30";
/** Extensions that limit nothing here, or that are looked at elsewhere: uses, keys, lists of the revoked, policies. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["2.5.29.14", "2.5.29.15", "2.5.29.31", "2.5.29.32", "2.5.29.33", "2.5.29.35", "2.5.29.36", "2.5.29.37"],
  "2.5.29.54",
]);
const EXTENSIONS_TAG = 0xa3;
const BOOLEAN = 0x01;
const INTEGER = 0x02;

/** Reads the limits in a certificate. Throws when it cannot be read. */
export function limitsOf(raw: Buffer): CertificateLimits {
  let limits: { -readonly [K in keyof CertificateLimits]: CertificateLimits[K] } = { unknown: false };
  for (const { oid, critical, content } of extensionsOf(raw)) {
    if (oid === BASIC) limits.pathLength = pathLengthOf(content);
    else if (oid === ALTERNATIVE_NAMES) {
      const { names, others } = namesOf(readDer(content)[0]?.content ?? Buffer.alloc(0), (name) => name);
      limits = { ...limits, names };
      // One that names nothing that can be understood is a limit by itself.
      if (critical && others && isEmpty(names)) limits.unknown = true;
    } else if (oid === NAME_CONSTRAINTS) {
      const { constraints, others } = constraintsOf(content);
      limits = { ...limits, constraints };
      if (critical && others) limits.unknown = true;
    } else if (critical && !HARMLESS.has(oid)) limits.unknown = true;
  }
  return limits;
}

/** Whether an authority may have signed these, the client's certificate first: `chain` is all that is below it. */
export function mayHaveSigned(limits: CertificateLimits, chain: readonly CertificateLimits[]): boolean {
  if (limits.unknown) return false;
  if (limits.pathLength !== undefined && chain.length - 1 > limits.pathLength) return false;
  const { constraints } = limits;
  return constraints === undefined || chain.every(({ names }) => names === undefined || permits(constraints, names));
}

function extensionsOf(raw: Buffer): { oid: string; critical: boolean; content: Buffer }[] {
  const [certificate] = readDer(raw);
  const [body] = readDer(certificate?.content ?? Buffer.alloc(0));
  const wrapped = readDer(body?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === EXTENSIONS_TAG);
  const [list] = wrapped === undefined ? [] : readDer(wrapped.content);
  return readDer(list?.content ?? Buffer.alloc(0)).map(({ content }) => {
    const [oid, second, third] = readDer(content);
    const critical = second?.tag === BOOLEAN && second.content[0] !== 0;
    const value = second?.tag === BOOLEAN ? third : second;
    return { oid: readOid(oid?.content ?? Buffer.alloc(0)), critical, content: value?.content ?? Buffer.alloc(0) };
  });
}

function pathLengthOf(content: Buffer): number | undefined {
  const parts = readDer(readDer(content)[0]?.content ?? Buffer.alloc(0));
  const length = parts.find(({ tag }) => tag === INTEGER)?.content;
  return length === undefined ? undefined : Number(BigInt(`0x${length.toString("hex") || "0"}`));
}

const SORTS: Readonly<Record<number, keyof Names>> = { 129: "email", 130: "dns", 134: "uri", 135: "ip" };

/** The names in a list; `others` says whether there were any of a sort that is not understood. */
function namesOf(content: Buffer, pick: (item: Buffer) => Buffer): { names: Names; others: boolean } {
  const names = { dns: [] as string[], email: [] as string[], uri: [] as string[], ip: [] as Buffer[] };
  let others = false;
  for (const item of readDer(content)) {
    const [name] = readDer(pick(item.whole));
    const sort = name && SORTS[name.tag];
    if (sort === "ip") names.ip.push(name?.content ?? Buffer.alloc(0));
    else if (sort !== undefined) names[sort].push(name?.content.toString("latin1") ?? "");
    else others = true;
  }
  return { names, others };
}

const isEmpty = ({ dns, email, uri, ip }: Names): boolean => dns.length + email.length + uri.length + ip.length === 0;
const NO_NAMES: Names = { dns: [], email: [], uri: [], ip: [] };
const PERMITTED = 0xa0;

function constraintsOf(content: Buffer): { constraints: NameConstraints; others: boolean } {
  let [permitted, excluded, others] = [NO_NAMES, NO_NAMES, false];
  for (const { tag, content: trees } of readDer(readDer(content)[0]?.content ?? Buffer.alloc(0))) {
    // Each is a sequence that begins with the name.
    const found = namesOf(trees, (tree) => readDer(readDer(tree)[0]?.content ?? Buffer.alloc(0))[0]?.whole ?? tree);
    others ||= found.others;
    if (tag === PERMITTED) permitted = found.names;
    else excluded = found.names;
  }
  return { constraints: { permitted, excluded }, others };
}

function permits({ permitted, excluded }: NameConstraints, names: Names): boolean {
  const check = <T>(own: readonly T[], may: readonly T[], mayNot: readonly T[], fits: (name: T, limit: T) => boolean) =>
    own.every(
      (name) =>
        !mayNot.some((limit) => fits(name, limit)) && (may.length === 0 || may.some((limit) => fits(name, limit))),
    );
  return (
    check(names.dns, permitted.dns, excluded.dns, isWithin) &&
    check(names.email, permitted.email, excluded.email, fitsMailbox) &&
    check(names.uri, permitted.uri, excluded.uri, (uri, limit) => isWithin(hostOf(uri), limit)) &&
    (names.uri.every((uri) => hostOf(uri) !== "") || permitted.uri.length + excluded.uri.length === 0) &&
    check(names.ip, permitted.ip, excluded.ip, fitsRange)
  );
}

/** Whether a name is that domain or below it; a domain that begins with a dot has only what is below it. */
function isWithin(name: string, domain: string): boolean {
  if (domain === "") return true;
  const labels = (text: string) => text.toLowerCase().replace(/^\./, "").split(".");
  const [own, wanted] = [labels(name), labels(domain)];
  if (own.length < wanted.length + (domain.startsWith(".") ? 1 : 0)) return false;
  return wanted.every((label, i) => own[own.length - wanted.length + i] === label);
}

function fitsMailbox(address: string, limit: string): boolean {
  const at = address.lastIndexOf("@");
  const [local, host] = [address.slice(0, at), address.slice(at + 1)];
  if (!limit.includes("@")) return isWithin(host, limit);
  const other = limit.lastIndexOf("@");
  return local === limit.slice(0, other) && host.toLowerCase() === limit.slice(other + 1).toLowerCase();
}

/** The host of an address; empty where it has none with a name. */
function hostOf(uri: string): string {
  try {
    const { hostname } = new URL(uri);
    return /^[\d.]+$|^\[/.test(hostname) ? "" : hostname;
  } catch {
    return "";
  }
}

/** A range is an address and its mask. */
function fitsRange(ip: Buffer, range: Buffer): boolean {
  if (range.length !== ip.length * 2) return false;
  return ip.every((byte, i) => {
    const mask = range[ip.length + i] as number;
    return (byte & mask) === ((range[i] as number) & mask);
  });
}
