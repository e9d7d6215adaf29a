import {
  applyJsonPatch,
  deepEqual,
  JsonPatchError,
  type JsonPatchOperation,
  parseJsonPointer,
} from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type ApiObject,
  type Endpoint,
  fromStore,
  type HookClient,
  HookError,
  HookSetupError,
  type HookTarget,
  internal,
  isRecord,
  lenientOperation,
  listAt,
  objectAt,
} from "../registry/index.ts";
import type { Entry } from "../store/index.ts";
import type { AdmissionPlugin, MutationRound } from "./chain.ts";
import { type Conditions, compileConditions, type ExpressionOptions } from "./conditions.ts";
import { type Criteria, matchRequest, readCriteria } from "./matching.ts";
import { type AdmissionBackend, isExempt, shownAs, takenBack } from "./request.ts";
import {
  denied,
  InvalidAnswer,
  type ReviewVersion,
  readVerdict,
  reviewOf,
  showRequest,
  type Verdict,
} from "./review.ts";

/** A webhook out of a configuration, with all that can be known of it before a request comes. */
interface Webhook {
  /** Of its configuration and itself: what a second round remembers it by. */
  readonly id: string;
  readonly name: string;
  readonly target: HookTarget;
  readonly criteria: Criteria;
  readonly conditions: Conditions | undefined;
  readonly ignoresFailure: boolean;
  readonly timeoutSeconds: number;
  readonly version: ReviewVersion | undefined;
  readonly reinvoked: boolean;
}

const MUTATING_CONFIGURATIONS = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING_CONFIGURATIONS = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/** What webhooks are called with, and what their match conditions may look at. */
export interface WebhookOptions extends ExpressionOptions {
  readonly backend: AdmissionBackend;
  readonly client: HookClient;
}

/** A webhook that was not reached, or whose answer makes no sense: what happens then its configuration says. */
class CallFailed extends Error {
  constructor(webhook: string, reason: string) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
  }
}

/** Asks the webhooks that configurations name: some to change objects, one after the other, then others to judge them. */
export function webhooks(options: WebhookOptions): AdmissionPlugin {
  const mutating = new Configurations(options, MUTATING_CONFIGURATIONS);
  const validating = new Configurations(options, VALIDATING_CONFIGURATIONS);
  const caller = new Caller(options);
  return {
    mutate: (attributes, round) => mutateAll(options, mutating, caller, attributes, round),
    validate: (attributes) => validateAll(options, validating, caller, attributes),
  };
}

/** The webhooks of one kind of configuration, in order of names; read anew only when a configuration changed. */
class Configurations {
  readonly #options: WebhookOptions;
  readonly #table: string;
  #entries: readonly Entry[] = [];
  #webhooks: Promise<readonly Webhook[]> = Promise.resolve([]);

  constructor(options: WebhookOptions, table: string) {
    this.#options = options;
    this.#table = table;
  }

