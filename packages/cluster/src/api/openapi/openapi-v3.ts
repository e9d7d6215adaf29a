import type { Content, Operation, Parameter, Paths } from "./openapi-operations.ts";
import type { OpenApiSchema } from "./openapi-schemas.ts";

/** What references to schemas begin with in a document of OpenAPI v3. */
export const COMPONENTS = "#/components/schemas/";

/** Operations as OpenAPI v3 writes them; what all methods of a path are asked stands once, beside them. */
export function writePaths(paths: Paths): Record<string, OpenApiSchema> {
  const written: Record<string, OpenApiSchema> = {};
  for (const [path, methods] of Object.entries(paths)) {
    const shared = sharedParameters(Object.values(methods));
    written[path] = {
      ...Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, writeOperation(operation, shared)]),
      ),
      ...(shared.size > 0 ? { parameters: [...shared.values()].sort(byName).map(writeParameter) } : {}),
    };
  }
  return written;
}

const keyOf = ({ name, in: where }: Parameter): string => `${name}/${where}`;
const byName = (a: Parameter, b: Parameter): number => (keyOf(a) < keyOf(b) ? -1 : 1);

/** The parameters that every operation of a path has. */
export function sharedParameters(operations: readonly Operation[]): Map<string, Parameter> {
  const [first, ...rest] = operations;
  const everywhere = (first?.parameters ?? []).filter((parameter) =>
    rest.every((operation) => operation.parameters.some((other) => keyOf(other) === keyOf(parameter))),
  );
  return new Map(everywhere.map((parameter) => [keyOf(parameter), parameter]));
}

/** What an operation is asked that its siblings are not. */
export function ownParameters(operation: Operation, shared: ReadonlyMap<string, Parameter>): Parameter[] {
  return operation.parameters.filter((parameter) => !shared.has(keyOf(parameter))).sort(byName);
}

function writeParameter({ name, in: where, type }: Parameter): OpenApiSchema {
  return {
    name,
    in: where,
    ...(where === "path" ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}

function writeOperation(operation: Operation, shared: ReadonlyMap<string, Parameter>): OpenApiSchema {
  const own = ownParameters(operation, shared);
  const { body } = operation;
  return {
    tags: [operation.tag],
    operationId: operation.id,
    ...(own.length > 0 ? { parameters: own.map(writeParameter) } : {}),
    ...(body === undefined
      ? {}
      : { requestBody: { content: writeContent(body), ...(body.required ? { required: true } : {}) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([code, content]) => [
          code,
          { description: TITLES[code], content: writeContent(content) },
        ]),
      ),
      "401": { description: TITLES["401"] },
    },
    ...(operation.action === undefined ? {} : { "x-kubernetes-action": operation.action }),
    ...(operation.kind === undefined ? {} : { "x-kubernetes-group-version-kind": operation.kind }),
  };
}

/** What each status code of an answer is called in the documents. */
export const TITLES: Readonly<Record<string, string>> = {
  "200": "OK",
  "201": "Created",
  "202": "Accepted",
  "401": "Unauthorized",
};

function writeContent({ types, ref }: Content): OpenApiSchema {
  const schema = ref === undefined ? { type: "string" } : { $ref: COMPONENTS + ref };
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}
