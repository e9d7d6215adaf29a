/**
 * One request of a handler, as the option `record` of `start()` hears of it and as a recording keeps it.
 *
 * @example
 * ```ts
 * const requests: RecordedRequest[] = parseRecording(readFileSync("operator.requests.jsonl", "utf8"));
 * ```
 */
export interface RecordedRequest {
  /** The handler's id. */
  readonly handler: string;
  /** The HTTP method: `GET`. */
  readonly method: string;
  /** The path with its query: `/api/v1/namespaces/default/pods?limit=500`. */
  readonly path: string;
  /** Whether it follows changes. */
  readonly watch: boolean;
  /** Whether it opens a WebSocket, as `exec` and port-forward do. */
  readonly websocket: boolean;
}
