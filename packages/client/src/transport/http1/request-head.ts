/**
 * Requests as they go over the wire. Everything that becomes part of a head passes one of the checks here, and no text has
 * room for a line break: a name or a value can never become a second header, nor a second request.
 */

/** A header with one value, or one that comes several times. */
export type HeaderValue = string | readonly string[];

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^\/[\x21-\x7e\x80-\xff]*$/;

/** Where a message ends and what becomes of the connection is for the connection to say. */
const OWN: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade"],
]);
/** Without a body these say nothing about its length. */
const USUALLY_BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** Headers that are checked and written, to be sent again and again. */
export class HeaderBlock {
  /** Lines with their ends. */
  readonly text: string;
  /** In lower case. */
  readonly names: ReadonlySet<string>;

  constructor(headers: Readonly<Record<string, HeaderValue | undefined>>) {
    const names = new Set<string>();
    let text = "";
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) continue;
      names.add(name.toLowerCase());
      text += linesOf(name, value);
    }
    this.text = text;
    this.names = names;
  }
}

/** The lines of one header, checked. */
export function linesOf(name: string, value: HeaderValue): string {
  if (!NAME.test(name)) throw invalid(`"${name}" is no name of a header`, "ERR_INVALID_HTTP_TOKEN");
  if (OWN.has(name.toLowerCase())) {
    throw invalid(`the header ${name} is for the connection to set`, "ERR_HTTP_INVALID_HEADER_VALUE");
  }
  if (typeof value !== "string") return value.map((one) => linesOf(name, one)).join("");
  if (!VALUE.test(value)) throw invalid(`the header ${name} has a character that cannot be sent`, "ERR_INVALID_CHAR");
  return `${name}: ${value}\r\n`;
}

/** A head that is ready to be sent, as latin1. `headers` come from {@link HeaderBlock} and {@link linesOf}. */
export function requestHead(method: string, target: string, headers: string, bodyBytes: number | undefined): string {
  if (!NAME.test(method)) throw invalid(`"${method}" is no method`, "ERR_INVALID_HTTP_TOKEN");
  if (!TARGET.test(target)) {
    throw invalid("the path of the request has a character that has to be escaped", "ERR_UNESCAPED_CHARACTERS");
  }
  const line = `${method} ${target} HTTP/1.1\r\n${headers}`;
  if (bodyBytes !== undefined) return `${line}content-length: ${bodyBytes}\r\n\r\n`;
  return USUALLY_BODILESS.has(method) ? `${line}\r\n` : `${line}content-length: 0\r\n\r\n`;
}

function invalid(message: string, code: string): TypeError {
  return Object.assign(new TypeError(message), { code });
}
