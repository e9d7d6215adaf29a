/**
 * What is to be done about the certificates, at one moment. Pure: it goes by the time, by what the Secret holds and by
 * what this process has in use, and makes nothing itself.
 *
 * The order is what matters. A new authority is announced (`stage`) together with a certificate that the old one signed;
 * it signs (`promote`) when that one is renewed, weeks later, when every API server has long been told to believe it.
 * The old one is believed until its last certificate is over. So a rotation of the authority costs no write of its own,
 * and no moment has a certificate that an API server does not believe yet.
 */
import { hasSigned, isFor, type Keyed, namesOf, type ReadCertificate, type Remains, type Retired } from "./content.ts";
import type { CertificateSettings } from "./settings.ts";

/** What was found where the Secret should be. */
export type Found =
  | { readonly state: "absent" }
  /** There is one, and it is another party's. */
  | { readonly state: "foreign" }
  | { readonly state: "ours"; readonly remains: Remains };

/** A Secret that can be served with. */
export interface Usable {
  readonly leaf: Keyed;
  readonly issuer: Keyed | undefined;
  readonly staged: Keyed | undefined;
  readonly retired: readonly Retired[];
  readonly caBundle: string;
  /** When the first of the authorities in it is not to be believed any more. */
  readonly bundleUntil: number;
}

/** A Secret that shall be written. */
export interface Rewrite {
  /** Why, in words for a log. */
  readonly why: string;
  /** Who signs from now on: who does now, the successor that was announced, or a new authority. */
  readonly issuer: Keyed | "new";
  /** The successor that is announced, beside who signs. */
  readonly staged: Keyed | "new" | undefined;
  readonly retired: readonly Retired[];
  /** The certificate that stays, or the names for another one. */
  readonly leaf: Keyed | { readonly names: readonly string[] };
}

/** See {@link planCertificates}. */
export interface CertificatePlan {
  /** What is to be served with now; undefined: there is nothing yet. */
  readonly use: Usable | undefined;
  readonly write: Rewrite | undefined;
  /** When something is to be done after that, if nothing happens before. */
  readonly nextAt: number;
  /** What is wrong, in words for a log. */
  readonly problem: string | undefined;
}

const RENEWED_AT = 2 / 3;

/** Decides. `memory` is what this process has read or written before. */
export function planCertificates(
  now: number,
  found: Found,
  memory: Remains | undefined,
  settings: CertificateSettings,
): CertificatePlan {
  const kept = memory && usable(now, memory);
  if (found.state === "foreign") {
    return { use: kept, write: undefined, nextAt: Number.POSITIVE_INFINITY, problem: FOREIGN };
  }
  if (found.state === "absent") return remake(now, memory, kept, settings, "there is no Secret yet", undefined);
  const { remains } = found;
  const use = usable(now, remains);
  const problem = remains.damage.length > 0 ? `the Secret is damaged: ${remains.damage.join("; ")}` : undefined;
  // What another replica, or this one, has in memory is worth more than what is left of it.
  if (problem !== undefined && kept?.issuer) return remake(now, memory, kept, settings, problem, problem);
  const write = rewrite(now, remains, use, settings, problem);
  return { use: use ?? kept, write, nextAt: nextAt(use, settings), problem };
}

/** Why a Secret of another party is not used. */
export const FOREIGN = "the Secret is not one of this operator";

/** Writes down what this process has in memory, or makes everything anew. */
function remake(
  now: number,
  memory: Remains | undefined,
  kept: Usable | undefined,
  settings: CertificateSettings,
  why: string,
  problem: string | undefined,
): CertificatePlan {
  if (memory && kept?.issuer) {
    const { issuer, staged, retired, leaf } = kept;
    const due = rewrite(now, memory, kept, settings, undefined);
    const write = due ? { ...due, why } : { why, issuer, staged, retired, leaf };
    return { use: kept, write, nextAt: nextAt(kept, settings), problem };
  }
  const write: Rewrite = { why, issuer: "new", staged: undefined, retired: [], leaf: { names: settings.names } };
  return { use: kept, write, nextAt: nextAt(kept, settings), problem };
}

/** What of a Secret can be served with: a certificate that is not over, signed by an authority that is in the bundle. */
export function usable(now: number, remains: Remains): Usable | undefined {
  const { leaf, issuer, staged, retired, unexplained } = remains;
  if (!leaf || leaf.notAfter <= now) return undefined;
  const believed = [
    ...(issuer ? [issuer] : []),
    ...(staged ? [staged] : []),
    ...retired.filter(({ until }) => until > now),
    ...unexplained,
  ].filter(({ notAfter }) => notAfter > now);
  if (!believed.some((authority) => hasSigned(authority, leaf))) return undefined;
  const ends = [
    ...believed.map(({ notAfter }) => notAfter),
    ...retired.map(({ until }) => until).filter((until) => until > now),
  ];
  const caBundle = believed.map(({ pem }) => pem).join("");
  return { leaf, issuer, staged, retired, caBundle, bundleUntil: Math.min(...ends) };
}

