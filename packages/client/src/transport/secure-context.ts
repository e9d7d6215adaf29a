import type { SecureContext } from "node:tls";
import { type AccessOrigin, AuthError, type TlsMaterial } from "../config/index.ts";

/** Certificates, read once and not again for each connection. `origin` is for the person who has to correct them. */
export async function secureContextOf(
  { ca, cert, key }: TlsMaterial,
  origin: AccessOrigin | undefined,
): Promise<SecureContext> {
  const { createSecureContext } = await import("node:tls");
  try {
    return createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (cause) {
    const user = origin?.user === undefined ? "" : ` of the user "${origin.user}"`;
    const place = origin === undefined ? "" : ` in ${origin.files}`;
    throw new AuthError(`the certificates${user}${place} cannot be used: ${(cause as Error).message}`, {
      cause,
      hint: "client-certificate and client-key have to be a pair, and all of them PEM",
    });
  }
}
