/** Walks over children, and changes them so that nothing that they share with others changes with them. */
import { KubeObject, type ObjectBody } from "@lotse/client";
import { ConfigError, isObject } from "@lotse/client/meta";

/** A client object or a plain manifest. */
export type Child = KubeObject<ObjectBody> | ObjectBody;

/** One child, or lists of them. */
export type Children = Child | Iterable<Children>;

/** A dotted path (`"spec.template"`) or its parts, for keys that have dots. */
export type NestedPath = string | readonly string[];

/**
 * Gives each child the body that `change` makes of its own; returns what it was given. All or nothing: when one child
 * cannot be changed, none is.
 */
export function updateChildren<T extends Children>(
  children: T,
  change: (body: ObjectBody, child: Child) => ObjectBody,
): T {
  const writes: (() => void)[] = [];
  for (const child of eachChild(children)) {
    const body = child instanceof KubeObject ? child.body : child;
    const changed = change(body, child);
    if (changed === body) continue;
    if (child instanceof KubeObject) {
      writes.push(() => {
        child.body = changed;
      });
      continue;
    }
    if (!Object.isExtensible(child)) {
      throw new ConfigError(`${titleOf(child)} is read-only and cannot be changed`, {
        hint: "bodies in a handler's context are: copy the manifest first, with structuredClone()",
      });
    }
    writes.push(() => Object.assign(child, changed));
  }
  for (const write of writes) write();
  return children;
}

function* eachChild(children: Children): Generator<Child> {
  if (typeof children !== "object" || children === null) {
    throw new ConfigError(`${children === null ? "null" : `a ${typeof children}`} is no object of Kubernetes`, {
      hint: "pass a client object, a manifest, or a list of them",
    });
  }
  if (!(Symbol.iterator in children)) yield children;
  else for (const one of children) yield* eachChild(one);
}

/** The body with `change` made to itself and to the objects inside it that `nested` names, where they exist. */
export function changeEach(
  body: ObjectBody,
  nested: string | readonly NestedPath[] | undefined,
  change: (part: ObjectBody) => ObjectBody,
): ObjectBody {
  let result = change(body);
  for (const path of typeof nested === "string" ? [nested] : (nested ?? [])) {
    const parts = typeof path === "string" ? path.split(".") : path;
    result = changeAt(result, parts, 0, change, () => `${parts.join(".")} of ${titleOf(body)}`) as ObjectBody;
  }
  return result;
}

function changeAt(
  value: unknown,
  path: readonly string[],
  depth: number,
  change: (part: ObjectBody) => ObjectBody,
  where: () => string,
): unknown {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => changeAt(item, path, depth, change, where));
  if (!isObject(value)) {
    throw new ConfigError(`${where()} is not an object with metadata`, {
      hint: 'nested paths lead to templates, such as "spec.template"',
    });
  }
  const key = path[depth];
  if (key === undefined) return change(value as ObjectBody);
  if (!Object.hasOwn(value, key)) return value;
  const changed = changeAt(value[key], path, depth + 1, change, where);
  return changed === value[key] ? value : { ...value, [key]: changed };
}

/** The body with other metadata. */
export function withMetadata(body: ObjectBody, metadata: NonNullable<ObjectBody["metadata"]>): ObjectBody {
  return { ...body, metadata: { ...body.metadata, ...metadata } };
}

/** How to call an object in an error. */
export function titleOf({ kind, metadata }: ObjectBody): string {
  const { namespace, name, generateName } = metadata ?? {};
  const title = name ?? (generateName ? `${generateName}*` : "without a name");
  return `${kind ?? "an object"} ${namespace && name ? `${namespace}/` : ""}${title}`;
}
