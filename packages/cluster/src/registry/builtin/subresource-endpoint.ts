import { apiVersionOf, type Endpoint } from "../resource.ts";
import { defaultsOf } from "./defaults.ts";
import { TypedCodec } from "./typed-codec.ts";
import type { BuiltinTables } from "./typed-shape.ts";

/**
 * The kind that a subresource of a built-in kind speaks, where it is another than that of the object: a TokenRequest for
 * `serviceaccounts/token`. Undefined when the object has no such subresource.
 */
export function subresourceEndpoint(
  { resource, version }: Endpoint,
  name: string,
  tables: () => BuiltinTables,
): Endpoint | undefined {
  const sub = version.subresources.find((known) => known.name === name);
  const ref = sub && tables().schemas.refOfKind(sub.group, sub.version, sub.kind);
  if (!sub || ref === undefined) return undefined;
  const { group, kind } = sub;
  const codec = new TypedCodec(tables, {
    apiVersion: apiVersionOf(group, sub.version),
    kind,
    ref,
    defaults: defaultsOf(group, kind),
  });
  return {
    resource: { ...resource, group, kind, listKind: `${kind}List`, table: "" },
    version: { ...version, version: sub.version, subresources: [], codec, scale: undefined, deprecation: undefined },
  };
}
