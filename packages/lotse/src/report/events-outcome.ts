/** What follows a failed write of an Event: a pure decision over the error. */
import { AlreadyExistsError, ApiError, NotFoundError } from "@lotse/client";

/** The next step after a failure. */
export type EventStep =
  /** Wait and send it again. `uncertain`: this one may have landed. */
  | { readonly type: "retry"; readonly atLeastMs: number; readonly uncertain: boolean }
  /** It is there already, because an earlier try landed: go on with a PATCH. */
  | { readonly type: "patch" }
  /** It is gone, or its name is taken: make a new one. */
  | { readonly type: "recreate" }
  /** Nothing more can be done. No `problem`: that was to be expected. */
  | { readonly type: "give-up"; readonly problem: string | undefined };

/** Decides what follows a failed `verb`; `uncertain`: an earlier POST may have landed. */
export function stepAfter(
  error: unknown,
  o: { readonly verb: "create" | "patch"; readonly uncertain: boolean; readonly last: boolean },
): EventStep {
  if (!(error instanceof ApiError)) {
    if (o.last) return { type: "give-up", problem: "Events cannot be posted: the API server does not answer" };
    return { type: "retry", atLeastMs: 0, uncertain: true };
  }
  if (error instanceof AlreadyExistsError) {
    if (o.last) return { type: "give-up", problem: "Events cannot be posted: their names are taken" };
    return { type: o.uncertain ? "patch" : "recreate" };
  }
  // An Event that lived out its time (an hour by default) or was deleted begins anew.
  if (error instanceof NotFoundError && o.verb === "patch" && !o.last) return { type: "recreate" };
  if (isTemporary(error.status)) {
    if (o.last) return { type: "give-up", problem: "Events cannot be posted: the API server is too busy or broken" };
    return { type: "retry", atLeastMs: error.retryAfterMs ?? 0, uncertain: error.status >= 500 };
  }
  return { type: "give-up", problem: problemOf(error, o.verb) };
}

function isTemporary(status: number): boolean {
  return status === 409 || status === 429 || status >= 500;
}

function problemOf(error: ApiError, verb: "create" | "patch"): string | undefined {
  if (error.status === 403) {
    // A namespace on its way out takes no new objects, and its Events go with it.
    if (error.details.causes?.some(({ reason }) => reason === "NamespaceTerminating")) return undefined;
    return `Events cannot be posted: the operator is not allowed to ${verb} events`;
  }
  if (error.status === 404) return "Events cannot be posted: their namespace does not exist";
  return "Events cannot be posted: the API server refuses them";
}
