import { type ApiResponse, textResponse } from "../exchange.ts";

/** The Kubernetes release whose behaviour this server has. */
export const KUBERNETES_VERSION = "v1.36.3";

/** The answer to `/version`: the Kubernetes release that the server speaks as. */
export function versionDocument() {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${KUBERNETES_VERSION}+lotse`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "",
  };
}

const NO_CACHE = { "cache-control": "no-cache, private" };
const CHECKS: readonly string[] = ["ping", "log", "etcd"];

/** `/healthz` and its siblings: a word for machines, a list for people who ask for it. */
export function healthResponse(
  path: string,
  rest: readonly string[],
  query: URLSearchParams,
  ready: boolean,
): ApiResponse {
  if (rest.length > 0) {
    return rest.length === 1 && CHECKS.includes(rest[0] as string)
      ? textResponse(200, "ok", NO_CACHE)
      : textResponse(404, "404 page not found\n", NO_CACHE);
  }
  const failing = path === "readyz" && !ready;
  if (!failing && !query.has("verbose")) return textResponse(200, "ok", NO_CACHE);
  const lines = CHECKS.map((check) => `[+]${check} ok`);
  lines.push(failing ? "[-]shutdown failed: reason withheld" : "[+]shutdown ok");
  lines.push(`${path} check ${failing ? "failed" : "passed"}`, "");
  return textResponse(failing ? 500 : 200, lines.join("\n"));
}
