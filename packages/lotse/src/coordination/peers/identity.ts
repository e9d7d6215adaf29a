/** Who a peer is, by Kopf's rules. */
import os from "node:os";

/** What an identity is made of. */
export interface IdentityParts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly random: () => number;
  readonly person?: string | undefined;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/**
 * The identity of an operator's process: `POD_ID`, which Kopf's deployments set, or `POD_NAME`, which those of Lotse do;
 * elsewhere who runs it, since when, and something random.
 */
export function peerIdentity({ environment, now, random, person }: IdentityParts): string {
  const pod = environment.POD_ID || environment.POD_NAME;
  if (pod) return pod;
  const since = new Date(now).toISOString().replaceAll(/\D/g, "").slice(0, 14);
  return `${person ?? personIdentity(environment)}/${since}/${randomText(3, random)}`;
}

/** The identity of a person at a shell, the same in every command: `user@host`. */
export function personIdentity(
  environment: Readonly<Record<string, string | undefined>>,
  { user, host }: { readonly user: () => string; readonly host: () => string } = system,
): string {
  const { LOGNAME, USER, USERNAME } = environment;
  return `${LOGNAME || USER || USERNAME || user()}@${host()}`;
}

const system = {
  /** A container's user may have no name. */
  user: () => {
    try {
      return os.userInfo().username;
    } catch {
      return `uid-${process.getuid?.() ?? "unknown"}`;
    }
  },
  host: () => os.hostname(),
};

/** So many random letters and digits. */
export function randomText(length: number, random: () => number): string {
  return Array.from({ length }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join("");
}
