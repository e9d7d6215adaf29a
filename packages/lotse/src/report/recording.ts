/** What handlers asked the API server for while they were recorded, as needs of a Role. */
import type { RecordedRequest } from "./recorded-request.ts";

/** A right that a request needs, as a rule of a Role has it. */
export interface RequestedRight {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly by: string;
  readonly clusterWide: boolean;
}

const VERBS: Readonly<Record<string, readonly [collection: string, item: string]>> = {
  GET: ["list", "get"],
  HEAD: ["list", "get"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["deletecollection", "delete"],
};

/** What a request needs; undefined when it is about nothing that a rule names, such as discovery. */
export function needOf({ handler, method, path, watch, websocket }: RecordedRequest): RequestedRight | undefined {
  const parsed = parsePath(path);
  const verbs = VERBS[method];
  if (!parsed || !verbs) return undefined;
  const { group, plural, name, subresource, namespaced } = parsed;
  const verb = watch ? "watch" : verbs[name === undefined ? 0 : 1];
  return {
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    // Newer servers ask for `create` too when a WebSocket is opened.
    verbs: websocket ? ["create", verb] : [verb],
    by: `handler ${handler}`,
    clusterWide: !namespaced,
  };
}

/** `/apis/apps/v1/namespaces/default/deployments/web/scale` in its parts. */
function parsePath(path: string) {
  const words = path.split("?", 1)[0]?.split("/").filter(Boolean).map(decodeURIComponent) ?? [];
  const group = words[0] === "api" ? "" : words[0] === "apis" ? words[1] : undefined;
  if (group === undefined) return undefined;
  const rest = words.slice(group === "" ? 2 : 3);
  // `namespaces/default` alone is the namespace itself.
  const namespaced = rest[0] === "namespaces" && rest.length > 2 && !["status", "finalize"].includes(rest[2] ?? "");
  const [plural, name, subresource] = namespaced ? rest.slice(2) : rest;
  return plural === undefined ? undefined : { group, plural, name, subresource, namespaced };
}

/**
 * Keeps each different request once, as lines for a recording. What `before` has, of an earlier recording, is not written
 * again.
 *
 * @example
 * ```ts
 * const record = requestRecorder((line) => appendFileSync("operator.requests.jsonl", line));
 * operator.start({ client, record });
 * ```
 */
export function requestRecorder(
  write: (line: string) => void,
  before: readonly RecordedRequest[] = [],
): (request: RecordedRequest) => void {
  const known = new Set(before.map(sameness));
  return (request) => {
    const key = sameness(request);
    if (key === undefined || known.has(key)) return;
    known.add(key);
    const { handler, method, path, watch, websocket } = request;
    write(`${JSON.stringify({ handler, method, path, watch, websocket })}\n`);
  };
}

/** Two requests are the same when they need the same; undefined for one that needs nothing. */
function sameness(request: RecordedRequest): string | undefined {
  const need = needOf(request);
  return need && JSON.stringify([need.by, need.group, need.resource, need.verbs, need.clusterWide]);
}

/**
 * Reads a recording: one JSON object a line. Throws with the line's number when one is none.
 *
 * @example
 * ```ts
 * const requests = parseRecording(readFileSync("operator.requests.jsonl", "utf8"));
 * ```
 */
export function parseRecording(text: string): RecordedRequest[] {
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line) as RecordedRequest];
    } catch (cause) {
      throw new Error(`line ${i + 1} is not JSON`, { cause });
    }
  });
}
