/**
 * OpenAPI 3.0 in protocol buffers (`openapi.v3.Document`), the form in which `kubectl` and other clients that are written
 * in Go read the document of a group version.
 */
import { isRecord } from "../registry/index.ts";
import {
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
} from "./messages.ts";
import { numbered, OPERATION_FORMS, OPERATION_NUMBERS, operationFields, schemaForms } from "./openapi-forms.ts";

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
    deprecated: [8, flag],
    type: [25, text],
    oneOf: [27, each(schema)],
    anyOf: [28, each(schema)],
    not: [29, message(() => SCHEMA)],
    default: [33, byDefault],
    ...numbered(schemaForms(schema), {
      ...{ readOnly: 3, example: 7, title: 9, multipleOf: 10, maximum: 11, exclusiveMaximum: 12, minimum: 13 },
      ...{ exclusiveMinimum: 14, maxLength: 15, minLength: 16, pattern: 17, maxItems: 18, minItems: 19 },
      ...{ uniqueItems: 20, maxProperties: 21, minProperties: 22, required: 23, enum: 24, allOf: 26, items: 30 },
      ...{ properties: 31, additionalProperties: 32, description: 34, format: 35 },
    }),
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
    ...numbered(OPERATION_FORMS, { ...OPERATION_NUMBERS, deprecated: 10 }),
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
  },
  extensions: 13,
}));

const PATH_ITEM: Message = {
  fields: {
    ...operationFields(4, operation),
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
