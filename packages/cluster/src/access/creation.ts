import type { AdmissionPlugin } from "../admission/index.ts";
import { type Authorizer, refusal } from "./authorizer.ts";
import type { Attempt } from "./rules.ts";
import { isMaster } from "./users.ts";

/**
 * An update or an apply of an object that is not there creates it, for which one needs the right to create. A user
 * who creates in the ordinary way has it and is asked a second time, which changes nothing.
 */
export function creationChecks(authorizer: Authorizer): AdmissionPlugin {
  return {
    validate({ operation, endpoint, subresource, namespace = "", object, user }) {
      if (operation !== "CREATE" || subresource !== undefined || isMaster(user)) return;
      const { group, plural } = endpoint.resource;
      const name = object?.metadata.name ?? "";
      const attempt: Attempt = {
        type: "resource",
        verb: "create",
        group,
        resource: plural,
        subresource: "",
        namespace,
        name,
      };
      const { allowed, reason } = authorizer.decide(user, attempt);
      if (!allowed) throw refusal(user, attempt, reason);
    },
  };
}
