/** Manifests put into a cluster as `kubectl apply` would do it, with errors that name the document and the field. */
import {
  type AnyObject,
  ApiError,
  type Client,
  type CustomResourceDefinition,
  type KubeBody,
  KubeError,
  KubeObject,
  loadManifests,
} from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import { titleOf } from "./rows.ts";

/** What can be applied: YAML or JSON text of any number of documents, one object, or several. */
export type Applicable = string | KubeBody | AnyObject | readonly (KubeBody | AnyObject)[];

/** Who is said to have written what tests apply. */
const MANAGER = "kubectl";

/**
 * Applies all of it in its order, each document in the place where it stands: a definition is there before the objects of
 * its kind. Rejects with the number and the name of the first document that the server does not take, and with each field
 * that is wrong; unknown fields are.
 */
export async function applyAll(client: Client, input: Applicable): Promise<KubeObject[]> {
  const objects = await objectsOf(client, input);
  const applied: KubeObject[] = [];
  for (const [i, object] of objects.entries()) {
    const place =
      objects.length === 1 ? titleOf(object.body) : `document ${i + 1} of ${objects.length} (${titleOf(object.body)})`;
    applied.push(await applyOne(client, object, place));
  }
  return applied;
}

async function objectsOf(client: Client, input: Applicable): Promise<KubeObject[]> {
  if (typeof input === "string") {
    if (isFileName(input)) {
      throw new KubeError(`${JSON.stringify(input)} is no manifest`, {
        hint: `apply takes the text itself: await harness.apply(await readFile(${JSON.stringify(input)}, "utf8"))`,
      });
    }
    const objects = await loadManifests({ text: input, name: "the text to apply" }, { client });
    if (objects.length > 0) return objects;
    throw new KubeError("there is no document in the text to apply", { hint: "it begins with apiVersion: and kind:" });
  }
  const list = (Array.isArray(input) ? input : [input]) as readonly (KubeBody | AnyObject)[];
  return list.map((one) => (one instanceof KubeObject ? one : client.object(one as KubeBody)) as KubeObject);
}

function isFileName(text: string): boolean {
  return !text.includes("\n") && /\.(?:ya?ml|json)$/.test(text);
}

async function applyOne(client: Client, object: KubeObject, place: string): Promise<KubeObject> {
  try {
    if (object.body.metadata?.name === undefined) {
      // An apply is about a name; what asks for one is created, as `kubectl create` does.
      if (object.body.metadata?.generateName === undefined) {
        throw new KubeError("it has no metadata.name", { hint: "each object has a name, or a generateName" });
      }
      return await client.create(object, { fieldManager: MANAGER, fieldValidation: "Strict" });
    }
    const applied = await client.apply(object, { fieldManager: MANAGER, force: true, fieldValidation: "Strict" });
    if (applied.body.kind === "CustomResourceDefinition") {
      await (applied as unknown as CustomResourceDefinition).wait("condition=Established");
    }
    return applied;
  } catch (error) {
    throw new KubeError(`${place} cannot be applied: ${reasonOf(error)}`, {
      cause: error,
      ...(error instanceof KubeError && error.hint !== undefined && { hint: error.hint }),
    });
  }
}

/** Field by field where the server has said so. */
function reasonOf(error: unknown): string {
  const causes = error instanceof ApiError ? (error.details.causes ?? []) : [];
  const fields = causes.filter(({ field }) => field !== undefined && field !== "");
  if (fields.length === 0) return errorMessage(error);
  return fields.map(({ field, message }) => `${field}: ${message}`).join("; ");
}
