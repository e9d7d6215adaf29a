import type { corev1 } from "../kinds/index.ts";
import type { Clock } from "../meta/index.ts";
import type {
  RawRequest,
  RawResponse,
  RequestOptions,
  WebSocketConnection,
  WebSocketRequest,
} from "../transport/index.ts";

/** What the functions of this room need of a pod: how to reach it, and its newest body. */
export interface PodAccess {
  readonly name: string;
  readonly namespace: string;
  /** `/api/v1/namespaces/<namespace>/pods/<name>` */
  readonly path: string;
  raw(request: RawRequest): Promise<RawResponse>;
  webSocket(request: WebSocketRequest): Promise<WebSocketConnection>;
  /** Reads the pod anew. */
  read(o?: RequestOptions): Promise<corev1.Pod>;
  readonly clock: Clock;
}

/** `pod default/web`, for messages. */
export const nameOf = (pod: PodAccess): string => `pod ${pod.namespace}/${pod.name}`;
