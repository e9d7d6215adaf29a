export { PRIORITY, type Priority } from "./ready.ts";
export { WorkQueue, type WorkQueueOptions } from "./workqueue.ts";
