/** The verbs that change something. */
import { type KindDescription, type KubeBody, pathOf } from "../kinds/index.ts";
import { NotFoundError, PATCH_MEDIA_TYPE } from "../transport/index.ts";
import type { AnyObject } from "./object.ts";
import type { ApplyOptions, CreateOptions, DeleteOptions, PatchOptions, ReplaceOptions } from "./options.ts";
import { forCreation, patchTypeOf, readDeleteOptions, readWriteQuery, requestPart } from "./requests.ts";
import type { Session } from "./session.ts";

/**
 * The version of an empty cluster, which no object has: an apply that asks for it fails wherever there is an object, and
 * creates one where there is none.
 */
const NO_VERSION = "1";

/** `client.create` of one object. */
export async function createObject(session: Session, object: AnyObject, o: CreateOptions): Promise<AnyObject> {
  const description = await session.describe(object);
  const path = pathOf(description, { namespace: session.namespaceFor(description, object, o) });
  return session.write("create", object, description, {
    ...requestPart(o),
    method: "POST",
    path,
    query: readWriteQuery(o, session.view.fieldManager),
    body: forCreation(object.body),
  });
}

/** `client.apply` of one object: sends what its author wrote, and nothing of what the API server added. */
export async function applyObject(session: Session, object: AnyObject, o: ApplyOptions): Promise<AnyObject> {
  const description = await session.describe(object);
  const namespace = session.namespaceFor(description, object, o);
  const manifest = object.toManifest() as KubeBody;
  if (o.subresource === "status") manifest.status = object.status;
  if (o.uid !== undefined) manifest.metadata = { ...manifest.metadata, uid: o.uid };
  if (o.absent) manifest.metadata = { ...manifest.metadata, resourceVersion: NO_VERSION };
  return session.write("apply", object, description, {
    ...requestPart(o),
    method: "PATCH",
    path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
    query: { ...readWriteQuery(o, session.view.fieldManager), force: o.force },
    headers: { "content-type": PATCH_MEDIA_TYPE.apply },
    body: manifest,
  });
}

/** `client.patch`: the kind of patch follows from its form, unless the options name it. */
export async function patchObject(
  session: Session,
  object: AnyObject,
  description: KindDescription,
  patch: object,
  o: PatchOptions,
): Promise<AnyObject> {
  const namespace = session.namespaceFor(description, object, o);
  return session.write("patch", object, description, {
    ...requestPart(o),
    method: "PATCH",
    path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
    query: readWriteQuery(o, session.view.fieldManager),
    headers: { "content-type": PATCH_MEDIA_TYPE[patchTypeOf(patch, o)] },
    body: patch,
  });
}

/** `client.replace`: sends the whole body with the version that it has. */
export async function replaceObject(session: Session, object: AnyObject, o: ReplaceOptions): Promise<AnyObject> {
  const description = await session.describe(object);
  const namespace = session.namespaceFor(description, object, o);
  return session.write("replace", object, description, {
    ...requestPart(o),
    method: "PUT",
    path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
    query: readWriteQuery(o, session.view.fieldManager),
    body: object.body,
  });
}

/** Whether there was something to delete. */
export async function deleteObject(session: Session, object: AnyObject, o: DeleteOptions): Promise<boolean> {
  const description = await session.describe(object);
  const namespace = session.namespaceFor(description, object, o);
  const path = session.path(description, object.name, { namespace });
  try {
    const body = await session.json({ ...requestPart(o), method: "DELETE", path, body: readDeleteOptions(o) });
    if (!o.dryRun) session.tell(deletedBody(body, object, namespace), "delete", description);
    return true;
  } catch (error) {
    if (!(error instanceof NotFoundError && o.ignoreNotFound)) throw error;
    return false;
  }
}

/** What became of a deleted object: itself where it is still there, else who it was, out of the server's note. */
function deletedBody(answer: KubeBody, object: AnyObject, namespace: string | undefined): KubeBody {
  if (answer.kind !== "Status") return answer;
  const { details } = answer as { details?: { uid?: string } };
  const { apiVersion, kind } = object.body;
  const where = namespace === undefined ? {} : { namespace };
  const uid = details?.uid ?? object.uid;
  return { apiVersion, kind, metadata: { name: object.name, ...where, ...(uid !== undefined && { uid }) } } as KubeBody;
}
