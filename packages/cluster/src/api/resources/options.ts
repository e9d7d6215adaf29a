import {
  badRequest,
  type DeleteOptions,
  type FieldError,
  type FieldValidation,
  forbiddenField,
  invalid,
  invalidValue,
  isRecord,
  type ListOptions,
  notSupported,
  type PatchOptions,
  type PatchType,
  type Propagation,
  parseWatchStart,
  required,
  type WatchOptions,
  type WriteOptions,
} from "../../registry/index.ts";
import { isTrue } from "../request-info.ts";

/** The options of a request, out of its query; what a real server refuses about them is refused here, in its words. */

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", errors);
}

const VALIDATIONS: readonly string[] = ["", "Ignore", "Strict", "Warn"];
const LONGEST_MANAGER = 128;

/** The options of a create or update from its query; throws what a real server would refuse. */
export function writeOptions(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions",
  manager: string,
): WriteOptions {
  refuse(kind, writeErrors(query));
  return readWriteOptions(query, manager);
}

function writeErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  const manager = query.get("fieldManager") ?? "";
  if (manager.length > LONGEST_MANAGER) {
    errors.push({ type: "TooLong", field: "fieldManager", detail: `may not be more than ${LONGEST_MANAGER} bytes` });
  }
  const unprintable = [...manager].findIndex((character) => /[\p{C}\p{Zl}\p{Zp}]/u.test(character));
  if (unprintable >= 0) {
    const code = ([...manager][unprintable]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const text = `invalid character U+${code} (at position ${unprintable})`;
    errors.push(invalidValue("fieldManager", manager, text));
  }
  const validation = query.get("fieldValidation") ?? "";
  if (!VALIDATIONS.includes(validation)) errors.push(notSupported("fieldValidation", validation, VALIDATIONS));
  return errors;
}

function readWriteOptions(query: URLSearchParams, manager: string): WriteOptions {
  return {
    dryRun: query.getAll("dryRun").includes("All"),
    fieldManager: query.get("fieldManager") || manager,
    fieldValidation: (query.get("fieldValidation") || "Warn") as FieldValidation,
    given: givenOptions(query),
  };
}

function givenOptions(query: URLSearchParams): Record<string, unknown> {
  const dryRun = query.getAll("dryRun");
  const given: Record<string, unknown> = dryRun.length > 0 ? { dryRun } : {};
  for (const key of ["fieldManager", "fieldValidation"]) {
    const value = query.get(key);
    if (value) given[key] = value;
  }
  return given;
}

/** The options of a patch from its query; some are only for apply, where the manager has to be named. */
export function patchOptions(query: URLSearchParams, type: PatchType, manager: string): PatchOptions {
  const errors = writeErrors(query);
  if (type === "apply") {
    if (!query.get("fieldManager")) errors.unshift(required("fieldManager", "is required for apply patch"));
  } else if (query.get("force") !== null) {
    errors.unshift(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  refuse("PatchOptions", errors);
  return { ...readWriteOptions(query, manager), force: isTrue(query.get("force")) };
}

const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];

/** The fields of DeleteOptions with the types that a real server reads them into, as its complaints name both. */
const DELETE_FIELDS: Readonly<Record<string, readonly [type: string, kind: string]>> = {
  gracePeriodSeconds: ["int64", "number"],
  orphanDependents: ["bool", "bool"],
  propagationPolicy: ["v1.DeletionPropagation", "string"],
  dryRun: ["[]string", "array"],
  preconditions: ["v1.Preconditions", "object"],
};

function checkTypes(given: Readonly<Record<string, unknown>>): void {
  const refuseType = (found: string, field: string, type: string) =>
    badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`);
  for (const [field, [type, kind]] of Object.entries(DELETE_FIELDS)) {
    const value = given[field] ?? undefined;
    if (value === undefined) continue;
    const found = jsonKind(value);
    if (found !== kind) throw refuseType(found, field, type);
    if (field === "gracePeriodSeconds" && !Number.isInteger(value)) throw refuseType(`number ${value}`, field, type);
  }
  for (const item of Array.isArray(given.dryRun) ? (given.dryRun as unknown[]) : []) {
    if (typeof item !== "string") throw refuseType(jsonKind(item), "dryRun", "string");
  }
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Of a DELETE: a body wins over the query. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const given = isRecord(body) ? body : {};
  checkTypes(given);
  const field = (name: string): unknown => given[name] ?? query.get(name) ?? undefined;
  const errors: FieldError[] = [];
  const grace = field("gracePeriodSeconds");
  const gracePeriodSeconds = grace === undefined ? undefined : Number(grace);
  if (gracePeriodSeconds !== undefined && !Number.isInteger(gracePeriodSeconds)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(String(grace))}: invalid syntax`);
  }
  const orphan = field("orphanDependents");
  const policy = field("propagationPolicy");
  if (policy !== undefined && orphan !== undefined) {
    errors.push(
      invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"),
    );
  }
  if (policy !== undefined && !POLICIES.includes(String(policy))) {
    errors.push(notSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  }
  const dryRun = Array.isArray(given.dryRun) ? (given.dryRun as unknown[]) : query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  refuse("DeleteOptions", errors);
  const preconditions = isRecord(given.preconditions) ? given.preconditions : undefined;
  return {
    gracePeriodSeconds,
    propagationPolicy: policy as Propagation | undefined,
    orphanDependents: orphan === undefined ? undefined : orphan === true || orphan === "true",
    preconditions: preconditions as DeleteOptions["preconditions"],
    dryRun: dryRun.includes("All"),
    given: {
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(orphan === undefined ? {} : { orphanDependents: orphan === true || orphan === "true" }),
      ...(policy === undefined ? {} : { propagationPolicy: policy }),
      ...(dryRun.length > 0 ? { dryRun } : {}),
    },
  };
}

/** The options of a list from its query; throws where they contradict each other. */
export function listOptions(query: URLSearchParams): ListOptions {
  const match = query.get("resourceVersionMatch") ?? "";
  const resourceVersion = query.get("resourceVersion") ?? "";
  const errors: FieldError[] = [];
  const path = "resourceVersionMatch";
  if (match !== "") {
    if (resourceVersion === "") {
      errors.push(forbiddenField(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (query.get("continue")) {
      errors.push(forbiddenField(path, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported(path, match, ["Exact", "NotOlderThan", ""]));
    } else if (match === "Exact" && resourceVersion === "0") {
      errors.push(forbiddenField(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.get("sendInitialEvents") !== null) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  refuse("ListOptions", errors);
  integer(query.get("timeoutSeconds"));
  return {
    limit: integer(query.get("limit")),
    continueToken: query.get("continue") || undefined,
    resourceVersion: resourceVersion || undefined,
    match: match === "" ? undefined : (match as "Exact" | "NotOlderThan"),
  };
}

/** The options of a watch from its query; throws where they contradict each other. */
export function watchOptions(query: URLSearchParams): WatchOptions & { timeoutSeconds: number } {
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const errors: FieldError[] = [];
  if (initial !== null) {
    if (match !== "NotOlderThan") {
      errors.push(
        forbiddenField(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
      );
    }
    if (match !== "" && match !== "NotOlderThan") {
      errors.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
    }
  } else if (match !== "") {
    errors.push(
      forbiddenField(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (query.get("continue")) {
    errors.push(forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  }
  refuse("ListOptions", errors);
  return {
    from: parseWatchStart(query.get("resourceVersion")),
    allowBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    timeoutSeconds: integer(query.get("timeoutSeconds")),
  };
}

function integer(text: string | null): number {
  if (text === null || text === "") return 0;
  if (/^-?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}
