/** Texts between `-----BEGIN …-----` and `-----END …-----`. */

/** One of them. */
export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`, … */
  readonly label: string;
  /** All of it, with both lines and a line end behind. */
  readonly text: string;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s[A-Za-z0-9+/=\s]*?-----END \1-----/g;

/**
 * The blocks of a text, in their order; whatever stands between them is left out, as all readers of PEM do.
 *
 * @example
 * ```ts
 * const certificates = readPem(readFileSync("ca.pem", "utf8")).filter(({ label }) => label === "CERTIFICATE");
 * ```
 */
export function readPem(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map(([whole, label = ""]) => ({ label, text: `${whole}\n` }));
}

/** `der` as a block. */
export function writePem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
