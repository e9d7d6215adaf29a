import type { Documents } from "../answerers.ts";
import { type ApiRequest, type ApiResponse, textResponse } from "../exchange.ts";
import { objectResponse } from "../media/encode.ts";
import { notAcceptable, parseAccept } from "../media/negotiate.ts";
import { KUBERNETES_VERSION } from "./health.ts";

/** What the pages about the server tell. */
export interface ServerPages {
  /** When it started, in milliseconds, and what time it is now. */
  readonly started: number;
  readonly now: () => number;
  /** How it was started: names of flags and their values. */
  readonly flags: Readonly<Record<string, string>>;
}

const COMPONENT = "kube-apiserver";
const GROUP = "config.k8s.io";
const PATHS = ["/healthz", "/livez", "/readyz", "/version"];
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";

/** `/statusz` and `/flagz`: for people as text, for programs as an object of `config.k8s.io`. */
export function serverPages({ started, now, flags }: ServerPages): Documents {
  const version = KUBERNETES_VERSION.slice(1);
  const emulated = version.split(".").slice(0, 2).join(".");
  const uptimeSeconds = () => Math.max(0, Math.floor((now() - started) / 1_000));
  const startTime = new Date(started).toISOString().replace(/\.\d+Z$/, "Z");
  return new Map([
    [
      "/statusz",
      page("Statusz", {
        text: () => [
          "",
          `Started: ${new Date(started).toUTCString()}`,
          `Up: ${uptimeSeconds()}s`,
          "Go version: ",
          `Binary version: ${version}`,
          `Emulation version: ${emulated}`,
          `Paths: ${PATHS.join(" ")}`,
        ],
        object: () => ({
          startTime,
          uptimeSeconds: uptimeSeconds(),
          goVersion: "",
          binaryVersion: version,
          emulationVersion: emulated,
          paths: PATHS,
        }),
      }),
    ],
    [
      "/flagz",
      page("Flagz", {
        text: () =>
          Object.keys(flags)
            .sort()
            .map((name) => `${name}=${flags[name]}`),
        object: () => ({ flags }),
      }),
    ],
  ]);
}

interface Content {
  readonly text: () => readonly string[];
  readonly object: () => object;
}

const DEPRECATED: Readonly<Record<string, boolean>> = { v1alpha1: true, v1beta1: false };

function page(kind: "Statusz" | "Flagz", content: Content): (request: ApiRequest) => ApiResponse {
  return ({ headers: { accept } }) => {
    for (const { type, params } of parseAccept(accept)) {
      if (params.as === undefined && (type === "text/plain" || type === "*/*" || type === "text/*")) {
        const lines = ["", `${COMPONENT} ${kind.toLowerCase()}`, WARNING, ...content.text(), ""];
        return textResponse(200, lines.join("\n"));
      }
      const deprecated = Object.hasOwn(DEPRECATED, params.v ?? "") ? DEPRECATED[params.v ?? ""] : undefined;
      if (type !== "application/json" || params.as !== kind || params.g !== GROUP || deprecated === undefined) continue;
      const name = kind.toLowerCase();
      const warning = `299 - "This version of the ${name} endpoint is deprecated. Please use a newer version."`;
      const object = {
        kind,
        apiVersion: `${GROUP}/${params.v}`,
        metadata: { name: COMPONENT },
        ...content.object(),
      };
      return objectResponse(200, object, { pretty: false }, deprecated ? { warning } : {});
    }
    throw notAcceptable(accept ?? "", ["application/json", "application/yaml", "text/plain"]);
  };
}
