import type { RequestUser } from "../user.ts";

/** One question to the authority that decides what users may do. */
export type AccessQuestion = ResourceQuestion | { readonly type: "path"; readonly verb: string; readonly path: string };

/** May it be done to a resource? */
export interface ResourceQuestion {
  readonly type: "resource";
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty when there is none; the same for the two below. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a user may do something, and by which rule. */
export type AccessCheck = (user: RequestUser, question: AccessQuestion) => { allowed: boolean; reason: string };
