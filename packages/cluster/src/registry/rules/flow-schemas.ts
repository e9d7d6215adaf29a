import { dns1123LabelErrors, lookup } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import { recordOf, textOf, textsOf } from "./common.ts";
import { flowConditionErrors } from "./flow-conditions.ts";
import { asGo, type GoShape, goValue } from "./go-values.ts";
import { complain, given, labelErrors, subdomainErrors } from "./values.ts";

type Fields = Record<string, unknown>;

const HIGHEST_PRECEDENCE = 10_000;
const METHODS: readonly string[] = ["ByNamespace", "ByUser"];
const VERBS: readonly string[] = [
  ...["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"],
];

const NAME: GoShape = [["name", "text"]];
const SPEC: GoShape = [
  ["priorityLevelConfiguration", { of: NAME }],
  ["matchingPrecedence", "number"],
  ["distinguisherMethod", { of: [["type", "text"]], as: "pointer" }],
  [
    "rules",
    {
      as: "list",
      of: [
        [
          "subjects",
          {
            as: "list",
            of: [
              ["kind", "text"],
              ["user", { of: NAME, as: "pointer" }],
              ["group", { of: NAME, as: "pointer" }],
              ["serviceAccount", { of: [["namespace", "text"], ...NAME], as: "pointer" }],
            ],
          },
        ],
        [
          "resourceRules",
          {
            as: "list",
            of: [
              ["verbs", "pointer"],
              ["apiGroups", "pointer"],
              ["resources", "pointer"],
              ["clusterScope", "flag"],
              ["namespaces", "pointer"],
            ],
          },
        ],
        [
          "nonResourceRules",
          {
            as: "list",
            of: [
              ["verbs", "pointer"],
              ["nonResourceURLs", "pointer"],
            ],
          },
        ],
      ],
    },
  ],
];

const EVERYTHING = ["*"];
const everyRequest = (...groups: string[]): Fields[] => [
  {
    subjects: groups.map((name) => ({ kind: "Group", group: { name } })),
    resourceRules: [
      {
        verbs: EVERYTHING,
        apiGroups: EVERYTHING,
        resources: EVERYTHING,
        clusterScope: true,
        namespaces: EVERYTHING,
      },
    ],
    nonResourceRules: [{ verbs: EVERYTHING, nonResourceURLs: EVERYTHING }],
  },
];

/** Schemas without which the server could not promise anything: their content is fixed. */
const FIXED: Readonly<Record<string, Fields>> = {
  exempt: {
    priorityLevelConfiguration: { name: "exempt" },
    matchingPrecedence: 1,
    rules: everyRequest("system:masters"),
  },
  "catch-all": {
    priorityLevelConfiguration: { name: "catch-all" },
    matchingPrecedence: HIGHEST_PRECEDENCE,
    distinguisherMethod: { type: "ByUser" },
    rules: everyRequest("system:unauthenticated", "system:authenticated"),
  },
};

/** What is wrong with a FlowSchema; a write to its status is not to blame for the rest. */
export function flowSchema(object: ApiObject, subresource?: string): FieldError[] {
  const inStatus = flowConditionErrors(object);
  if (subresource === "status") return inStatus;
  const spec = objectAt(object, "spec");
  const name = object.metadata.name ?? "";
  const errors = [
    ...precedenceErrors(spec, name),
    ...methodErrors(spec),
    ...levelErrors(spec),
    ...listAt(spec, "rules").flatMap((rule, i) => ruleErrors(rule, `spec.rules[${i}]`)),
  ];
  const fixed = lookup(FIXED, name);
  if (fixed && JSON.stringify(goValue(spec, SPEC)) !== JSON.stringify(goValue(fixed, SPEC))) {
    errors.push(invalidValue("spec", asGo(spec, SPEC), `spec of '${name}' must equal the fixed value`));
  }
  return [...errors, ...inStatus];
}

