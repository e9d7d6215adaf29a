import {
  type ApiObject,
  compilePatch,
  customPatchTypes,
  decodeScale,
  gvkOf,
  hasReplicas,
  objectAt,
  patch,
  type Scale,
  toScale,
  unsupportedMediaType,
  update,
  withScale,
} from "../../registry/index.ts";
import type { ApiResponse } from "../exchange.ts";
import { ageCell } from "../table/age.ts";
import { patchOptions, writeOptions } from "./options.ts";
import { findObject, type ResourceCall, readBody, readPatch, respondRaw } from "./resource-call.ts";

/** `…/scale`: the replicas of anything, in a form of their own. */
export async function handleScale(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request, info } = call;
  const { endpoint } = target;
  if (info.verb === "get") return respondScale(call, toScale(endpoint, findObject(call), true));
  if (info.verb === "update") {
    const body = await readBody(call);
    const options = writeOptions(request.query, "UpdateOptions", requester.defaultManager);
    const scale = decodeScale(target, body, options.fieldValidation, requester);
    const written = await update(backend, requester, target, options, {
      by: "put",
      tracked: false,
      next: (current) => withScale(endpoint, current, scale),
    });
    return respondScale(call, toScale(endpoint, written.object, false));
  }
  // A manager that gives replicas to an object that had none does not come to own them.
  const bare = endpoint.resource.custom && !hasReplicas(endpoint, findObject(call));
  const { type, body } = await readPatch(call);
  const options = patchOptions(request.query, type, requester.defaultManager);
  if (type === "strategic" && endpoint.resource.custom) throw unsupportedMediaType(customPatchTypes());
  if (type === "apply") {
    // A manager that applies a Scale applies one field of the object behind it.
    const scale = decodeScale(target, body, options.fieldValidation, requester);
    const value = { ...gvkOf(endpoint), metadata: nameOf(scale), ...replicasOf(call, scale) };
    const applied = await patch(backend, requester, target, "apply", { ...body, value }, options);
    return respondScale(call, toScale(endpoint, applied.object, false));
  }
  const written = await update(backend, requester, target, options, {
    by: "patch",
    tracked: bare,
    next: (current) => {
      const shown = toScale(endpoint, current, false) as unknown as ApiObject;
      // A Scale has no lists, so that merging it is the same whichever way the patch is meant.
      const patched = compilePatch(target, type === "strategic" ? "merge" : type, body.value)(shown);
      return withScale(
        endpoint,
        current,
        decodeScale(target, { ...body, value: patched }, options.fieldValidation, requester, true),
      );
    },
  });
  return respondScale(call, toScale(endpoint, written.object, false));
}

function nameOf(scale: Record<string, unknown>): Record<string, unknown> {
  const { name, resourceVersion, uid } = objectAt(scale, "metadata");
  return {
    ...(name === undefined ? {} : { name }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** The replicas of a Scale at the place where the kind keeps them. */
function replicasOf({ target }: ResourceCall, scale: Record<string, unknown>): Record<string, unknown> {
  const keys = (target.endpoint.version.scale?.spec ?? "spec.replicas").split(".");
  const replicas: unknown = objectAt(scale, "spec").replicas ?? 0;
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), replicas) as Record<string, unknown>;
}

function respondScale(call: ResourceCall, scale: Scale): Promise<ApiResponse> {
  const { as, metaVersion } = call.negotiated;
  if (as !== "Table") return respondRaw(call, 200, scale);
  const { name, creationTimestamp, resourceVersion } = scale.metadata;
  const column = (title: string, type: string) => ({ name: title, type, format: "", description: "", priority: 0 });
  const cells = [
    name,
    scale.spec.replicas ?? 0,
    scale.status.replicas,
    ageCell(creationTimestamp, call.backend.clock.now()),
  ];
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  return respondRaw(call, 200, {
    kind: "Table",
    apiVersion,
    metadata: { resourceVersion },
    columnDefinitions: [
      column("Name", "string"),
      column("Desired", "integer"),
      column("Available", "integer"),
      column("Age", "string"),
    ],
    rows: [{ cells, object: { kind: "PartialObjectMetadata", apiVersion, metadata: scale.metadata } }],
  });
}
