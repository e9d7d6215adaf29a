import { deepEqual, dns1123SubdomainErrors, qualifiedNameErrors } from "@lotse/client/meta";
import { type FieldError, IMMUTABLE, invalidValue, required } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";

/** The names of the same fields in the two kinds of events; errors are told in the names of the older one. */
const CORE = {
  involvedObject: "involvedObject",
  message: "message",
  source: "source",
  firstTimestamp: "firstTimestamp",
  lastTimestamp: "lastTimestamp",
  count: "count",
  reportingController: "reportingComponent",
};
const EVENTS: typeof CORE = {
  involvedObject: "regarding",
  message: "note",
  source: "deprecatedSource",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  count: "deprecatedCount",
  reportingController: "reportingController",
};

const LONGEST = 128;
const LONGEST_MESSAGE = 1024;

/** What is wrong with an Event of the core group; the other group has rules of its own. */
export function validateCoreEvent(object: ApiObject): FieldError[] {
  return validateBoth(object, CORE);
}

/** The newer kind asks for more, and does without what it calls deprecated. */
export function validateNewEvent(object: ApiObject): FieldError[] {
  const errors = [...validateBoth(object, EVENTS), ...validateSeries(object)];
  if (!object.eventTime) errors.push(required("eventTime"));
  const type = String(object.type ?? "");
  if (type !== "Normal" && type !== "Warning") errors.push(invalidValue("type", "", `has invalid value: ${type}`));
  const unset = (field: string, present: unknown) => {
    if (present) errors.push(invalidValue(field, "", "needs to be unset"));
  };
  unset("firstTimestamp", object[EVENTS.firstTimestamp]);
  unset("lastTimestamp", object[EVENTS.lastTimestamp]);
  unset("count", object[EVENTS.count]);
  const source = objectAt(object, EVENTS.source);
  unset("source", source.component || source.host);
  return errors;
}

/** An event of the newer kind is a fact: only the series that it stands for may go on. */
export function validateNewEventUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors = validateBoth(object, EVENTS);
  if (!deepEqual(object.series, old.series)) errors.push(...validateSeries(object));
  const fields: readonly (readonly [field: string, own: string])[] = [
    ["involvedObject", EVENTS.involvedObject],
    ["reason", "reason"],
    ["message", EVENTS.message],
    ["source", EVENTS.source],
    ["firstTimestamp", EVENTS.firstTimestamp],
    ["lastTimestamp", EVENTS.lastTimestamp],
    ["count", EVENTS.count],
    ["type", "type"],
    ["eventTime", "eventTime"],
    ["action", "action"],
    ["related", "related"],
    ["reportingController", EVENTS.reportingController],
    ["reportingInstance", "reportingInstance"],
  ];
  for (const [field, own] of fields) {
    if (!deepEqual(object[own], old[own])) errors.push(invalidValue(field, object[own], IMMUTABLE));
  }
  return errors;
}

function validateSeries(object: ApiObject): FieldError[] {
  if (object.series === undefined || object.series === null) return [];
  const { count, lastObservedTime } = objectAt(object, "series");
  const errors: FieldError[] = [];
  if (Number(count ?? 0) < 2) errors.push(invalidValue("series.count", "", "should be at least 2"));
  if (!lastObservedTime) errors.push(required("series.lastObservedTime"));
  return errors;
}

function validateBoth(object: ApiObject, names: typeof CORE): FieldError[] {
  const errors: FieldError[] = [];
  const about = String(objectAt(object, names.involvedObject).namespace ?? "");
  const own = object.metadata.namespace ?? "";
  const mismatch = () => errors.push(invalidValue("involvedObject.namespace", about, "does not match event.namespace"));
  if (!object.eventTime) {
    // Events about what has no namespace live in the default one.
    if (about === "" ? own !== "default" : about !== own) mismatch();
  } else {
    if (about === "" && own !== "default" && own !== "kube-system") mismatch();
    const controller = String(object[names.reportingController] ?? "");
    const field = names.reportingController;
    if (controller === "") errors.push(required(field));
    for (const text of qualifiedNameErrors(controller)) errors.push(invalidValue(field, controller, text));
    for (const key of ["reportingInstance", "action", "reason"]) {
      const value = String(object[key] ?? "");
      if (value === "") errors.push(required(key));
      if (value.length > LONGEST) errors.push(invalidValue(key, "", `can have at most ${LONGEST} characters`));
    }
    if (String(object[names.message] ?? "").length > LONGEST_MESSAGE) {
      errors.push(invalidValue("message", "", `can have at most ${LONGEST_MESSAGE} characters`));
    }
  }
  for (const text of dns1123SubdomainErrors(own)) errors.push(invalidValue("namespace", own, text));
  return errors;
}
