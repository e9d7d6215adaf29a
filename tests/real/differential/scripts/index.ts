import type { Script } from "../script.ts";
import { limits, policies } from "./admission.ts";
import { serverSideApply } from "./apply.ts";
import { namespacesScript, reviews, secretsScript, smallKinds } from "./built-ins.ts";
import { configMaps } from "./config-maps.ts";
import { customResources } from "./custom-resources.ts";
import { definitions } from "./definitions.ts";
import { discovery } from "./discovery.ts";
import { evictions } from "./evictions.ts";
import { expiry } from "./expiry.ts";
import { expressions } from "./expressions.ts";
import { fieldValidation } from "./field-validation.ts";
import { flowControl } from "./flow-control.ts";
import { forms } from "./forms.ts";
import { kinds } from "./kinds.ts";
import { lists } from "./lists.ts";
import { patches } from "./patches.ts";
import { paths } from "./paths.ts";
import { podRules } from "./pod-rules.ts";
import { podSecurity } from "./pod-security.ts";
import { ratcheting } from "./ratcheting.ts";
import { accessControl } from "./rbac.ts";
import { spoiltAdmission } from "./spoilt-admission.ts";
import { spoiltFlow } from "./spoilt-flow.ts";
import { spoiltNetwork } from "./spoilt-network.ts";
import { spoiltPolicy } from "./spoilt-policy.ts";
import { spoiltServer } from "./spoilt-server.ts";
import { spoiltServices } from "./spoilt-services.ts";
import { spoiltStorage } from "./spoilt-storage.ts";
import { statuses } from "./statuses.ts";
import { coreStatuses } from "./statuses-core.ts";
import { subresources } from "./subresources.ts";
import { updates } from "./updates.ts";
import { versions } from "./versions.ts";
import { warnings } from "./warnings.ts";
import { watches } from "./watches.ts";
import { workloadRules } from "./workload-rules.ts";
import { yaml } from "./yaml.ts";

/** Every script, each independent of the others. */
export const scripts: readonly Script[] = [
  discovery,
  configMaps,
  patches,
  serverSideApply,
  fieldValidation,
  lists,
  watches,
  paths,
  secretsScript,
  namespacesScript,
  smallKinds,
  reviews,
  definitions,
  customResources,
  kinds,
  spoiltNetwork,
  spoiltStorage,
  spoiltPolicy,
  spoiltServer,
  spoiltAdmission,
  spoiltFlow,
  spoiltServices,
  ...statuses,
  ...coreStatuses,
  evictions,
  updates,
  subresources,
  versions,
  forms,
  expressions,
  flowControl,
  accessControl,
  policies,
  limits,
  ...podRules,
  podSecurity,
  warnings,
  ratcheting,
  ...workloadRules,
  yaml,
  // Last, because it forgets what the others did.
  expiry,
];
