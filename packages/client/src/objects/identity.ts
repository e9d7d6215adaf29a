import { apiVersionOf, describeKind, type KindDescription, type ObjectBody, parseApiVersion } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";

/** Objects out of lists carry neither `apiVersion` nor `kind`; the caller's value must stay as it is. */
export function named<B extends ObjectBody>(body: B, description: KindDescription | undefined): B {
  if (!description || (body.apiVersion !== undefined && body.kind !== undefined)) return body;
  return { apiVersion: apiVersionOf(description), kind: description.kind, ...body };
}

/** The kind by `apiVersion` and `kind` alone: the plural is an English one, and it is namespaced. */
export function guessKind(body: ObjectBody): KindDescription {
  if (!body.apiVersion || !body.kind) {
    throw new ConfigError("an object without a class needs apiVersion and kind", {
      hint: 'write them as in a manifest: { apiVersion: "v1", kind: "Pod", … }',
    });
  }
  return describeKind({ ...parseApiVersion(body.apiVersion), kind: body.kind });
}
