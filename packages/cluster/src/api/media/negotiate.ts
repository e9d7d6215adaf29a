import { StatusError } from "../../registry/index.ts";

/** The media type of protobuf in requests and answers. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** One entry of an Accept header. */
export interface Accepted {
  readonly type: string;
  readonly params: Readonly<Record<string, string>>;
}

/** The media types of an Accept header in their order; without a header everything is accepted. */
export function parseAccept(header: string | undefined): Accepted[] {
  if (header === undefined || header.trim() === "") return [{ type: "*/*", params: {} }];
  return header
    .split(",")
    .map(parseMediaType)
    .filter((entry) => entry.type !== "");
}

/** A media type with its parameters; quality values are parameters like any other, and the server does not look at them. */
export function parseMediaType(text: string): Accepted {
  const [type = "", ...rest] = text.split(";");
  const params: Record<string, string> = {};
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals > 0) params[part.slice(0, equals).trim().toLowerCase()] = part.slice(equals + 1).trim();
  }
  return { type: type.trim().toLowerCase(), params };
}

/** How an answer is written, and into what its objects are turned before. */
export interface Negotiated {
  readonly format: "json" | "yaml" | "protobuf";
  readonly as: "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** The version of `meta.k8s.io` for transforms. */
  readonly metaVersion: string;
}

/** What a client must accept one of, in the words that clients look for. */
export const REPRESENTATIONS: readonly string[] = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
];

/** Nothing that the client takes can be written; or the type can, but not in the form that it asks for. */
export function notAcceptable(header: string, document?: readonly string[]): StatusError {
  const known = parseAccept(header).some(({ type }) => formatOf(type) !== undefined);
  const streams = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
  return new StatusError({
    code: 406,
    reason: "NotAcceptable",
    ...(known
      ? { message: `only the following media types are accepted: ${REPRESENTATIONS.join(", ")}` }
      : {
          message: `406: Not Acceptable\n\nAvailable representations: ${(document ?? [...REPRESENTATIONS, ...streams]).join(", ")}`,
          details: {},
        }),
  });
}

const TRANSFORMS: ReadonlySet<string> = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);

/** Protobuf knows built-in kinds, and of all others their metadata. */
export type InProtobuf = "objects" | "metadata";

/** The first acceptable way to answer, or undefined: then nothing that the client takes can be made. */
export function negotiate(header: string | undefined, inProtobuf: InProtobuf = "metadata"): Negotiated | undefined {
  for (const { type, params } of parseAccept(header)) {
    const protobuf = type === PROTOBUF && hasProtobuf(params.as, inProtobuf);
    const format = protobuf ? "protobuf" : formatOf(type);
    if (format === undefined) continue;
    const transform = params.as;
    if (transform === undefined) return { format, as: "object", metaVersion: "v1" };
    const known = params.g === "meta.k8s.io" && (params.v === "v1" || params.v === "v1beta1");
    if (known && TRANSFORMS.has(transform)) {
      return { format, as: transform as Negotiated["as"], metaVersion: params.v as string };
    }
  }
  return undefined;
}

/** Tables have no form in protobuf. */
function hasProtobuf(transform: string | undefined, inProtobuf: InProtobuf): boolean {
  return transform === undefined ? inProtobuf === "objects" : transform !== "Table";
}

function formatOf(type: string): "json" | "yaml" | undefined {
  switch (type) {
    case "application/json":
    case "*/*":
      return "json";
    case "application/yaml":
      return "yaml";
    default:
      return undefined;
  }
}

/** Whether a document that is no object, as those of discovery are, can be written for the client. */
export function acceptsDocuments(header: string | undefined): boolean {
  return parseAccept(header).some(({ type }) => formatOf(type) !== undefined || REPRESENTATIONS.includes(type));
}

/** The version of aggregated discovery that the client asks for first, or "legacy", or undefined: nothing acceptable. */
export function negotiateDiscovery(header: string | undefined): "v2" | "legacy" | undefined {
  for (const { type, params } of parseAccept(header)) {
    if (formatOf(type) !== "json") continue;
    if (params.as === undefined) return "legacy";
    const aggregated = params.as === "APIGroupDiscoveryList" && params.g === "apidiscovery.k8s.io";
    if (aggregated && params.v === "v2") return params.v;
  }
  return undefined;
}
