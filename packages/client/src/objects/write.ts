/** The verbs that change something. */
import { type KindDescription, type KubeBody, pathOf } from "../kinds/index.ts";
import { NotFoundError, PATCH_MEDIA_TYPE } from "../transport/index.ts";
import type { ApplyOptions, CreateOptions, DeleteOptions, PatchOptions, ReplaceOptions } from "./options.ts";
import { forCreation, patchTypeOf, readDeleteOptions, readWriteQuery, requestPart } from "./requests.ts";
import type { Session } from "./session.ts";
import type { AnyObject } from "./view.ts";

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

export async function applyObject(session: Session, object: AnyObject, o: ApplyOptions): Promise<AnyObject> {
  const description = await session.describe(object);
  const namespace = session.namespaceFor(description, object, o);
  const manifest = object.toManifest() as KubeBody;
  if (o.subresource === "status") manifest.status = object.status;
  return session.write("apply", object, description, {
    ...requestPart(o),
    method: "PATCH",
    path: pathOf(description, { namespace, name: object.name, subresource: o.subresource }),
    query: { ...readWriteQuery(o, session.view.fieldManager), force: o.force },
    headers: { "content-type": PATCH_MEDIA_TYPE.apply },
    body: manifest,
  });
}

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
  const path = session.path(description, object.name, { namespace: session.namespaceFor(description, object, o) });
  try {
    const body = await session.json({ ...requestPart(o), method: "DELETE", path, body: readDeleteOptions(o) });
    if (!o.dryRun) session.tell(body, "delete", description);
    return true;
  } catch (error) {
    if (!(error instanceof NotFoundError && o.ignoreNotFound)) throw error;
    return false;
  }
}
