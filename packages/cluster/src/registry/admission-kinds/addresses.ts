import { type FieldError, invalidValue, required } from "../fields.ts";

/** The parts of an address that a webhook may have, and those that it may not. */
interface Address {
  readonly scheme: string;
  readonly host: string;
  /** Absent where no user is named, and not where the name is empty. */
  readonly user?: string;
  readonly query: string;
  readonly fragment: string;
}

const FORM = "; desired format: https://host[/path]";

/** What is wrong with the address of a webhook. */
export function addressErrors(text: string, field: string): FieldError[] {
  const parsed = parseAddress(text);
  if (typeof parsed === "string") return [required(field, `url must be a valid URL: ${parsed}${FORM}`)];
  const { scheme, host, user, query, fragment } = parsed;
  const errors: FieldError[] = [];
  if (scheme !== "https") errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === "") errors.push(invalidValue(field, host, `host must be specified${FORM}`));
  if (user !== undefined) errors.push(invalidValue(field, user, "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalidValue(field, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalidValue(field, query, "query parameters are not permitted in the URL"));
  return errors;
}

/** The parts of an address, or why it is none in the words of the server's parser. */
function parseAddress(text: string): Address | string {
  const [before, fragment] = cut(text, "#");
  const wrong = (what: string, quoted = before): string => `parse ${JSON.stringify(quoted)}: ${what}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  if (/[\x00-\x1f\x7f]/.test(before)) return wrong("net/url: invalid control character in URL");
  if (before.startsWith(":")) return wrong("missing protocol scheme");
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(before)?.[1] ?? "";
  const [rest, query] = cut(scheme === "" ? before : before.slice(scheme.length + 1), "?");
  const parts = { scheme: scheme.toLowerCase(), query, fragment };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...parts, host: "" };
    if (cut(rest, "/")[0].includes(":")) return wrong("first path segment in URL cannot contain colon");
  }
  const authority = /^\/\/([^/]*)/.exec(scheme === "" && rest.startsWith("///") ? "" : rest)?.[1];
  const at = authority?.lastIndexOf("@") ?? -1;
  const host = authority?.slice(at + 1) ?? "";
  const user = at < 0 ? undefined : authority?.slice(0, at);
  const path = authority === undefined ? rest : rest.slice(authority.length + 2);
  const complaint = hostComplaint(host) ?? userComplaint(user) ?? escapeComplaint(path);
  if (complaint !== undefined) return wrong(complaint);
  const inFragment = escapeComplaint(fragment);
  if (inFragment !== undefined) return wrong(inFragment, text);
  return { ...parts, host, ...(user === undefined ? {} : { user }) };
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const PORT = /^(:[0-9]*)?$/;
const HOST_CHARACTERS = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/;

function hostComplaint(host: string): string | undefined {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) return "invalid IP-literal";
  if (bracket === 0 && !host.includes("]")) return "missing ']' in host";
  const port = bracket === 0 ? host.slice(host.lastIndexOf("]") + 1) : (/:.*$/s.exec(host)?.[0] ?? "");
  if (!PORT.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const character = HOST_CHARACTERS.exec(host)?.[0];
  const sequence = /%(?![89a-fA-F][0-9a-fA-F]|25).{0,2}/s.exec(host);
  // The parser reads from the left: what comes first is told.
  if (character !== undefined && (sequence === null || host.indexOf(character) < sequence.index)) {
    return `invalid character ${JSON.stringify(character)} in host name`;
  }
  return sequence === null ? undefined : `invalid URL escape ${JSON.stringify(sequence[0])}`;
}

function userComplaint(user: string | undefined): string | undefined {
  if (user === undefined) return undefined;
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeComplaint(user) : "net/url: invalid userinfo";
}

/** An sequence is a percent sign and two digits of base 16. */
function escapeComplaint(text: string): string | undefined {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text);
  return wrong === null ? undefined : `invalid URL escape ${JSON.stringify(wrong[0])}`;
}
