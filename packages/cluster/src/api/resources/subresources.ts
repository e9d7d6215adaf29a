import { deepClone } from "@lotse/client/meta";
import { bindPod } from "../../kubelet/index.ts";
import {
  admitPosted,
  badRequest,
  conflict,
  methodNotAllowed,
  notFound,
  objectAt,
  StatusError,
  unknownResource,
  update,
  verbNotSupported,
} from "../../registry/index.ts";
import type { ApiResponse } from "../exchange.ts";
import { admitConnection } from "../pods/connect.ts";
import { handleEviction } from "../pods/eviction.ts";
import { handleCommand, handleForward, handleLog } from "../pods/pod-streams.ts";
import { handleProxy } from "../pods/proxy.ts";
import { writeOptions } from "./options.ts";
import {
  findObject,
  handlePatch,
  handleUpdate,
  type ResourceCall,
  readBody,
  respondObject,
  respondRaw,
} from "./resource-call.ts";
import { handleScale } from "./scale.ts";

/** Answers a request to a path below an object. */
export async function handleSubresource(call: ResourceCall, name: string): Promise<ApiResponse> {
  const known = call.target.endpoint.version.subresources.find((sub) => sub.name === name);
  const { resource } = call.target.endpoint;
  if (!known && resource.custom) throw notFound(resource, call.target.name ?? "");
  if (!known || call.target.name === undefined) throw unknownResource();
  // What is asked for is between the client and the program behind the proxy.
  if (name === "proxy" && resource.namespaced) return handleProxy(call);
  if (!known.verbs.includes(call.info.verb)) {
    throw resource.custom ? verbNotSupported(resource, call.info.verb) : methodNotAllowed();
  }
  switch (name) {
    case "status":
    case "approval":
    case "ephemeralcontainers":
    case "resize":
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
      await admitConnection(call, name);
      return handleCommand(call, name);
    case "portforward":
      await admitConnection(call, name);
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

/** Replaces what holds a namespace back. The last entry to go takes the namespace with it. */
async function handleFinalize(call: ResourceCall): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const body = await readBody(call);
  const options = writeOptions(request.query, "UpdateOptions", requester.defaultManager);
  const finalizers = objectAt(body.value, "spec").finalizers;
  const written = await update(backend, requester, target, options, {
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

/** `POST …/bindings`: the older way, which names the pod in the body. */
export async function handleBindings(call: ResourceCall): Promise<ApiResponse> {
  const body = await readBody(call);
  const endpoint = call.backend.catalog.find("", "v1", "pods");
  const { name } = objectAt(body.value, "metadata");
  if (!endpoint || typeof name !== "string" || name === "") throw badRequest("name must be provided");
  return bind({ ...call, target: { ...call.target, endpoint, name, subresource: "binding" } }, body.value);
}

/** Puts a pod on a node: what a scheduler does. */
async function handleBinding(call: ResourceCall): Promise<ApiResponse> {
  return bind(call, (await readBody(call)).value);
}

async function bind(call: ResourceCall, value: unknown): Promise<ApiResponse> {
  const { backend, requester, target, request } = call;
  const body = { value };
  const node = objectAt(body.value, "target").name;
  if (typeof node !== "string" || node === "") {
    throw new StatusError({ code: 500, message: "target.name: Required value" });
  }
  const options = writeOptions(request.query, "CreateOptions", requester.defaultManager);
  const metadata = { ...objectAt(value, "metadata"), namespace: target.namespace };
  await admitPosted(backend, requester, target, {
    operation: "CREATE",
    object: { ...objectAt({ value }, "value"), kind: "Binding", apiVersion: "v1", metadata },
    dryRun: options.dryRun,
    options: options.given ?? {},
  });
  await update(
    backend,
    requester,
    target,
    { ...options, admitted: true },
    {
      by: "patch",
      // Where a pod runs is no manager's field: schedulers come and go.
      tracked: true,
      next: (current) => {
        const { nodeName } = objectAt(current, "spec");
        if (!nodeName) return deepClone(bindPod(current, node, backend.clock.now()));
        const { name } = current.metadata;
        const text = `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
        throw conflict({ group: "", plural: "pods/binding" }, name, text);
      },
    },
  );
  return respondRaw(call, 201, success());
}

function success() {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}
