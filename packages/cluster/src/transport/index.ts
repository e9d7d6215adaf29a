export { HttpHookClient } from "./hook-client.ts";
export { type OpenPort, openPortEarly } from "./open-port.ts";
export { addressWithToken } from "./path-token.ts";
export { createRequestSigner } from "./request-signer.ts";
export { Listener, type ListenerOptions } from "./server.ts";
