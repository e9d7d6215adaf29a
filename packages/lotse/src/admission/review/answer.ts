/** What the API server is answered. Pure. */
import type { JsonPatchOperation } from "@lotse/client/meta";
import { AdmissionError, PermanentError, TemporaryError } from "../../declare/index.ts";
import { REVIEW } from "./reading.ts";

/** A refusal, in the form of the API. */
export interface Refusal {
  readonly message: string;
  /** HTTP status that the client gets. */
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly { readonly field?: string; readonly message: string; readonly reason?: string }[];
}

/** What was decided about a request. */
export interface Verdict {
  /** Undefined: it is allowed. */
  readonly refusal?: Refusal | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly patch?: readonly JsonPatchOperation[] | undefined;
}

/** The words of the API for a status. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A refusal with this status. */
export function refusal(message: string, code: number, reason?: string, causes: Refusal["causes"] = []): Refusal {
  return { message, code, reason: reason ?? REASONS[code] ?? (code < 500 ? "BadRequest" : "InternalError"), causes };
}

/**
 * The refusal that a handler's error means: what it throws on purpose says why. Undefined for any other error, whose
 * message may hold what is not for the client.
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof AdmissionError) return refusal(error.message, error.status, error.reason, error.causes);
  if (error instanceof PermanentError) return refusal(error.message, 403);
  if (error instanceof TemporaryError) return refusal(error.message, 503);
  return undefined;
}

/** The AdmissionReview that answers the one with this uid. */
export function reviewAnswer(uid: string, { refusal, warnings = [], patch = [] }: Verdict): object {
  const shown = boundedWarnings(warnings);
  return {
    ...REVIEW,
    response: {
      uid,
      allowed: refusal === undefined,
      ...(refusal && { status: statusOf(refusal) }),
      ...(shown.length > 0 && { warnings: shown }),
      ...(!refusal &&
        patch.length > 0 && {
          patchType: "JSONPatch",
          patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
        }),
    },
  };
}

function statusOf({ message, code, reason, causes }: Refusal): object {
  return { status: "Failure", message, code, reason, ...(causes.length > 0 && { details: { causes } }) };
}

/** The API server cuts longer ones, and drops what does not fit into this many characters altogether. */
const LONGEST_WARNING = 256;
const ALL_WARNINGS = 4_096;

/** Warnings as they survive the way to the client: one line each, not too long, none twice. */
export function boundedWarnings(warnings: readonly string[]): string[] {
  const shown: string[] = [];
  let left = ALL_WARNINGS - 32;
  // What no header may carry.
  const lines = warnings.map((text) =>
    String(text)
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim(),
  );
  const distinct = [...new Set(lines.filter((text) => text !== ""))];
  for (const [at, text] of distinct.entries()) {
    const cut = text.length > LONGEST_WARNING ? `${text.slice(0, LONGEST_WARNING - 1).trimEnd()}…` : text;
    if (cut.length > left) {
      shown.push(`and ${distinct.length - at} more warnings`);
      break;
    }
    left -= cut.length;
    shown.push(cut);
  }
  return shown;
}
