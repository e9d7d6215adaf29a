/** HTTP/1.1 over sockets: requests and answers, no upgrades. */
export { AnswerBody, type BodySource } from "./body.ts";
export { type DialOptions, dialer, type TlsPart } from "./dial.ts";
export type { WireExchange } from "./exchange.ts";
export type { AnswerHead } from "./head.ts";
export { Housekeeping } from "./housekeeping.ts";
export { ConnectionPool, type PoolOptions } from "./pool.ts";
export { HeaderBlock, type HeaderValue, linesOf, requestHead } from "./request-head.ts";
