import {
  type ApiObject,
  type Catalog,
  type Endpoint,
  type Expressions,
  fromStore,
  inlineSchema,
  listAt,
  objectAt,
  patch,
  type Schema,
} from "../registry/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const GROUP = "admissionregistration.k8s.io";
const PLURAL = "validatingadmissionpolicies";
const POLICIES = `${PLURAL}.${GROUP}`;
const APPLY = {
  dryRun: false,
  fieldManager: "validatingadmissionpolicy-status-controller",
  fieldValidation: "Ignore",
  force: true,
} as const;
/** Of a rule that names more kinds, these many are looked at. */
const MOST_KINDS = 10;

/**
 * Looks at the expressions of ValidatingAdmissionPolicies with the types of the objects that they will see, and tells in
 * the status what is wrong with them: nothing else would, until such an object is written.
 */
export class PolicyController implements Controller {
  readonly #context: ControllerContext;
  readonly #expressions: () => Promise<Expressions>;
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext, expressions: () => Promise<Expressions>) {
    this.#context = context;
    this.#expressions = expressions;
    this.#queue = new WorkQueue(context.backend, "the controller of admission policies", (name) => this.#judge(name));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    this.#queue.follow(POLICIES);
  }

  stop(): void {
    this.#queue.stop();
  }

  async #judge(name: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(POLICIES, name);
    const endpoint = backend.catalog.storage(GROUP, PLURAL);
    if (!entry || !endpoint) return;
    const policy = fromStore(entry.object);
    const { generation = 0 } = policy.metadata;
    if (generation <= Number(objectAt(policy, "status").observedGeneration ?? 0)) return;
    const expressionWarnings = await checkExpressions(policy, backend.catalog, this.#expressions);
    const value = {
      apiVersion: `${GROUP}/v1`,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      status: {
        observedGeneration: generation,
        typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
      },
    };
    const target = { endpoint, namespace: undefined, name, subresource: "status" };
    await patch(backend, requester, target, "apply", { value, duplicateFields: [], typed: false, text: "" }, APPLY);
  }
}

/** What is wrong with an expression of a policy, and where it stands. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/**
 * The expressions of a ValidatingAdmissionPolicy, held against the types of the kinds that it names one by one. The engine
 * is asked for when there is something to look at.
 */
export async function checkExpressions(
  policy: ApiObject,
  catalog: Catalog,
  load: () => Promise<Expressions>,
): Promise<ExpressionWarning[]> {
  const kinds = kindsOf(policy, (group, version, plural) => catalog.find(group, version, plural));
  if (kinds.length === 0) return [];
  const expressions = await load();
  const spec = objectAt(policy, "spec");
  const params = paramsOf(policy, catalog);
  const variables = listAt(spec, "variables").map(({ name, expression }) => ({
    name: String(name),
    expression: String(expression),
  }));
  const checkers = kinds.map((endpoint) => ({
    shown: shownKind(endpoint),
    check: expressions.checkerOf({ object: schemaOf(endpoint), params }, spec.paramKind !== undefined, variables),
  }));
  const complaints = (expression: unknown): string =>
    checkers
      .flatMap(({ shown, check }) => {
        const problem = check(String(expression));
        return problem === undefined ? [] : [`${shown}: ${problem}\n`];
      })
      .join("\n");
  return listAt(spec, "validations").flatMap((validation, i) =>
    ["expression", "messageExpression"].flatMap((key) => {
      const warning = validation[key] ? complaints(validation[key]) : "";
      return warning === "" ? [] : [{ fieldRef: `spec.validations[${i}].${key}`, warning }];
    }),
  );
}

function paramsOf(policy: ApiObject, catalog: Catalog): Schema | undefined {
  const { apiVersion, kind } = objectAt(policy, "spec", "paramKind");
  const [version = "", group = ""] = String(apiVersion ?? "")
    .split("/")
    .reverse();
  const resource = kind === undefined ? undefined : catalog.byKind(group, String(kind));
  const found = resource?.versions.get(version);
  return resource && found && schemaOf({ resource, version: found });
}

const schemaOf = ({ version }: Endpoint): Schema => {
  const { schema, resolve } = version.codec.tracked;
  return inlineSchema(schema, resolve);
};

const shownKind = ({ resource, version }: Endpoint): string =>
  `${resource.group}/${version.version}, Kind=${resource.kind}`;

type Find = (group: string, version: string, plural: string) => Endpoint | undefined;

/** The kinds that the rules of a policy name one by one; a wildcard names none. */
function kindsOf(policy: ApiObject, find: Find): Endpoint[] {
  const kinds = new Map<string, Endpoint>();
  for (const rule of listAt(policy, "spec", "matchConstraints", "resourceRules")) {
    const texts = (key: string) => (Array.isArray(rule[key]) ? rule[key].map(String).sort() : []);
    const [groups, versions] = [texts("apiGroups"), texts("apiVersions")];
    if ([...groups, ...versions].some((text) => text.includes("*"))) continue;
    const plurals = texts("resources").filter((text) => !/[*/]/.test(text));
    const named = groups.flatMap((group) => versions.flatMap((version) => plurals.map((p) => find(group, version, p))));
    const found = named.filter((endpoint) => endpoint !== undefined).slice(0, MOST_KINDS);
    for (const endpoint of found) kinds.set(sortKey(endpoint), endpoint);
    if (found.length === MOST_KINDS) break;
  }
  return [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

const sortKey = ({ resource, version }: Endpoint): string =>
  [resource.group, version.version, resource.kind].join("\u0000");
