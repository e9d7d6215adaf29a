import type { ApiObject } from "../../object.ts";
import { struct, text } from "../pod/index.ts";

const BLOCK = /-----BEGIN ([^-]*)-----/g;

/** What a reader of certificates says about a pair of texts that cannot be one. Keys and certificates that are there are not compared. */
export function secretWarnings({ type, data }: ApiObject): string[] {
  if (type !== "kubernetes.io/tls") return [];
  const [certificate, key] = ["tls.crt", "tls.key"].map((name) => blocks(text(struct(data)?.[name])));
  const complaint = certificateComplaint(certificate ?? []) ?? keyComplaint(key ?? []);
  return complaint === undefined ? [] : [complaint];
}

function blocks(base64: string): string[] {
  return [...atob(base64).matchAll(BLOCK)].map(([, name]) => String(name));
}

const isKey = (name: string): boolean => name === "PRIVATE KEY" || name.endsWith(" PRIVATE KEY");

function certificateComplaint(found: readonly string[]): string | undefined {
  if (found.includes("CERTIFICATE")) return undefined;
  if (found.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (found.length === 1 && String(found[0]).endsWith("PRIVATE KEY")) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${found.join(" ")}]`;
}

function keyComplaint(found: readonly string[]): string | undefined {
  if (found.some(isKey)) return undefined;
  if (found.length === 0) return "tls: failed to find any PEM data in key input";
  if (found.length === 1 && found[0] === "CERTIFICATE") {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${found.join(" ")}]`;
}
