/** `lotse explain` and `lotse retry`: questions to operators that run on this machine or elsewhere. */
export { type ExplainOptions, explain } from "./explain.ts";
export { ask, listenLocally, localSockets, open, pidOf, socketFolders, textOf } from "./local-socket.ts";
export { explainMemory } from "./memory.ts";
export { type RetryOptions, retry, retryText } from "./retry.ts";