function rewrite(
  now: number,
  remains: Remains,
  use: Usable | undefined,
  settings: CertificateSettings,
  damage: string | undefined,
): Rewrite | undefined {
  const issuer = remains.issuer && remains.issuer.notAfter > now ? remains.issuer : undefined;
  const trouble = leafTrouble(now, use, settings);
  const why = damage ?? (issuer ? undefined : "the authority is over") ?? trouble;
  if (why === undefined) return undefined;
  const retired = stillBelieved(now, remains, settings);
  if (!issuer) {
    const { staged } = remains;
    // A successor that is known already is better than one that no API server has heard of.
    const next = staged && staged.notAfter > now ? staged : "new";
    // A certificate that is believed stays for as long as it can: what a new authority signs is not believed yet.
    const stays = use && missingNames(use, settings).length === 0 && use.leaf.notAfter - now > settings.settledMs;
    return {
      why,
      issuer: next,
      staged: undefined,
      retired: bury(remains.issuer, now, retired, settings),
      leaf: stays ? use.leaf : fresh(use, settings),
    };
  }
  const stays = trouble === undefined ? use?.leaf : undefined;
  const promoted = stays ? undefined : promotable(now, issuer, remains.staged, settings);
  const signs = promoted ?? issuer;
  const staged = promoted ? undefined : remains.staged;
  return {
    why,
    issuer: signs,
    staged: staged ?? (isAgeing(now, signs, settings) ? "new" : undefined),
    retired: promoted ? bury(issuer, now, retired, settings) : retired,
    leaf: stays ?? fresh(use, settings),
  };
}

/** What speaks against the certificate. */
function leafTrouble(now: number, use: Usable | undefined, settings: CertificateSettings): string | undefined {
  if (!use) return "there is no certificate that can be served with";
  const missing = missingNames(use, settings);
  if (missing.length > 0) return `the certificate is not for ${missing.join(", ")}`;
  return now >= dueAt(use, settings) ? "two thirds of the certificate's life are over" : undefined;
}

function missingNames({ leaf }: Usable, { names }: CertificateSettings): string[] {
  return names.filter((name) => !isFor(leaf, name));
}

/**
 * When the certificate is to be renewed. Where its authority was lost and another one took its place, that one signs when
 * API servers have had the time to hear of it, or at the last moment.
 */
function dueAt({ leaf, issuer }: Usable, { backdatedMs, settledMs }: CertificateSettings): number {
  const usual = renewAt(leaf);
  if (!issuer || hasSigned(issuer, leaf)) return usual;
  const believedAt = issuer.notBefore + backdatedMs + settledMs;
  return Math.max(usual, Math.min(believedAt, leaf.notAfter - settledMs));
}

/**
 * Names of a certificate that is good otherwise stay: while a new version of an operator takes the place of an old one,
 * replicas of both look at one Secret, and shall not take each other's names away.
 */
function fresh(use: Usable | undefined, settings: CertificateSettings): { readonly names: readonly string[] } {
  const { names } = settings;
  if (!use || missingNames(use, settings).length === 0) return { names };
  return { names: [...new Set([...names, ...namesOf(use.leaf)])] };
}

/** The successor, if it was announced long enough ago, or its predecessor cannot sign anything that lasts. */
function promotable(
  now: number,
  issuer: Keyed,
  staged: Keyed | undefined,
  { settledMs, backdatedMs }: CertificateSettings,
): Keyed | undefined {
  if (!staged || staged.notAfter <= now) return undefined;
  const announcedAt = staged.notBefore + backdatedMs;
  return now - announcedAt >= settledMs || issuer.notAfter - now < settledMs ? staged : undefined;
}

function isAgeing(now: number, authority: Keyed, { leafMs }: CertificateSettings): boolean {
  return now >= renewAt(authority) || authority.notAfter - now < 2 * leafMs;
}

/** Predecessors whose certificates may be in use. */
function stillBelieved(now: number, { retired, unexplained }: Remains, settings: CertificateSettings): Retired[] {
  const known = retired.filter(({ until, notAfter }) => until > now && notAfter > now);
  return unexplained.reduce((all, one) => bury(one, now, all, settings), known);
}

/** `authority` signs no more; the last that it signed is over after one life at most. */
function bury(
  authority: ReadCertificate | undefined,
  now: number,
  retired: Retired[],
  { leafMs }: CertificateSettings,
): Retired[] {
  if (!authority || authority.notAfter <= now) return retired;
  return [...retired, { ...authority, until: Math.min(authority.notAfter, now + leafMs) }];
}

/** When two thirds of a certificate's life are over. */
export function renewAt({ notBefore, notAfter }: ReadCertificate): number {
  return notBefore + (notAfter - notBefore) * RENEWED_AT;
}

function nextAt(use: Usable | undefined, settings: CertificateSettings): number {
  return use ? Math.min(dueAt(use, settings), use.bundleUntil) : Number.POSITIVE_INFINITY;
}
