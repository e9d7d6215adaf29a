/** Which cluster does a command work on? Found, asked, and confirmed where it looks like production. */
export { type Connection, type ConnectOptions, connect, connectPatiently } from "./connect.ts";
export { useAsDefault } from "./default-client.ts";
export { confirmContext } from "./production.ts";
