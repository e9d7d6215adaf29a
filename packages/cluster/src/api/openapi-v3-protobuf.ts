/**
 * OpenAPI 3.0 in protocol buffers (`openapi.v3.Document`), the form in which `kubectl` and other clients that are written
 * in Go read the document of a group version.
 */
import { isRecord } from "../registry/index.ts";
import {
  anything,
  count,
  each,
  encodeMessage,
  entries,
  type Field,
  flag,
  inside,
  type Message,
  message,
  real,
  text,
  texts,
} from "./protobuf-messages.ts";

const REFERENCE: Message = { fields: { $ref: [1, text], summary: [2, text], description: [3, text] } };

/** Things that stand there themselves or are referred to: one field for each. */
const orReference = (of: () => Message): Field => {
  const itself = inside(1, message(of));
  const referred = inside(
    2,
    message(() => REFERENCE),
  );
  return (out, number, value) => (isRecord(value) && "$ref" in value ? referred : itself)(out, number, value);
};

const schema = orReference(() => SCHEMA);

/** Only numbers, switches and texts have a place there; of anything else no more is said than that it is there. */
const byDefault: Field = (out, number, value) =>
  out.message(number, (inner) => {
    if (typeof value === "number") real(inner, 1, value);
    else if (typeof value === "boolean") flag(inner, 2, value);
    else if (typeof value === "string") text(inner, 3, value);
  });

const SCHEMA: Message = {
  fields: {
    nullable: [1, flag],
    readOnly: [3, flag],
    example: [7, anything],
    deprecated: [8, flag],
    title: [9, text],
    multipleOf: [10, real],
    maximum: [11, real],
    exclusiveMaximum: [12, flag],
    minimum: [13, real],
    exclusiveMinimum: [14, flag],
    maxLength: [15, count],
    minLength: [16, count],
    pattern: [17, text],
    maxItems: [18, count],
    minItems: [19, count],
    uniqueItems: [20, flag],
    maxProperties: [21, count],
    minProperties: [22, count],
    required: [23, texts],
    enum: [24, each(anything)],
    type: [25, text],
    allOf: [26, each(schema)],
    oneOf: [27, each(schema)],
    anyOf: [28, each(schema)],
    not: [29, message(() => SCHEMA)],
    items: [30, inside(1, each(schema))],
    properties: [31, entries(1, schema)],
    additionalProperties: [
      32,
      (out, number, value) => (typeof value === "boolean" ? inside(2, flag) : inside(1, schema))(out, number, value),
    ],
    default: [33, byDefault],
    description: [34, text],
    format: [35, text],
  },
  extensions: 36,
};

const CONTENT = entries(
  1,
  message(() => ({ fields: { schema: [1, schema] } })),
);

const parameters = each(
  orReference(() => ({
    fields: {
      name: [1, text],
      in: [2, text],
      description: [3, text],
      required: [4, flag],
      schema: [10, schema],
    },
  })),
);

const operation = message(() => ({
  fields: {
    tags: [1, texts],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, parameters],
    requestBody: [
      7,
      orReference(() => ({ fields: { description: [1, text], content: [2, CONTENT], required: [3, flag] } })),
    ],
    responses: [
      8,
      entries(
        2,
        orReference(() => ({ fields: { description: [1, text], content: [3, CONTENT] } })),
      ),
    ],
    deprecated: [10, flag],
  },
  extensions: 13,
}));

const PATH_ITEM: Message = {
  fields: {
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, parameters],
  },
  extensions: 14,
};

const COMPONENTS: Message = {
  fields: {
    schemas: [1, entries(1, schema)],
    securitySchemes: [
      7,
      entries(
        1,
        orReference(() => ({ fields: { type: [1, text], description: [2, text], name: [3, text], in: [4, text] } })),
      ),
    ],
  },
};

const DOCUMENT: Message = {
  fields: {
    openapi: [1, text],
    info: [2, message(() => ({ fields: { title: [1, text], description: [2, text], version: [6, text] } }))],
    paths: [
      4,
      entries(
        1,
        message(() => PATH_ITEM),
      ),
    ],
    components: [5, message(() => COMPONENTS)],
  },
};

/** The bytes of the document of a group version. */
export function encodeOpenApi(document: Readonly<Record<string, unknown>>): Uint8Array {
  return encodeMessage(DOCUMENT, document);
}
