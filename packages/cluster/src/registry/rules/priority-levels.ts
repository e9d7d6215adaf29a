import { lookup } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, objectAt } from "../object.ts";
import { recordOf, textOf } from "./common.ts";
import { flowConditionErrors } from "./flow-conditions.ts";
import { asGo, type GoShape, goValue } from "./go-values.ts";
import { given, rangeText } from "./values.ts";

type Fields = Record<string, unknown>;

const TYPES: readonly string[] = ["Exempt", "Limited"];
const RESPONSES: readonly string[] = ["Queue", "Reject"];
const MOST_QUEUES = 10_000_000;
/** Bits of the hash by which a request finds its queues. */
const HASH_BITS = 60;

const EXEMPT: GoShape = [
  ["nominalConcurrencyShares", "pointer"],
  ["lendablePercent", "pointer"],
];
const SPEC: GoShape = [
  ["type", "text"],
  [
    "limited",
    {
      as: "pointer",
      of: [
        ["nominalConcurrencyShares", "number"],
        [
          "limitResponse",
          {
            of: [
              ["type", "text"],
              [
                "queuing",
                {
                  as: "pointer",
                  of: [
                    ["queues", "number"],
                    ["handSize", "number"],
                    ["queueLengthLimit", "number"],
                  ],
                },
              ],
            ],
          },
        ],
        ["lendablePercent", "pointer"],
        ["borrowingLimitPercent", "pointer"],
      ],
    },
  ],
  ["exempt", { as: "pointer", of: EXEMPT }],
];

/** Levels without which the server could not promise anything: their content is fixed, but for `free`. */
const FIXED: Readonly<Record<string, { readonly spec: Fields; readonly free?: string }>> = {
  "catch-all": {
    spec: {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
    },
  },
  exempt: { spec: { type: "Exempt" }, free: "exempt" },
};

/** What is wrong with a PriorityLevelConfiguration; a write to its status is not to blame for the rest. */
export function priorityLevel(object: ApiObject, subresource?: string): FieldError[] {
  const inStatus = flowConditionErrors(object);
  if (subresource === "status") return inStatus;
  const spec = objectAt(object, "spec");
  const name = object.metadata.name ?? "";
  return [...specErrors(spec, name), ...fixedErrors(spec, name), ...inStatus];
}

function fixedErrors(spec: Fields, name: string): FieldError[] {
  const fixed = lookup(FIXED, name);
  if (fixed === undefined) return [];
  const { free } = fixed;
  const compared = (value: Fields) =>
    JSON.stringify(goValue(free === undefined ? value : { ...value, [free]: undefined }, SPEC));
  if (compared(spec) === compared(fixed.spec)) return [];
  const but = free === undefined ? "" : ` except the 'spec.${free}' field`;
  return [invalidValue("spec", asGo(spec, SPEC), `spec of '${name}'${but} must equal the fixed value`)];
}

function specErrors(spec: Fields, name: string): FieldError[] {
  const type = textOf(spec.type);
  const errors: FieldError[] = [];
  if ((name === "exempt") !== (type === "Exempt")) {
    errors.push(invalidValue("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === "") return [...errors, required("spec.type")];
  if (!TYPES.includes(type)) return [...errors, notSupported("spec.type", type, TYPES)];
  if (type === "Exempt") {
    if (given(spec.limited)) {
      errors.push(forbiddenField("spec.limited", "must be nil if the type is not Limited"));
    }
    return [...errors, ...(isRecord(spec.exempt) ? shareErrors(spec.exempt, "spec.exempt") : [])];
  }
  if (given(spec.exempt)) errors.push(forbiddenField("spec.exempt", "must be nil if the type is Limited"));
  if (!isRecord(spec.limited)) return [...errors, required("spec.limited", "must not be empty when type is Limited")];
  return [...errors, ...limitErrors(spec.limited, "spec.limited")];
}

function sharesErrors({ nominalConcurrencyShares: shares }: Fields, path: string): FieldError[] {
  if (typeof shares !== "number" || shares >= 0) return [];
  return [invalidValue(`${path}.nominalConcurrencyShares`, shares, "must be a non-negative integer")];
}

function lendErrors({ lendablePercent: percent }: Fields, path: string): FieldError[] {
  if (typeof percent !== "number" || (percent >= 0 && percent <= 100)) return [];
  return [invalidValue(`${path}.lendablePercent`, percent, rangeText(0, 100))];
}

const shareErrors = (level: Fields, path: string): FieldError[] => [
  ...sharesErrors(level, path),
  ...lendErrors(level, path),
];

function limitErrors(limited: Fields, path: string): FieldError[] {
  const errors = [
    ...sharesErrors(limited, path),
    ...responseErrors(recordOf(limited.limitResponse), `${path}.limitResponse`),
    ...lendErrors(limited, path),
  ];
  const { borrowingLimitPercent: borrowed } = limited;
  if (typeof borrowed === "number" && borrowed < 0) {
    const text = "if specified, must be a non-negative integer";
    errors.push(invalidValue(`${path}.borrowingLimitPercent`, borrowed, text));
  }
  return errors;
}

function responseErrors(response: Fields, path: string): FieldError[] {
  const type = textOf(response.type);
  const field = `${path}.queuing`;
  if (type === "") return [required(`${path}.type`)];
  if (!RESPONSES.includes(type)) return [notSupported(`${path}.type`, type, RESPONSES)];
  if (type === "Reject") {
    if (!given(response.queuing)) return [];
    return [forbiddenField(field, "must be nil if limited.limitResponse.type is not Limited")];
  }
  if (isRecord(response.queuing)) return queueErrors(response.queuing, field);
  return [required(field, "must not be empty if limited.limitResponse.type is Limited")];
}

function queueErrors(queuing: Fields, path: string): FieldError[] {
  const [length, queues, hand] = ["queueLengthLimit", "queues", "handSize"].map((key) => Number(queuing[key] ?? 0)) as [
    number,
    number,
    number,
  ];
  const errors: FieldError[] = [];
  if (length <= 0) errors.push(invalidValue(`${path}.queueLengthLimit`, length, "must be positive"));
  if (queues <= 0) errors.push(invalidValue(`${path}.queues`, queues, "must be positive"));
  else if (queues > MOST_QUEUES) {
    errors.push(invalidValue(`${path}.queues`, queues, `must not be greater than ${MOST_QUEUES}`));
  }
  const wrong = handComplaint(queues, hand);
  if (wrong !== undefined) errors.push(invalidValue(`${path}.handSize`, hand, wrong));
  return errors;
}

/** Each request is dealt a hand of queues, for which the bits of its hash must suffice. */
function handComplaint(queues: number, hand: number): string | undefined {
  if (hand <= 0) return "must be positive";
  if (hand > queues) return `should not be greater than queues (${queues})`;
  if (Math.ceil(Math.log2(queues) * hand) <= HASH_BITS) return undefined;
  return `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${HASH_BITS}`;
}
