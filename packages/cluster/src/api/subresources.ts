import { deepClone } from "@lotse/client/meta";
import { bindPod } from "../kubelet/index.ts";
import {
  type ApiObject,
  badRequest,
  compilePatch,
  methodNotAllowed,
  notFound,
  objectAt,
  toScale,
  unknownResource,
  unsupportedMediaType,
  update,
  verbNotSupported,
  withScale,
} from "../registry/index.ts";
import { handleEviction } from "./eviction.ts";
import type { ApiResponse } from "./exchange.ts";
import { patchOptions, writeOptions } from "./options.ts";
import { handleCommand, handleForward, handleLog } from "./pod-streams.ts";
import {
  findObject,
  handlePatch,
  handleUpdate,
  type ResourceCall,
  readBody,
  readPatch,
  respondObject,
  respondRaw,
} from "./resource-call.ts";

/** Answers a request to a path below an object. */
export async function handleSubresource(call: ResourceCall, name: string): Promise<ApiResponse> {
  const known = call.target.endpoint.version.subresources.find((sub) => sub.name === name);
  const { resource } = call.target.endpoint;
  if (!known && resource.custom) throw notFound(resource, call.target.name ?? "");
  if (!known || call.target.name === undefined) throw unknownResource();
  if (!known.verbs.includes(call.info.verb)) {
    throw resource.custom ? verbNotSupported(resource, call.info.verb) : methodNotAllowed();
  }
  switch (name) {
    case "status":
    case "approval":
      return handleStatus(call);
    case "scale":
      return handleScale(call);
    case "finalize":
      return handleFinalize(call);
    case "binding":
      return handleBinding(call);
    case "eviction":
      return handleEviction(call);
    case "log":
      return handleLog(call);
    case "exec":
    case "attach":
      return handleCommand(call, name);
    case "portforward":
      return handleForward(call);
    default:
      throw unknownResource();
  }
}

async function handleStatus(call: ResourceCall): Promise<ApiResponse> {
  switch (call.info.verb) {
    case "get":
      return respondObject(call, 200, findObject(call));
    case "update":
      return handleUpdate(call);
    default:
      return handlePatch(call);
  }
}

async function handleScale(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request, info } = call;
  const { endpoint } = target;
  if (info.verb === "get") return respondRaw(call, 200, toScale(endpoint, findObject(call), true));
  if (info.verb === "update") {
    const body = await readBody(call);
    const options = writeOptions(request.query, "UpdateOptions", scope.defaultManager);
    const written = await update(backend, scope, target, options, {
      by: "put",
      tracked: false,
      next: (current) => withScale(endpoint, current, body.value),
    });
    return respondRaw(call, 200, toScale(endpoint, written.object, false));
  }
  const { type, body } = await readPatch(call);
  const options = patchOptions(request.query, type, scope.defaultManager);
  const written = await update(backend, scope, target, options, {
    by: "patch",
    tracked: false,
    next: (current) => {
      const shown = toScale(endpoint, current, false) as unknown as ApiObject;
      if (type === "apply") return withScale(endpoint, current, body.value);
      if (type === "strategic" && endpoint.resource.custom)
        throw unsupportedMediaType([
          "application/json-patch+json",
          "application/merge-patch+json",
          "application/apply-patch+yaml",
        ]);
      // A Scale has no lists, so that merging it is the same whichever way the patch is meant.
      return withScale(
        endpoint,
        current,
        compilePatch(target, type === "strategic" ? "merge" : type, body.value)(shown),
      );
    },
  });
  return respondRaw(call, 200, toScale(endpoint, written.object, false));
}

/** Replaces what holds a namespace back. The last entry to go takes the namespace with it. */
async function handleFinalize(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const body = await readBody(call);
  const options = writeOptions(request.query, "UpdateOptions", scope.defaultManager);
  const finalizers = objectAt(body.value, "spec").finalizers;
  const written = await update(backend, scope, target, options, {
    by: "put",
    tracked: false,
    next: (current) => {
      const object = deepClone(current);
      const wanted = objectAt(body.value, "metadata").resourceVersion;
      object.metadata.resourceVersion = typeof wanted === "string" ? wanted : "";
      const spec = { ...objectAt(object, "spec") };
      if (Array.isArray(finalizers) && finalizers.length > 0) spec.finalizers = finalizers;
      else delete spec.finalizers;
      object.spec = spec;
      return object;
    },
  });
  return respondObject(call, 200, written.object);
}

/** Puts a pod on a node: what a scheduler does. */
async function handleBinding(call: ResourceCall): Promise<ApiResponse> {
  const { backend, scope, target, request } = call;
  const body = await readBody(call);
  const node = objectAt(body.value, "target").name;
  if (typeof node !== "string" || node === "") throw badRequest("a binding needs target.name");
  const options = writeOptions(request.query, "CreateOptions", scope.defaultManager);
  await update(backend, scope, target, options, {
    by: "patch",
    tracked: false,
    next: (current) => {
      const { nodeName } = objectAt(current, "spec");
      if (!nodeName) return deepClone(bindPod(current, node, backend.clock.now()));
      throw badRequest(`pod ${current.metadata.name} is already assigned to node ${JSON.stringify(nodeName)}`);
    },
  });
  return respondRaw(call, 201, success());
}

function success() {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}
