export { type Delayed, DelayHeap } from "./heap.ts";
export { PRIORITY, type Priority } from "./ready.ts";
export { type QueuedState, type QueueObserver, WorkQueue, type WorkQueueOptions } from "./workqueue.ts";
