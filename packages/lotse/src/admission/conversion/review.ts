/** Answers the API server's question: these objects, in that version. Never throws. */
import type { KubeBody } from "@lotse/client";
import { errorMessage, isObject } from "@lotse/client/meta";
import { convertBody } from "./convert.ts";
import { ConversionError } from "./errors.ts";
import { type ConvertedKind, isBody } from "./kind.ts";

/** What goes back: the status of HTTP, and what becomes its JSON. */
export interface ConversionAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Told of each review that failed, for the log; `error` has the stack of what went wrong in a function. */
export type ConversionReport = (failure: { readonly message: string; readonly error: unknown }) => void;

const REVIEW = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" } as const;

/**
 * The answer to a ConversionReview. One object that cannot be converted fails the whole review, and its message is what
 * the API server tells its client; what is no review at all gets a 400.
 */
export function answerConversion(
  kinds: readonly ConvertedKind[],
  review: unknown,
  report: ConversionReport,
): ConversionAnswer {
  try {
    return answer(kinds, review, report);
  } catch (error) {
    const message = `the review cannot be answered: ${errorMessage(error)}`;
    report({ message, error });
    return refusal(500, "the review cannot be answered");
  }
}

function answer(kinds: readonly ConvertedKind[], review: unknown, report: ConversionReport): ConversionAnswer {
  if (!isObject(review) || review.kind !== REVIEW.kind) return refusal(400, "the body is not a ConversionReview");
  if (review.apiVersion !== REVIEW.apiVersion) {
    const found = typeof review.apiVersion === "string" ? review.apiVersion : "none";
    return refusal(400, `the review has the version ${found}; ${REVIEW.apiVersion} is spoken here`);
  }
  const { request } = review;
  if (!isObject(request)) return refusal(400, "the ConversionReview has no request");
  const { uid, desiredAPIVersion: desired, objects = [] } = request;
  if (typeof uid !== "string" || uid === "") return refusal(400, "the request of the ConversionReview has no uid");
  if (typeof desired !== "string" || desired === "") {
    return refusal(400, "the request of the ConversionReview has no desiredAPIVersion");
  }
  if (!Array.isArray(objects)) return refusal(400, "the objects of the ConversionReview are no list");
  try {
    const converted = objects.map((object: unknown, i) => convertAny(kinds, object, desired, `objects[${i}]`));
    return {
      status: 200,
      body: { ...REVIEW, response: { uid, result: { status: "Success" }, convertedObjects: converted } },
    };
  } catch (error) {
    const message = error instanceof ConversionError || error instanceof Refused ? error.message : unexpected(error);
    report({ message, error: error instanceof ConversionError ? (error.cause ?? error) : error });
    const result = { status: "Failure", message, reason: "InternalError", code: 500 };
    return { status: 200, body: { ...REVIEW, response: { uid, result, convertedObjects: [] } } };
  }
}

/** The review asks for something that is not here. */
class Refused extends Error {}

function unexpected(error: unknown): string {
  return `the conversion failed: ${errorMessage(error)}`;
}

function convertAny(kinds: readonly ConvertedKind[], object: unknown, desired: string, place: string): unknown {
  if (!isObject(object) || !isBody(object)) throw new Refused(`${place} of the review has no apiVersion and kind`);
  const { items } = object as { items?: unknown };
  if (/List$/.test(object.kind ?? "") && Array.isArray(items) && !find(kinds, object)) {
    const converted = items.map((item, i) => convertAny(kinds, item, desired, `${place}.items[${i}]`));
    return { ...object, apiVersion: desired, items: converted };
  }
  const kind = find(kinds, object);
  if (!kind) throw new Refused(`no conversion of ${object.kind} in ${object.apiVersion} is served here`);
  const [group, version = ""] = desired.split("/");
  if (group !== kind.group) throw new Refused(`${object.kind} of ${object.apiVersion} has no version ${desired}`);
  return convertBody(kind, object as KubeBody, version);
}

function find(kinds: readonly ConvertedKind[], { apiVersion = "", kind }: KubeBody): ConvertedKind | undefined {
  const [group] = apiVersion.split("/");
  return kinds.find((one) => one.group === group && one.kind === kind);
}

/** A sentence in the form of the API server's own. */
function refusal(code: number, message: string): ConversionAnswer {
  const reason = code === 400 ? "BadRequest" : "InternalError";
  return { status: code, body: { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code } };
}
