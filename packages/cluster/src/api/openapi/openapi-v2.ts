/** Swagger 2.0: one document for everything, for clients that are older than OpenAPI v3. */
import { setKey } from "@lotse/client/meta";
import { isRecord } from "../../registry/index.ts";
import type { Operation, Parameter, Paths } from "./openapi-operations.ts";
import type { OpenApiSchema } from "./openapi-schemas.ts";
import { COMPONENTS, ownParameters, sharedParameters, TITLES } from "./openapi-v3.ts";

const DEFINITIONS = "#/definitions/";

/** The document of OpenAPI v2: all groups in one. */
export function writeSwagger(
  paths: Paths,
  schemas: Readonly<Record<string, OpenApiSchema>>,
  info: OpenApiSchema,
): OpenApiSchema {
  const definitions = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, oldSchema(schema)]));
  return {
    swagger: "2.0",
    info,
    paths: Object.fromEntries(Object.entries(paths).map(([path, methods]) => [path, pathItem(methods)])),
    definitions,
    securityDefinitions: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    security: [{ BearerToken: [] }],
  };
}

function pathItem(methods: Readonly<Record<string, Operation>>): OpenApiSchema {
  const shared = sharedParameters(Object.values(methods));
  return {
    ...Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, oldOperation(operation, shared)]),
    ),
    ...(shared.size > 0 ? { parameters: [...shared.values()].map(oldParameter) } : {}),
  };
}

function oldOperation(operation: Operation, shared: ReadonlyMap<string, Parameter>): OpenApiSchema {
  const { body, responses } = operation;
  const parameters = [
    ...(body === undefined
      ? []
      : [{ name: "body", in: "body", ...(body.required ? { required: true } : {}), schema: reference(body.ref) }]),
    ...ownParameters(operation, shared).map(oldParameter),
  ];
  return {
    // Documents of discovery are written down as if they were asked for in the form in which they come.
    consumes: body?.types ?? (operation.action === undefined ? responses["200"]?.types : undefined) ?? ["*/*"],
    produces: responses["200"]?.types ?? ["*/*"],
    schemes: ["https"],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([code, { ref }]) => [
          code,
          { description: TITLES[code], schema: reference(ref) },
        ]),
      ),
      "401": { description: TITLES["401"] },
    },
    ...(operation.action === undefined ? {} : { "x-kubernetes-action": operation.action }),
    ...(operation.kind === undefined ? {} : { "x-kubernetes-group-version-kind": operation.kind }),
  };
}

function oldParameter({ name, in: where, type }: Parameter): OpenApiSchema {
  return { name, in: where, ...(where === "path" ? { required: true } : {}), type, uniqueItems: true };
}

function reference(ref: string | undefined): OpenApiSchema {
  return ref === undefined ? { type: "string" } : { $ref: DEFINITIONS + ref };
}

/** Keywords that the old form does not have, or that the server never writes there. */
const UNKNOWN: ReadonlySet<string> = new Set(["default", "nullable", "oneOf", "anyOf", "allOf", "not"]);

/** A schema in the old form: a reference stands alone, alternatives have no words. */
function oldSchema(schema: OpenApiSchema): OpenApiSchema {
  if (typeof schema.$ref === "string") return { $ref: DEFINITIONS + schema.$ref.slice(COMPONENTS.length) };
  const [wrapped] = Array.isArray(schema.allOf) ? (schema.allOf as OpenApiSchema[]) : [];
  if (typeof wrapped?.$ref === "string") {
    const beside = Object.entries(schema).filter(([key]) => key.startsWith("x-") || key === "description");
    return { ...oldSchema(wrapped), ...Object.fromEntries(beside) };
  }
  const result: OpenApiSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && isRecord(value)) {
      result[key] = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, oldSchema(property as OpenApiSchema)]),
      );
    } else if ((key === "items" || key === "additionalProperties") && isRecord(value)) result[key] = oldSchema(value);
    else if (!UNKNOWN.has(key)) setKey(result, key, value);
  }
  // Either a number or a text: the old form settles for the text.
  if (Array.isArray(schema.oneOf) && schema.type === undefined) result.type = "string";
  return result;
}
