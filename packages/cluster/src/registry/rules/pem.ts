/** What Go's reader of PEM says about certificates, without reading more of them than their frame. */

const BLOCK = /-----BEGIN ([^\n]*?)-----[ \t\r]*\n([\s\S]*?)-----END \1-----[ \t\r]*(?:\n|$)/;
const HEADER = /^[^\n:]*:.*\n/;
const SEQUENCE = 0x30;

/** What is wrong with a text that should be certificates and nothing else, if anything is. */
export function certificateComplaint(pem: string): string | undefined {
  let rest = pem;
  for (let blocks = 0; ; blocks++) {
    const found = BLOCK.exec(rest);
    if (!found) return blocks === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
    const [whole, type = "", body = ""] = found;
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (HEADER.test(body)) return "no PEM block headers are permitted";
    const wrong = frameComplaint(body.replaceAll(/\s/g, ""));
    if (wrong !== undefined) return wrong;
    rest = rest.slice(found.index + whole.length);
  }
}

/** A block has whole values one after the other, each of them a sequence. */
function frameComplaint(base64: string): string | undefined {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
  for (let at = 0; at < bytes.length; ) {
    const end = bytes[at] === SEQUENCE ? endOf(bytes, at + 1) : undefined;
    if (end === undefined || end > bytes.length) return "x509: malformed certificate";
    at = end;
  }
  return undefined;
}

/** Where the value ends whose length is told at `at`. */
function endOf(bytes: Uint8Array, at: number): number | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first < 0x80) return at + 1 + first;
  const count = first & 0x7f;
  if (count === 0 || count > 4 || at + count >= bytes.length) return undefined;
  const length = bytes.subarray(at + 1, at + 1 + count).reduce((sum, byte) => sum * 256 + byte, 0);
  return at + 1 + count + length;
}
