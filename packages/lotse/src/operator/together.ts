/**
 * What operators share that run in one process: one port for webhooks, and one certificate where the API server knows
 * one address for all of them. Loads nothing of that by itself.
 */
import { type Declarations, isResourceClass } from "../declare/index.ts";
import type { StartOptions } from "./options.ts";
import type { SharedCertificates } from "./shared-certificates.ts";
import type { WebhookHost } from "./webhook-host.ts";

/** An operator, as far as it is about this; another copy of the package may not have all of it. */
type Asked = { readonly name: string } & Partial<Pick<Declarations, "admission" | "conversions" | "kinds">>;

/** See the module comment. `lotse run` makes one for all operators that it starts. */
export class Together {
  /**
   * The operator whose Secret has the certificate where all share one: the first by name, so that each replica chooses the
   * same. Undefined when the API server asks none of them.
   */
  readonly lead: string | undefined;
  /** By address and port. */
  readonly hosts = new Map<string, WebhookHost>();
  /** By where they are kept. */
  readonly certificates = new Map<string, SharedCertificates>();

  constructor(operators: readonly Asked[]) {
    [this.lead] = operators
      .filter(isAsked)
      .map(({ name }) => name)
      .sort();
  }
}

/** What `lotse run` says to each operator beside what all can say. */
export interface TogetherOptions extends StartOptions {
  readonly together?: Together | undefined;
}

/** Whether the API server asks anything of an operator; policies are asked of none. */
function isAsked({ admission = [], conversions, kinds = [] }: Asked): boolean {
  if (admission.length > 0 || (conversions?.size ?? 0) > 0) return true;
  return kinds.some((kind) => isResourceClass(kind) && kind.versions.length > 1);
}
