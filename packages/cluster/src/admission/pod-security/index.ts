export { podSecurity } from "./plugin.ts";
