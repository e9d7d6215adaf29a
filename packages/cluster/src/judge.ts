/** What the API server would say of custom objects, without one: types, bounds, and rules in CEL. */
import { deepClone } from "@lotse/client/meta";
import { type ApiObject, asCrd, CelSlot, customResource, describeError, lazyTables } from "./registry/index.ts";

/**
 * Something in an object that its definition does not allow.
 *
 * @example
 * ```ts
 * const sentence = ({ path, what }: ObjectProblem) => `${path}: ${what}`;
 * ```
 */
export interface ObjectProblem {
  /** `spec.ports[0].name`; empty for the whole object. */
  readonly path: string;
  /** In the words of the API server. */
  readonly what: string;
}

/**
 * Judges the objects of a CustomResourceDefinition: in the version that is named, what would be refused of one that is
 * created. Of a version that the definition does not have, nothing is said.
 *
 * @example
 * ```ts
 * const judge = await objectJudge(Shop.crd());
 * const problems = judge("v1", { metadata: { name: "corner" }, spec: { size: -1 } });
 * ```
 */
export async function objectJudge(crd: object): Promise<(version: string, body: object) => readonly ObjectProblem[]> {
  const cel = new CelSlot();
  await cel.load();
  const { spec, ...rest } = asCrd(deepClone(crd) as ApiObject);
  // Objects of a version that is not served can be stored all the same.
  const versions = spec.versions.map((version) => ({ ...version, served: true }));
  const resource = customResource({ ...rest, spec: { ...spec, versions } }, lazyTables(), cel);
  return (version, body) => {
    const codec = resource?.versions.get(version)?.codec;
    if (!codec) return [];
    const object = deepClone(body) as ApiObject;
    codec.applyDefaults(object);
    return codec.validate(object).map((error) => ({
      path: error.field === "<nil>" ? "" : error.field,
      what: describeError(error),
    }));
  };
}
