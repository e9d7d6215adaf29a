export type { LiveQuery } from "./live.ts";
export {
  type Registered,
  Registration,
  RegistrationError,
  type RegistrationParts,
  type RegistrationPlan,
  registeredNames,
  registrationManager,
} from "./registration.ts";