function precedenceErrors(spec: Fields, name: string): FieldError[] {
  const precedence = Number(spec.matchingPrecedence ?? 0);
  const field = "spec.matchingPrecedence";
  const errors: FieldError[] = [];
  if (precedence <= 0) errors.push(invalidValue(field, precedence, "must be a positive value"));
  if (precedence > HIGHEST_PRECEDENCE) {
    errors.push(invalidValue(field, precedence, `must not be greater than ${HIGHEST_PRECEDENCE}`));
  }
  if (precedence === 1 && name !== "exempt") {
    errors.push(invalidValue(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  return errors;
}

function methodErrors({ distinguisherMethod: method }: Fields): FieldError[] {
  if (!isRecord(method) || METHODS.includes(textOf(method.type))) return [];
  return [notSupported("spec.distinguisherMethod.type", asGo(method, [["type", "text"]]), METHODS)];
}

function levelErrors(spec: Fields): FieldError[] {
  const field = "spec.priorityLevelConfiguration.name";
  const name = textOf(objectAt(spec, "priorityLevelConfiguration").name);
  return name === "" ? [required(field, "must reference a priority level")] : subdomainErrors(name, field);
}

function ruleErrors(rule: Fields, path: string): FieldError[] {
  const subjects = listAt(rule, "subjects");
  const errors =
    subjects.length === 0
      ? [required(`${path}.subjects`, "subjects must contain at least one value")]
      : subjects.flatMap((subject, i) => subjectErrors(subject, `${path}.subjects[${i}]`));
  const resources = listAt(rule, "resourceRules");
  const paths = listAt(rule, "nonResourceRules");
  if (resources.length === 0 && paths.length === 0) {
    errors.push(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  return [
    ...errors,
    ...resources.flatMap((item, i) => resourceErrors(item, `${path}.resourceRules[${i}]`)),
    ...paths.flatMap((item, i) => pathErrors(item, `${path}.nonResourceRules[${i}]`)),
  ];
}

/** Each sort of subject with the field that names it, in the order in which the server looks at them. */
const SUBJECTS: readonly (readonly [kind: string, key: string])[] = [
  ["ServiceAccount", "serviceAccount"],
  ["User", "user"],
  ["Group", "group"],
];

function subjectErrors(subject: Fields, path: string): FieldError[] {
  const own = SUBJECTS.find(([kind]) => kind === subject.kind);
  if (own === undefined) {
    return [notSupported(`${path}.kind`, textOf(subject.kind), SUBJECTS.map(([kind]) => kind).sort())];
  }
  const [kind, key] = own;
  const others = SUBJECTS.filter((one) => one !== own && given(subject[one[1]])).map(([theirs, field]) =>
    forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not '${theirs}'`),
  );
  if (!isRecord(subject[key])) {
    return [required(`${path}.${key}`, `${key} is required when subject kind is '${kind}'`), ...others];
  }
  return [...nameErrors(recordOf(subject[key]), kind, `${path}.${key}`), ...others];
}

function nameErrors({ name, namespace }: Fields, kind: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (textOf(name) === "") errors.push(required(`${path}.name`));
  if (kind !== "ServiceAccount") return errors;
  if (textOf(name) !== "" && name !== "*") errors.push(...subdomainErrors(textOf(name), `${path}.name`));
  const field = `${path}.namespace`;
  if (textOf(namespace) === "") return [...errors, required(field, "must specify namespace for service account")];
  return [...errors, ...labelErrors(textOf(namespace), field)];
}

function resourceErrors(rule: Fields, path: string): FieldError[] {
  const namespaces = textsOf(rule.namespaces);
  const errors = verbErrors(rule, path);
  for (const [key, one, many] of [
    ["apiGroups", "api group", "api groups"],
    ["resources", "resource", "resources"],
  ] as const) {
    const values = textsOf(rule[key]);
    if (values.length === 0) errors.push(required(`${path}.${key}`, `resource rules must supply at least one ${one}`));
    else errors.push(...starErrors(values, `${path}.${key}`, many));
  }
  const field = `${path}.namespaces`;
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    const text = "resource rules that are not cluster scoped must supply at least one namespace";
    return [...errors, required(field, text)];
  }
  if (namespaces.includes("*")) return [...errors, ...starErrors(namespaces, field, "namespaces")];
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  return [
    ...errors,
    ...namespaces.flatMap((name, i) =>
      complain(
        dns1123LabelErrors(name).map((text) => `${intro}${text}`),
        `${field}[${i}]`,
        name,
      ),
    ),
  ];
}

function pathErrors(rule: Fields, path: string): FieldError[] {
  const urls = textsOf(rule.nonResourceURLs);
  const field = `${path}.nonResourceURLs`;
  const errors = verbErrors(rule, path);
  if (urls.length === 0) return [...errors, required(field, "nonResourceURLs must contain at least one value")];
  if (urls.includes("*")) return [...errors, ...starErrors(urls, field, "non-resource URLs")];
  return [
    ...errors,
    ...urls.flatMap((url, i) => {
      const wrong = pathComplaint(url);
      return wrong === undefined ? [] : [invalidValue(`${field}[${i}]`, url, wrong)];
    }),
  ];
}

/** What is wrong with the path of a URL, of which a star may end the last step. */
function pathComplaint(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const stars = url.split("*").length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith("/*")) ? "wildcard can only do suffix matching" : undefined;
}

function verbErrors(rule: Fields, path: string): FieldError[] {
  const verbs = textsOf(rule.verbs);
  const field = `${path}.verbs`;
  if (verbs.length === 0) return [required(field, "verbs must contain at least one value")];
  if (verbs.includes("*")) return starErrors(verbs, field, "verbs");
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(field, verbs, VERBS)];
}

/** A star stands for everything, so that nothing may stand beside it. */
function starErrors(values: readonly string[], field: string, what: string): FieldError[] {
  if (values.length === 1 || !values.includes("*")) return [];
  return [invalidValue(field, values, `if '*' is present, must not specify other ${what}`)];
}
