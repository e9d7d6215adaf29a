/** Which right did a request lack that the server has refused? Pure. */
import type { Need } from "../../generate/index.ts";
import { needOf } from "../../report/index.ts";

/** A right that is missing. */
export interface MissingRight {
  /** `create configmaps in team-a` */
  readonly text: string;
  /** The rule that would give it, as it stands in a role. */
  readonly rule: string;
  readonly need: Need;
  /** Where it is missing; undefined: in the whole cluster. */
  readonly namespace: string | undefined;
}

/** A request as it was announced. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly watch: boolean;
  readonly websocket: boolean;
}

/** What is missing; undefined for a request that no rule is about. */
export function missingRight(request: Asked): MissingRight | undefined {
  const need = needOf({ handler: "", ...request });
  if (!need) return undefined;
  const { group, resource, verbs } = need;
  const [plural = "", subresource] = resource.split("/");
  const [, namespace] = need.clusterWide ? [] : (/\/namespaces\/([^/]+)\//.exec(request.path) ?? []);
  const kind = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  const list = (words: readonly string[]) => `[${words.map((word) => word || "''").join(", ")}]`;
  return {
    text: `${verbs.join(", ")} ${kind}${namespace === undefined ? "" : ` in ${namespace}`}`,
    rule: `{ apiGroups: ${list([group])}, resources: ${list([resource])}, verbs: ${list(verbs)} }`,
    need,
    namespace,
  };
}

/** Whether a role that is made of `needs` for these namespaces would allow it. */
export function includesRequest(
  needs: readonly Need[],
  { need, namespace }: MissingRight,
  served: readonly string[] | undefined,
): boolean {
  const allowed = need.verbs.every((verb) =>
    needs.some((one) => one.group === need.group && one.resource === need.resource && one.verbs.includes(verb)),
  );
  return allowed && (!served?.length || namespace === undefined || served.includes(namespace));
}
