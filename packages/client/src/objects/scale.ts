import { type KindDescription, type ObjectBody, pathOf } from "../kinds/index.ts";
import { ConfigError, lookup } from "../meta/index.ts";
import { PATCH_MEDIA_TYPE } from "../transport/index.ts";
import { UnsupportedError } from "./errors.ts";
import { type AnyObject, KubeObject } from "./object.ts";
import type { ScaleOptions } from "./options.ts";
import { readWriteQuery, requestPart } from "./requests.ts";
import type { Session } from "./session.ts";

/** Where a kind keeps its number of replicas, in the words of CustomResourceDefinitions. */
export interface ScalePaths {
  /** Default `.spec.replicas`. */
  readonly specReplicasPath?: string | undefined;
  /** Default `.status.replicas`. */
  readonly statusReplicasPath?: string | undefined;
}

const SPEC = ".spec.replicas";
const STATUS = ".status.replicas";

/** An object with replicas. */
export class ScalableObject<out B extends ObjectBody> extends KubeObject<B> {
  /** Where the numbers are. */
  static readonly scalePaths: ScalePaths = {};

  /** How many replicas are wanted; change it with `scale()`. */
  get replicas(): number {
    return replicasOf(this);
  }

  /**
   * Sets the number of replicas, by way of `/scale` where the kind has it.
   *
   * @example
   * ```ts
   * await deployment.scale(3, { wait: "2m" });
   * ```
   */
  async scale(replicas: number, o?: ScaleOptions): Promise<this> {
    const client = await this.connected();
    await client.scale(this, replicas, o);
    return this;
  }
}

/** How many replicas are wanted: what a server leaves out is one. */
export function replicasOf(object: AnyObject): number {
  return numberAt(object.body, pathsOf(object)?.specReplicasPath ?? SPEC) ?? 1;
}

/** Scales through the subresource, or by a patch of the place that the class names. */
export async function scaleObject(
  session: Session,
  object: AnyObject,
  replicas: number,
  o: ScaleOptions,
): Promise<AnyObject> {
  if (!Number.isInteger(replicas) || replicas < 0) {
    throw new ConfigError(`${replicas} is not a number of replicas`, { hint: "use 0, 1, 2, …" });
  }
  const description = await session.describe(object);
  const paths = pathsOf(object);
  const namespace = session.namespaceFor(description, object, o);
  const query = readWriteQuery(o, session.view.fieldManager);
  const bySubresource = description.subresources.includes("scale");
  if (!bySubresource && paths === undefined) throw notScalable(description);
  await session.write("patch", object, description, {
    ...requestPart(o),
    method: "PATCH",
    path: pathOf(description, { namespace, name: object.name, subresource: bySubresource ? "scale" : undefined }),
    query,
    headers: { "content-type": PATCH_MEDIA_TYPE.merge },
    body: bySubresource ? { spec: { replicas } } : patchAt(paths?.specReplicasPath ?? SPEC, replicas),
  });
  if (o.dryRun) return object;
  // The answer was a Scale; the object is to show what was done.
  if (bySubresource) await object.refresh(requestPart(o));
  if (o.wait !== undefined && o.wait !== false) {
    const patience = { signal: o.signal, timeout: o.wait === true ? undefined : o.wait };
    await session.client.wait(object, hasReplicas(replicas, paths?.statusReplicasPath ?? STATUS), patience);
  }
  return object;
}

function hasReplicas(replicas: number, path: string) {
  const check = ({ body }: AnyObject): boolean => {
    const status = body.status as { observedGeneration?: number } | undefined;
    const observed = status?.observedGeneration ?? Number.POSITIVE_INFINITY;
    return observed >= (body.metadata?.generation ?? 0) && (numberAt(body, path) ?? 0) === replicas;
  };
  Object.defineProperty(check, "name", { value: `${replicas} replicas` });
  return check;
}

function notScalable(description: KindDescription): UnsupportedError {
  return new UnsupportedError(`${description.kind} has no replicas to scale`, {
    hint: "a custom kind needs `subresources.scale` in its CustomResourceDefinition, or `scale` in defineKind()",
  });
}

/** On classes with replicas only. */
function pathsOf(object: AnyObject): ScalePaths | undefined {
  return (object.constructor as { scalePaths?: ScalePaths }).scalePaths;
}

const segmentsOf = (path: string): string[] => path.split(".").filter((segment) => segment !== "");

function numberAt(body: ObjectBody, path: string): number | undefined {
  let value: unknown = body;
  for (const segment of segmentsOf(path)) value = lookup(value as Record<string, unknown> | undefined, segment);
  return typeof value === "number" ? value : undefined;
}

function patchAt(path: string, value: number): object {
  return segmentsOf(path).reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value) as object;
}
