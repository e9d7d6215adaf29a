/**
 * What an operator may do when it is deployed: its service account and exactly the role that `lotse generate deploy`
 * makes. `lotse dev --rbac` and tests give it to operators that run here, so that a right that is missing is missed
 * before production.
 */

import type { KubeBody } from "@lotse/client";
import { Commented } from "@lotse/client/meta";
import { accessManifests, permissionsOf } from "../../generate/index.ts";
import type { Operator } from "../../operator/index.ts";
import { type LoadedOperator, shownPath } from "../project/index.ts";
import { recordingInUse } from "../recording/index.ts";
import type { ProjectIo } from "../scan/index.ts";
import { type ScanResult, scanOperator } from "../scan/index.ts";
import type { Io } from "../terminal/index.ts";
import { handlerNeeds, unseenTexts } from "./handler-needs.ts";

/** See the module comment. */
export interface DeployedRights {
  /** The operator's service account: `default/exchange-rates`. */
  readonly account: string;
  /** The account, its roles and their bindings, in the order in which they are to be applied. */
  readonly manifests: readonly (KubeBody & { readonly apiVersion: string; readonly kind: string })[];
  /** A sentence for each handler of which it is not known what it asks for: the role has nothing for it. */
  readonly unseen: readonly string[];
  /** What would make them known. */
  readonly todo: string;
}

/** Where the operator works, and what is known of it. */
export interface RightsOptions {
  /** The namespaces that it serves; all of them unless told. */
  readonly namespaces?: readonly string[] | undefined;
  /** Where names of files count from; the process's own working directory unless told. */
  readonly cwd?: string | undefined;
  /** Its `LOTSE_RECORD` names the recording that counts; the process's own environment unless told. */
  readonly env?: Io["env"] | undefined;
}

/** Where accounts and roles live: as `lotse generate` has it unless told. */
const NAMESPACE = "default";

/**
 * The rights of an operator that is at hand, found by the files in which it was declared.
 *
 * @example
 * ```ts
 * const { account, manifests } = await rightsOf(operator);
 * for (const manifest of manifests) await admin.apply(manifest, { fieldManager: "test" });
 * const kubeconfig = cluster.kubeconfigFor({ serviceAccount: account });
 * ```
 */
export async function rightsOf(operator: Operator, options: RightsOptions = {}): Promise<DeployedRights> {
  const { namespaces, cwd = process.cwd(), env = process.env } = options;
  const [file = "operator.ts"] = operator.files;
  const loaded = { file: shownPath(file, cwd), operator };
  return deployedRights(loaded, [loaded], namespaces, { cwd, env, code: { scan: scanOnce } });
}

/**
 * What was read in the code of operators that are at hand. It takes a second, tests start the same operator again and
 * again, and an operator that has been loaded keeps its code: nothing but time depends on this.
 */
const READ = new WeakMap<Operator, Promise<ScanResult>>();

function scanOnce(loaded: LoadedOperator, cwd: string): Promise<ScanResult> {
  const { operator } = loaded;
  const scan = READ.get(operator) ?? scanOperator(loaded, cwd);
  READ.set(operator, scan);
  return scan;
}

/** The rights of an operator that was loaded from a file; `all` are those that the recording may be about. */
export async function deployedRights(
  loaded: LoadedOperator,
  all: readonly LoadedOperator[],
  namespaces: readonly string[] | undefined,
  io: Pick<ProjectIo, "cwd" | "env" | "code">,
): Promise<DeployedRights> {
  const { operator } = loaded;
  const { name } = operator;
  const handlers = await handlerNeeds(loaded, all, recordingInUse(io), io);
  const scope = { namespaces, crds: "wait", handlersPatch: handlers.isUnseen } as const;
  const needs = [...permissionsOf(operator, scope), ...handlers.needs];
  return {
    account: `${NAMESPACE}/${name}`,
    manifests: accessManifests({ name, namespace: NAMESPACE, needs, serves: namespaces }).map(plainOf),
    unseen: unseenTexts(handlers.unseen),
    todo: handlers.todo,
  };
}

/** Without the comments that only the text of a manifest has. */
function plainOf(manifest: object): DeployedRights["manifests"][number] {
  const plain = (_key: string, value: unknown) => (value instanceof Commented ? value.value : value);
  return JSON.parse(JSON.stringify(manifest, plain));
}
