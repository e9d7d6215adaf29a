export type { LiveQuery } from "./live.ts";
export {
  type Registered,
  Registration,
  RegistrationError,
  type RegistrationPlan,
  registrationManager,
} from "./registration.ts";
