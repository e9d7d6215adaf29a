/**
 * `lotse dev --rbac`: the operator works with nothing but what it will have when it is deployed. Its definitions, its
 * service account and exactly the role that `lotse generate deploy` makes are put into the cluster, and it connects with
 * the account's token: a right that is missing is missed while developing, not in production.
 */
import { type Client, ForbiddenError, Namespace, type RequestListener } from "@lotse/client";
import { isResourceClass } from "../../declare/index.ts";
import { installCrd } from "../../install/index.ts";
import type { StartOptions } from "../../operator/index.ts";
import type { Logger } from "../../report/index.ts";
import { needOf } from "../../report/index.ts";
import { deployedRights, includesRequest, type MissingRight, missingRight } from "../permissions/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import { type RecordRequest, readRecordings, recordingInUse } from "../recording/index.ts";
import type { Io } from "../terminal/index.ts";
import type { HandlerContext } from "./handler-context.ts";

/** What {@link DevRights} needs. */
export interface DevRightsOptions {
  /** The administrator. */
  readonly admin: Client;
  /** A client that is the service account `namespace/name`. */
  readonly connectAs: (account: string) => Promise<Client>;
  readonly namespaces: readonly string[] | undefined;
  readonly handlers: Pick<HandlerContext, "current">;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Writes down what handlers ask for; undefined when the user has not asked for it. */
  readonly record: RecordRequest | undefined;
  readonly io: Pick<Io, "cwd" | "env" | "onKey">;
}

/** See the module comment. */
export class DevRights {
  readonly #options: DevRightsOptions;
  readonly #clients = new Map<string, Client>();

  constructor(options: DevRightsOptions) {
    this.#options = options;
  }

  /** Gives each operator its account and its role, and what it has to be started with to have no other rights. */
  async grant(operators: readonly LoadedOperator[]): Promise<(one: LoadedOperator) => StartOptions> {
    for (const one of operators) await this.#grantOne(one, operators);
    return (one) => this.#startOptions(one);
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
    this.#clients.clear();
  }

  async #grantOne(loaded: LoadedOperator, all: readonly LoadedOperator[]): Promise<void> {
    const { admin, namespaces, logger, signal, io } = this.#options;
    const { operator, file } = loaded;
    const { name } = operator;
    for (const { resource } of operator.resources) {
      if (!isResourceClass(resource) || !(await installCrd(admin, resource, name, signal))) continue;
      logger.info("the custom resource definition is installed", { crd: resource.crd().metadata?.name });
    }
    const { account, manifests, unseen, todo } = await deployedRights(loaded, all, namespaces, io);
    for (const text of unseen) logger.warn(text, { file, hint: todo });
    for (const namespace of namespaces ?? []) await this.#ensureNamespace(namespace);
    for (const manifest of manifests) {
      await admin.apply(manifest, { fieldManager: "lotse-dev", force: true, signal });
    }
    if (!this.#clients.has(name)) this.#clients.set(name, await this.#options.connectAs(account));
  }

  async #ensureNamespace(name: string): Promise<void> {
    const { admin, signal } = this.#options;
    // A pattern names none.
    if (/^[a-z0-9-]+$/.test(name)) await admin.apply(Namespace.gen({ name }), { fieldManager: "lotse-dev", signal });
  }

  #startOptions(loaded: LoadedOperator): StartOptions {
    const client = this.#clients.get(loaded.operator.name);
    return { ...(client && { client: client.with({ onRequest: this.#listener(loaded) }) }), crds: "wait" };
  }

  /** Tells each right that turns out to be missing, once until the next start. */
  #listener(loaded: LoadedOperator): RequestListener {
    const told = new Set<string>();
    return (request) => {
      // What the framework itself may not do, it says itself, or does without.
      const handler = this.#options.handlers.current;
      if (!handler) return undefined;
      return {
        ended: (end) => {
          if (!("error" in end) || !(end.error instanceof ForbiddenError)) return;
          const missing = missingRight(request);
          if (!missing || told.has(missing.text)) return;
          told.add(missing.text);
          // Also what is asked for on its behalf: a kind that it reads is followed from then on.
          this.#options.record?.({ handler: handler.id, ...request });
          this.#tell(loaded, missing, handler.id);
        },
      };
    };
  }

  #tell(loaded: LoadedOperator, missing: MissingRight, handler: string): void {
    const { logger, namespaces, io } = this.#options;
    const recorded = readRecordings(loaded.file, recordingInUse(io), io).flatMap((one) => needOf(one) ?? []);
    const included = includesRequest(recorded, missing, namespaces);
    const restart = io.onKey ? "press r" : "save the file";
    logger.warn("the operator's role does not allow what it asks for", {
      handler,
      missing: missing.text,
      rule: missing.rule,
      generate: included
        ? "lotse generate rbac includes it from now on: it was recorded just now"
        : "lotse generate rbac does not include it",
      hint: included
        ? `${restart} to go on with the new role`
        : namespaces?.length
          ? "it is outside of the namespaces that are served: serve that one too (-n), or add the rule yourself"
          : "add the rule yourself, or let lotse dev record it (LOTSE_RECORD is off)",
    });
  }
}
