import { dns1035LabelErrors, dns1123SubdomainErrors } from "@lotse/client/meta";
import type { Expressions } from "../expressions/index.ts";
import { duplicateValue, type FieldError, invalidValue, required } from "../fields.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "../object.ts";
import { addressErrors } from "./addresses.ts";
import { conditionErrors } from "./conditions.ts";
import {
  FAILURE_POLICIES,
  MATCH_POLICIES,
  oneOf,
  REINVOCATION_POLICIES,
  ruleErrors,
  selectorErrors,
  textsOf,
} from "./rules.ts";

const SIDE_EFFECTS: readonly string[] = ["None", "NoneOnDryRun"];
const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];

type Fields = Record<string, unknown>;

/** What is wrong with a configuration of webhooks. */
export function validateWebhooks(object: ApiObject, expressions: Expressions | undefined): FieldError[] {
  const names = new Set<unknown>();
  return listAt(object, "webhooks").flatMap((hook, i) => {
    const path = `webhooks[${i}]`;
    const errors = [
      ...webhookErrors(hook, path, expressions),
      ...versionErrors(textsOf(hook.admissionReviewVersions), `${path}.admissionReviewVersions`),
    ];
    if (hook.name && names.has(hook.name)) errors.push(duplicateValue(`${path}.name`, hook.name));
    names.add(hook.name);
    return errors;
  });
}

function webhookErrors(hook: Fields, path: string, expressions: Expressions | undefined): FieldError[] {
  const errors = [
    ...nameErrors(hook.name, `${path}.name`),
    ...listAt(hook, "rules").flatMap((rule, i) => ruleErrors(rule, `${path}.rules[${i}]`)),
    ...oneOf(hook.failurePolicy, `${path}.failurePolicy`, FAILURE_POLICIES),
    ...oneOf(hook.matchPolicy, `${path}.matchPolicy`, MATCH_POLICIES),
  ];
  if (hook.sideEffects === undefined) {
    errors.push(required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(", ")}`));
  } else errors.push(...oneOf(hook.sideEffects, `${path}.sideEffects`, SIDE_EFFECTS));
  const timeout = hook.timeoutSeconds;
  if (typeof timeout === "number" && (timeout < 1 || timeout > 30)) {
    const text = "the timeout value must be between 1 and 30 seconds";
    errors.push(invalidValue(`${path}.timeoutSeconds`, timeout, text));
  }
  errors.push(
    ...selectorErrors(hook.namespaceSelector, `${path}.namespaceSelector`),
    ...selectorErrors(hook.objectSelector, `${path}.objectSelector`),
    ...oneOf(hook.reinvocationPolicy, `${path}.reinvocationPolicy`, REINVOCATION_POLICIES),
    ...clientErrors(objectAt(hook, "clientConfig"), `${path}.clientConfig`),
    ...conditionErrors(listAt(hook, "matchConditions"), `${path}.matchConditions`, expressions, false),
  );
  return errors;
}

function nameErrors(value: unknown, path: string): FieldError[] {
  const name = typeof value === "string" ? value : "";
  if (name === "") return [required(path)];
  const wrong = dns1123SubdomainErrors(name);
  if (wrong.length > 0) return [invalidValue(path, name, wrong.join(","))];
  if (name.split(".").length >= 3) return [];
  return [invalidValue(path, name, "should be a domain with at least three segments separated by dots")];
}

function versionErrors(versions: readonly string[], path: string): FieldError[] {
  const known = REVIEW_VERSIONS.join(", ");
  if (versions.length === 0) return [required(path, `must specify one of ${known}`)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalidValue(`${path}[${i}]`, version, "duplicate version"));
    else for (const text of dns1035LabelErrors(version)) errors.push(invalidValue(`${path}[${i}]`, version, text));
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalidValue(path, versions, `must include at least one of ${known}`));
  }
  return errors;
}

/** Where a webhook is: at an address or behind a Service. */
export function clientErrors({ url, service }: Fields, path: string): FieldError[] {
  const addressed = typeof url === "string";
  if (addressed === isRecord(service)) return [required(path, "exactly one of url or service is required")];
  return addressed
    ? addressErrors(url, `${path}.url`)
    : serviceErrors(objectAt({ service }, "service"), `${path}.service`);
}

function serviceErrors({ name, namespace, port, path: below }: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // A real server takes one for the other here, in its sentence.
  if (!namespace) errors.push(required(`${path}.name`));
  if (!name) errors.push(required(`${path}.namespace`));
  if (typeof port === "number" && (port < 1 || port > 65_535)) {
    const text = "port is not valid: must be between 1 and 65535, inclusive";
    errors.push(invalidValue(`${path}.port`, port, text));
  }
  if (typeof below === "string") errors.push(...pathErrors(below, `${path}.path`));
  return errors;
}

function pathErrors(text: string, path: string): FieldError[] {
  if (text === "" || text === "/") return [];
  const errors: FieldError[] = [];
  if (text === "//") return [invalidValue(path, text, "segment[0] may not be empty")];
  if (!text.startsWith("/")) errors.push(invalidValue(path, text, "must start with a '/'"));
  const steps = text.slice(1).replace(/\/$/, "").split("/");
  for (const [i, step] of steps.entries()) {
    if (step === "") errors.push(invalidValue(path, text, `segment[${i}] may not be empty`));
    else {
      for (const wrong of dns1123SubdomainErrors(step))
        errors.push(invalidValue(path, text, `segment[${i}]: ${wrong}`));
    }
  }
  return errors;
}