  current(): Promise<readonly Webhook[]> {
    const entries = this.#options.backend.store.list(this.#table);
    const same = entries.length === this.#entries.length && entries.every((entry, i) => entry === this.#entries[i]);
    if (!same) {
      this.#entries = entries;
      this.#webhooks = Promise.all(
        entries.flatMap((entry) => {
          const configuration = fromStore(entry.object);
          return listAt(configuration, "webhooks").map((hook) => readWebhook(hook, entry.key, this.#options));
        }),
      );
    }
    return this.#webhooks;
  }
}

async function readWebhook(
  hook: Record<string, unknown>,
  configuration: string,
  options: ExpressionOptions,
): Promise<Webhook> {
  const versions = Array.isArray(hook.admissionReviewVersions) ? hook.admissionReviewVersions : [];
  const name = String(hook.name);
  const ignoresFailure = hook.failurePolicy === "Ignore";
  const conditions = listAt(hook, "matchConditions");
  return {
    id: `${configuration}/${name}`,
    name,
    target: objectAt(hook, "clientConfig") as HookTarget,
    criteria: readCriteria(hook, "rules"),
    conditions: conditions.length > 0 ? await compileConditions(conditions, options, ignoresFailure) : undefined,
    ignoresFailure,
    timeoutSeconds: typeof hook.timeoutSeconds === "number" ? hook.timeoutSeconds : 10,
    version: versions.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1"),
    reinvoked: hook.reinvocationPolicy === "IfNeeded",
  };
}

/** What the first round leaves for the second: which webhooks want to look again. */
interface Reinvocation {
  /** Ran already, and would run again if anything changed since. */
  readonly ready: Set<string>;
  /** Something changed since they ran. */
  readonly due: Set<string>;
  last: ApiObject | undefined;
}

async function mutateAll(
  options: WebhookOptions,
  configurations: Configurations,
  caller: Caller,
  attributes: AdmissionAttributes,
  round: MutationRound,
): Promise<ApiObject | undefined> {
  if (isExempt(attributes)) return attributes.object;
  const memory = round.recall<Reinvocation>(configurations, () => ({
    ready: new Set(),
    due: new Set(),
    last: undefined,
  }));
  const changed = () => {
    for (const id of memory.ready) memory.due.add(id);
    memory.ready.clear();
  };
  if (round.second && !deepEqual(memory.last, attributes.object)) changed();
  let current = attributes;
  for (const webhook of await configurations.current()) {
    const matched = await concerns(options, webhook, current);
    // No webhook is called for the first time in the second round.
    if (!matched || (round.second && !memory.due.has(webhook.id))) continue;
    const object = await caller.mutate(webhook, current, matched);
    if (object !== undefined && !deepEqual(object, current.object)) {
      changed();
      round.again();
      current = { ...current, object };
    }
    if (webhook.reinvoked) memory.ready.add(webhook.id);
  }
  memory.last = current.object;
  return current.object;
}

async function validateAll(
  options: WebhookOptions,
  configurations: Configurations,
  caller: Caller,
  attributes: AdmissionAttributes,
): Promise<void> {
  if (isExempt(attributes)) return;
  const relevant: [Webhook, Endpoint][] = [];
  for (const webhook of await configurations.current()) {
    const matched = await concerns(options, webhook, attributes);
    if (matched) relevant.push([webhook, matched]);
  }
  const results = await Promise.allSettled(
    relevant.map(([webhook, matched]) => caller.validate(webhook, attributes, matched)),
  );
  const refusal = results.find((result) => result.status === "rejected");
  if (refusal) throw refusal.reason;
}

async function concerns(
  { backend }: WebhookOptions,
  webhook: Webhook,
  attributes: AdmissionAttributes,
): Promise<Endpoint | undefined> {
  const matched = matchRequest(attributes, webhook.criteria, backend);
  if (!matched || !webhook.conditions) return matched;
  return (await webhook.conditions.hold(attributes, matched)) ? matched : undefined;
}

class Caller {
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async validate(webhook: Webhook, attributes: AdmissionAttributes, matched: Endpoint): Promise<void> {
    const object = await shownAs(attributes, matched, attributes.object);
    await this.#ask(webhook, attributes, matched, object, false);
  }

