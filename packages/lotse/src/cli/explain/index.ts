/** `lotse explain` and `lotse retry`: questions to operators that run on this machine or elsewhere. */
export { type ExplainOptions, explain } from "./explain.ts";
export { listenLocally } from "./local-socket.ts";
export { type RetryOptions, retry, retryText } from "./retry.ts";
