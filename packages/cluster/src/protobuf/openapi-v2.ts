/**
 * Swagger 2.0 in protocol buffers (`openapi.v2.Document`). `kubectl` asks for no other form when it checks a `List` by
 * itself, and when it looks for merge keys of custom objects.
 */
import { lookup } from "@lotse/client/meta";
import {
  anything,
  each,
  encodeMessage,
  entries,
  type Field,
  flag,
  inside,
  type Message,
  message,
  text,
  texts,
} from "./messages.ts";
import { numbered, OPERATION_FORMS, OPERATION_NUMBERS, operationFields, schemaForms } from "./openapi-forms.ts";

const schema = message(() => SCHEMA);

const SCHEMA: Message = {
  fields: {
    $ref: [1, text],
    default: [5, anything],
    type: [22, inside(1, texts)],
    discriminator: [26, text],
    ...numbered(schemaForms(schema), {
      ...{ format: 2, title: 3, description: 4, multipleOf: 6, maximum: 7, exclusiveMaximum: 8, minimum: 9 },
      ...{ exclusiveMinimum: 10, maxLength: 11, minLength: 12, pattern: 13, maxItems: 14, minItems: 15 },
      ...{ uniqueItems: 16, maxProperties: 17, minProperties: 18, required: 19, enum: 20, additionalProperties: 21 },
      ...{ items: 23, allOf: 24, properties: 25, readOnly: 27, example: 30 },
    }),
  },
  extensions: 31,
};

const BODY_PARAMETER: Message = {
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
  extensions: 6,
};

const QUERY_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    format: [7, text],
    uniqueItems: [20, flag],
  },
  extensions: 23,
};

/** Parameters in paths and in headers have the same numbers. */
const OTHER_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    format: [6, text],
    uniqueItems: [19, flag],
  },
  extensions: 22,
};

/** By where a parameter stands: an item of a list is a parameter is one of two kinds. */
const PARAMETERS: Readonly<Record<string, Field>> = {
  body: inside(
    1,
    inside(
      1,
      message(() => BODY_PARAMETER),
    ),
  ),
  header: inside(
    1,
    inside(
      2,
      inside(
        1,
        message(() => OTHER_PARAMETER),
      ),
    ),
  ),
  query: inside(
    1,
    inside(
      2,
      inside(
        3,
        message(() => QUERY_PARAMETER),
      ),
    ),
  ),
  path: inside(
    1,
    inside(
      2,
      inside(
        4,
        message(() => OTHER_PARAMETER),
      ),
    ),
  ),
};

const parameter: Field = (out, number, value) =>
  lookup(PARAMETERS, String((value as { in?: unknown }).in))?.(out, number, value);

const RESPONSE: Message = { fields: { description: [1, text], schema: [2, inside(1, schema)] }, extensions: 5 };

const OPERATION: Message = {
  fields: {
    ...numbered(OPERATION_FORMS, { ...OPERATION_NUMBERS, deprecated: 11 }),
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, each(parameter)],
    responses: [
      9,
      entries(
        1,
        inside(
          1,
          message(() => RESPONSE),
        ),
      ),
    ],
    schemes: [10, texts],
  },
  extensions: 13,
};

const operation = message(() => OPERATION);

const PATH_ITEM: Message = {
  fields: {
    ...operationFields(2, operation),
    parameters: [9, each(parameter)],
  },
  extensions: 10,
};

const API_KEY: Message = {
  fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] },
  extensions: 5,
};

const DOCUMENT: Message = {
  fields: {
    swagger: [1, text],
    info: [2, message(() => ({ fields: { title: [1, text], version: [2, text], description: [3, text] } }))],
    paths: [
      8,
      entries(
        2,
        message(() => PATH_ITEM),
      ),
    ],
    definitions: [9, entries(1, schema)],
    security: [12, each(entries(1, inside(1, texts)))],
    securityDefinitions: [
      13,
      entries(
        1,
        inside(
          2,
          message(() => API_KEY),
        ),
      ),
    ],
  },
};

/** The bytes of a document that {@link writeSwagger} has made. */
export function encodeSwagger(document: Readonly<Record<string, unknown>>): Uint8Array {
  return encodeMessage(DOCUMENT, document);
}
