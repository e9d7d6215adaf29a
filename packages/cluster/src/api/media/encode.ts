import type { ApiRequest, BytesResponse, Headers, WholeResponse } from "../exchange.ts";
import { isTrue } from "../request-info.ts";
import { PROTOBUF } from "./negotiate.ts";

/** How answers to one request are written. */
export interface Writing {
  readonly pretty: boolean;
}

/** People with curl or a browser get indented JSON without asking. */
export function wantsPretty(request: ApiRequest): boolean {
  const asked = request.query.get("pretty");
  if (asked !== null) return isTrue(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers["user-agent"] ?? "");
}

/** A value as JSON in the layout that the client asked for, byte for byte as a real server writes it. */
export function encode(value: unknown, writing: Writing): string {
  return writing.pretty ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`;
}

/** An answer whose JSON is there already. */
export function textualResponse(status: number, body: string): WholeResponse {
  const headers = { "content-type": "application/json", "cache-control": "no-cache, private" };
  return { type: "whole", status, headers, body };
}

/** An answer with an object as JSON. */
export function objectResponse(status: number, value: unknown, writing: Writing, headers: Headers = {}): WholeResponse {
  return {
    type: "whole",
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      ...headers,
    },
    body: encode(value, writing),
  };
}

/** The few that take YAML pay for its writer. */
export async function yamlResponse(status: number, value: unknown, headers: Headers = {}): Promise<WholeResponse> {
  const { writeYaml } = await import("../yaml/yaml-write.ts");
  const type = { "content-type": "application/yaml", "cache-control": "no-cache, private" };
  return { type: "whole", status, headers: { ...type, ...headers }, body: writeYaml(value) };
}

/** An answer whose bytes are there already. */
export function protobufResponse(status: number, body: Uint8Array, headers: Headers = {}): BytesResponse {
  const type = { "content-type": PROTOBUF, "cache-control": "no-cache, private" };
  return { type: "whole", status, headers: { ...type, ...headers }, body };
}

const WARNINGS_LIMIT = 4 * 1_024;
const SHORTENED = 256;

/** Things to tell a client besides the answer: each once, and not more than a header can hold. */
export class Warnings {
  readonly #texts = new Set<string>();

  readonly add = (text: string): void => {
    this.#texts.add(text);
  };

  header(): string[] {
    const texts = [...this.#texts].map((text) => [...text]);
    const isMuch = texts.reduce((sum, { length }) => sum + length, 0) > WARNINGS_LIMIT;
    const values: string[] = [];
    let size = 0;
    for (const letters of texts) {
      // Where all do not fit, each gets shorter before any is left out.
      if (isMuch && size >= WARNINGS_LIMIT) break;
      const text = (isMuch ? letters.slice(0, SHORTENED) : letters).join("");
      size += Math.min(letters.length, isMuch ? SHORTENED : letters.length);
      // Line breaks would end the header; a real server turns them into blanks, too.
      const clean = text.replace(/[\s\p{Cc}]*\p{Cc}[\s\p{Cc}]*/gu, " ").replace(/["\\]/g, "\\$&");
      values.push(`299 - "${clean}"`);
    }
    return values;
  }
}
