import {
  type ApiObject,
  type Endpoint,
  gvkOf,
  type Listing,
  StatusError,
  type WatchEvent,
} from "../../registry/index.ts";
import { type IncludeObject, TablePrinter } from "../table/table.ts";
import type { Negotiated } from "./negotiate.ts";
import { listMetadata } from "./object-text.ts";

/** One object in the form that the client accepts. */
export function transformObject(
  endpoint: Endpoint,
  object: ApiObject,
  negotiated: Negotiated,
  includeObject: IncludeObject,
  now: number,
): unknown {
  switch (negotiated.as) {
    case "object":
      return object;
    case "PartialObjectMetadataList":
      throw wrongTransform(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(endpoint, endpoint.resource.kind)})`,
      );
    case "PartialObjectMetadata":
      return partial(endpoint, object, negotiated.metaVersion);
    case "Table":
      return new TablePrinter(endpoint, negotiated.metaVersion, includeObject, now).table([object], {
        resourceVersion: object.metadata.resourceVersion,
      });
  }
}

/** A page of a collection in the form that the client accepts. */
export function transformList(
  endpoint: Endpoint,
  listing: Listing,
  negotiated: Negotiated,
  includeObject: IncludeObject,
  now: number,
): unknown {
  const metadata = listMetadata(listing);
  if (negotiated.as === "Table") {
    return new TablePrinter(endpoint, negotiated.metaVersion, includeObject, now).table(listing.items, metadata);
  }
  if (negotiated.as === "PartialObjectMetadataList") {
    const items = listing.items.map((item) => partial(endpoint, item, negotiated.metaVersion));
    return {
      kind: "PartialObjectMetadataList",
      apiVersion: `meta.k8s.io/${negotiated.metaVersion}`,
      metadata,
      items,
    };
  }
  const { apiVersion } = gvkOf(endpoint);
  const { listKind, custom } = endpoint.resource;
  if (negotiated.as === "PartialObjectMetadata") {
    throw wrongTransform(
      `you requested PartialObjectMetadata, but the requested object is a list (${goType(endpoint, listKind)})`,
    );
  }
  if (custom) {
    return { apiVersion, items: listing.items, kind: listKind, metadata: { continue: "", ...metadata } };
  }
  // Items of typed lists do not repeat their kind: the list's says it.
  const items = listing.items.map(({ kind: _, apiVersion: __, ...item }) => item);
  return { kind: listKind, apiVersion, metadata, items };
}

function wrongTransform(message: string): StatusError {
  return new StatusError({ code: 406, reason: "NotAcceptable", message });
}

/** The type of an object inside a real server, which its complaints name. */
function goType({ resource }: Endpoint, kind: string): string {
  if (resource.custom) return `*unstructured.Unstructured${kind === resource.listKind ? "List" : ""}`;
  return `*${resource.group === "" ? "core" : resource.group.split(".")[0]}.${kind}`;
}

/** Turns the objects of a watch's events; of tables only the first carries the columns. */
export function eventTransform(
  endpoint: Endpoint,
  negotiated: Negotiated,
  includeObject: IncludeObject,
  now: () => number,
): (event: WatchEvent) => unknown {
  let first = true;
  return (event) => {
    if (event.type === "ERROR") return event.object;
    const object = event.object as unknown as ApiObject;
    switch (negotiated.as) {
      case "object":
        return object;
      case "PartialObjectMetadata":
      case "PartialObjectMetadataList":
        return partial(endpoint, object, negotiated.metaVersion);
      case "Table": {
        const printer = new TablePrinter(endpoint, negotiated.metaVersion, includeObject, now());
        const rows = event.type === "BOOKMARK" ? [] : [object];
        const table = printer.table(rows, { resourceVersion: object.metadata.resourceVersion });
        if (first) first = false;
        else table.columnDefinitions = null;
        if (event.type === "BOOKMARK") table.rows = [printer.bookmarkRow(object)];
        return table;
      }
    }
  };
}

function partial(endpoint: Endpoint, object: ApiObject, version: string): Record<string, unknown> {
  const metadata = endpoint.version.codec.metaInOrder(object.metadata);
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}