  /** The object that the webhook made of the given one; undefined when it left it alone. */
  async mutate(webhook: Webhook, attributes: AdmissionAttributes, matched: Endpoint): Promise<ApiObject | undefined> {
    const object = await shownAs(attributes, matched, attributes.object);
    const verdict = await this.#ask(webhook, attributes, matched, object, true);
    if (verdict?.patch === undefined) return undefined;
    let operations: JsonPatchOperation[];
    try {
      operations = decodePatch(verdict.patch);
      if (operations.length > 0 && verdict.patchType !== "JSONPatch") {
        const reason = `unsupported patch type ${JSON.stringify(verdict.patchType)}`;
        return this.#failed(webhook, new CallFailed(webhook.name, reason));
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const reason = `received undecodable patch in webhook response: ${(error as Error).message}`;
      return this.#failed(webhook, new CallFailed(webhook.name, reason));
    }
    if (operations.length === 0) return undefined;
    if (object === undefined) {
      const text = `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`;
      throw internal(text);
    }
    return takenBack(attributes, matched, patched(object, operations));
  }

  /** Undefined when the webhook failed and its configuration says that this does not matter. */
  async #ask(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    matched: Endpoint,
    object: ApiObject | undefined,
    mutating: boolean,
  ): Promise<Verdict | undefined> {
    const oldObject = await shownAs(attributes, matched, attributes.oldObject);
    let verdict: Verdict;
    try {
      verdict = await this.#call(webhook, attributes, matched, object, oldObject, mutating);
    } catch (error) {
      if (error instanceof CallFailed) return this.#failed(webhook, error);
      throw error;
    }
    for (const warning of verdict.warnings) attributes.warn(warning);
    if (!verdict.allowed) throw denied(webhook.name, verdict.status);
    return verdict;
  }

  #failed(webhook: Webhook, error: CallFailed): undefined {
    if (webhook.ignoresFailure) return undefined;
    throw internal(error.message);
  }

  async #call(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    matched: Endpoint,
    object: ApiObject | undefined,
    oldObject: ApiObject | undefined,
    mutating: boolean,
  ): Promise<Verdict> {
    const { client, backend } = this.#options;
    const { name, version } = webhook;
    if (version === undefined) {
      const reason = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
      throw new CallFailed(name, `could not create admission objects: ${reason}`);
    }
    const uid = backend.uuid();
    const review = reviewOf(uid, version, showRequest(attributes, matched), object, oldObject);
    let answer: unknown;
    try {
      answer = await client.post(webhook.target, review, webhook.timeoutSeconds);
    } catch (error) {
      if (error instanceof HookSetupError) throw new CallFailed(name, `could not get REST client: ${error.message}`);
      if (error instanceof HookError) throw new CallFailed(name, `failed to call webhook: ${error.message}`);
      throw error;
    }
    try {
      return readVerdict(answer, uid, version, mutating);
    } catch (error) {
      if (error instanceof HookError) throw new CallFailed(name, `failed to call webhook: ${error.message}`);
      if (!(error instanceof InvalidAnswer)) throw error;
      throw new CallFailed(name, `received invalid webhook response: ${error.message}`);
    }
  }
}

function decodePatch(base64: string): JsonPatchOperation[] {
  const text = new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || !value.every(isRecord)) {
    throw new SyntaxError("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  return value as unknown as JsonPatchOperation[];
}

function patched(object: ApiObject, operations: readonly JsonPatchOperation[]): Record<string, unknown> {
  let value: unknown = object;
  for (const operation of operations) {
    try {
      value = applyJsonPatch(value, [lenientOperation(value, operation)]);
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error;
      throw internal(describePatchFailure(value, operation));
    }
  }
  return isRecord(value) ? value : {};
}

/** In the words of the library that a real server applies patches with. */
export function describePatchFailure(value: unknown, operation: JsonPatchOperation): string {
  const { op, path } = operation;
  const keys = parseJsonPointer(path) ?? [];
  const key = keys.pop() ?? "";
  let parent = value;
  for (const step of keys) parent = isRecord(parent) || Array.isArray(parent) ? parent[step as never] : undefined;
  switch (op) {
    case "test":
      return `testing value ${path} failed: test failed`;
    case "replace":
      return `replace operation does not apply: doc is missing path: ${path}: missing value`;
    case "remove":
      if (isRecord(parent)) {
        return `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`;
      }
      return `remove operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
    case "add":
    case "move":
    case "copy":
      return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
    default:
      return `Unexpected kind: ${String(op)}`;
  }
}
