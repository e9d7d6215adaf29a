/**
 * An operator that makes its own certificates and registers nothing: only it knows whom the API server has to believe, and
 * it does not tell the API server. So it tells people, and refuses to start where they could not go by it.
 */
import { ConfigError } from "@lotse/client/meta";
import type { WebhookOptions } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import type { WebhookAccess } from "./webhook-access.ts";

/** See the module comment. */
export class UntoldAuthority {
  readonly #where: WebhookAccess["authorityIn"];
  readonly #logger: Logger;
  #told: string | undefined;

  /** Throws where the authority would be in the memory of this process alone, and another one after each start. */
  constructor(where: WebhookAccess["authorityIn"], { certificates = "own" }: WebhookOptions, logger: Logger) {
    if (certificates === "own" && !where) {
      throw new ConfigError(
        "The operator makes its own certificate, keeps it in memory, and is told not to register its webhooks: no API server would believe it.",
        {
          hint: "Leave out register: false (--no-register), give it files with certificates: { dir } (--certificates DIR), or keep its certificate with webhooks: { secret }.",
        },
      );
    }
    this.#where = where;
    this.#logger = logger;
  }

  /** `caBundle` is what the API server has to believe from now on. */
  tell(caBundle: string | undefined): void {
    const where = this.#where;
    if (!where || caBundle === undefined || caBundle === this.#told) return;
    const { namespace, secret } = where;
    const fields = {
      secret: `${namespace}/${secret}`,
      key: "ca.crt",
      hint: `its caBundle is: kubectl get secret -n ${namespace} ${secret} -o jsonpath='{.data.ca\\.crt}'`,
    };
    if (this.#told === undefined) {
      this.#logger.info(
        "the operator registers nothing: whoever does has to say that its authority is believed",
        fields,
      );
    } else {
      this.#logger.warn(
        "the authority of the webhook server has changed: whoever has registered it has to follow",
        fields,
      );
    }
    this.#told = caBundle;
  }
}
