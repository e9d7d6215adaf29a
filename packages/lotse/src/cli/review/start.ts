/** Before an operator waits for permissions that it will never get, it says which, and how to give them. */
import type { Client } from "@lotse/client";
import { type Coordination, type CoordinationPlan, needsDiscovery } from "../../declare/index.ts";
import { type Need, permissionsOf, type WebhookRoles } from "../../generate/index.ts";
import type { Logger } from "../../report/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import type { Io } from "../terminal/index.ts";
import { type LogOptions, logFormatOf, Problem } from "../terminal/index.ts";
import { grantText, lacksAny, missingTexts, type PermissionReview, reviewPermissions } from "./permissions.ts";
import { rolesOfOperator } from "./registered.ts";

/** Whose permissions are looked at, and where. */
export interface PermissionQuestion {
  readonly operators: readonly LoadedOperator[];
  readonly client: Client;
  readonly namespaces: readonly string[] | undefined;
  /** Who brings the definitions; undefined: as each operator says. */
  readonly crds: "install" | "wait" | undefined;
  /** Who registers webhooks and makes certificates; default: the operator, with one that it keeps to itself. */
  readonly webhooks?: WebhookRoles | undefined;
  /** How processes share the work, by what an operator says of itself; default: just that. */
  readonly coordination?: ((own: Coordination | undefined) => CoordinationPlan) | undefined;
  /** Whether those who read metrics are asked who they are. */
  readonly metricsAuth?: boolean | undefined;
  /** Where the operator keeps what is its own; default: the namespace of the client. */
  readonly ownNamespace?: string | undefined;
  /** What the handlers need besides. */
  readonly asked?: readonly Need[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is asked about, and how the answer is told. */
export interface StartQuestion extends PermissionQuestion {
  /** Who the server takes us for. */
  readonly user: string | undefined;
  readonly logger: Logger;
  /** Without all permissions, do not start. */
  readonly required: boolean | undefined;
}

/** What the operators need, compared with what the server allows. */
export async function reviewOperators(question: PermissionQuestion): Promise<PermissionReview> {
  const { operators, client, namespaces, crds, metricsAuth, asked = [], signal } = question;
  const { webhooks = { registers: "operator", keepsSecret: false } satisfies WebhookRoles } = question;
  const discovering = operators.some(({ operator }) => needsDiscovery(operator.resources));
  const discovered = discovering ? (await client.discover({ signal })).kinds : [];
  const framework = await Promise.all(
    operators.map(async ({ operator }) => {
      const roles = await rolesOfOperator(client, operator, webhooks, signal);
      const coordination = question.coordination?.(operator.options.coordination);
      const where = { namespaces, discovered, crds, webhooks: roles, coordination, metricsAuth };
      return permissionsOf(operator, where);
    }),
  );
  return reviewPermissions(client, [...framework.flat(), ...asked], namespaces, signal, question.ownNamespace);
}

/** One warning about all that is missing; a {@link Problem} instead where everything is required. */
export async function tellMissingPermissions(question: StartQuestion, options: LogOptions, io: Io): Promise<void> {
  const { operators, user, logger, required, signal } = question;
  const review = await reviewOperators(question).catch((error: unknown) => {
    if (required && !signal?.aborted) throw unknown((error as Error).message);
    // Advice, no more: the operator finds out by itself what it may not do.
    logger.debug("permissions could not be looked at", { error });
    return undefined;
  });
  if (!review) return;
  if (review.unanswered !== undefined) {
    if (required) throw unknown(review.unanswered);
    logger.debug("some permissions could not be looked at", { error: review.unanswered });
  }
  if (!lacksAny(review)) return;
  const missing = missingTexts(review);
  const rbac = grantText(review, { name: nameOf(operators), user: user ?? "WHO-RUNS-THE-OPERATOR" });
  const json = logFormatOf(io, options) === "json";
  logger.warn("permissions are missing, the operator waits for them", {
    user,
    missing: missing.join("; "),
    ...(json && { rbac }),
    hint: json ? "apply the field rbac as an administrator" : "save what follows, and apply it as an administrator",
  });
  if (!json) io.stderr.write(rbac);
  if (!required) return;
  throw new Problem({
    what: "permissions are missing, and --require-permissions was given",
    why: missing.join("; "),
    todo: "apply the rules above as an administrator, then start again",
  });
}

function unknown(why: string): Problem {
  return new Problem({
    what: "permissions could not be looked at, and --require-permissions was given",
    why,
    todo: "allow create of selfsubjectaccessreviews and selfsubjectrulesreviews, or leave the option out",
  });
}

function nameOf(operators: readonly LoadedOperator[]): string {
  const [first] = operators;
  return operators.length === 1 && first ? first.operator.name : "operators";
}
