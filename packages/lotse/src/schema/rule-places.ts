/** Where rules were written: helpers note it in the rule, and no API server is told. */
import { isObject } from "@lotse/client/meta";
import { RULES, type SchemaNode } from "./node.ts";

/** A schema as a CRD has it, and where its rules were written. */
export interface PlacedRules {
  readonly schema: SchemaNode;
  /** By the field of the CRD, below the schema: `.properties[spec].x-kubernetes-validations[0]` → `operator.ts:12`. */
  readonly places: ReadonlyMap<string, string>;
}

/** Takes the places out of the rules of a schema. */
export function takePlaces(schema: SchemaNode): PlacedRules {
  const places = new Map<string, string>();
  return { schema: without(schema, "", places), places };
}

function without(node: SchemaNode, path: string, places: Map<string, string>): SchemaNode {
  const rules = node[RULES];
  const { items, additionalProperties, properties } = node;
  return {
    ...node,
    ...(Array.isArray(rules) && {
      [RULES]: rules.map((rule, i) => ruleWithout(rule, `${path}.${RULES}[${i}]`, places)),
    }),
    ...(isObject(items) && { items: without(items as SchemaNode, `${path}.items`, places) }),
    ...(isObject(additionalProperties) && {
      additionalProperties: without(additionalProperties as SchemaNode, `${path}.additionalProperties`, places),
    }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, child]) => [
          key,
          isObject(child) ? without(child as SchemaNode, `${path}.properties[${key}]`, places) : child,
        ]),
      ),
    }),
  };
}

function ruleWithout(rule: unknown, path: string, places: Map<string, string>): unknown {
  if (!isObject(rule) || rule.at === undefined) return rule;
  const { at, ...rest } = rule;
  places.set(path, String(at));
  return rest;
}
