export { bindCleanUp } from "./bind.ts";
export { shows } from "./children/index.ts";
export { KindReconcilers, type KindReconcilersParts } from "./kind-reconcilers.ts";
export { KindView } from "./kind-view.ts";
export { type Author, type KindReads, NewState, type Reader } from "./reads.ts";
export { ReadSession } from "./session.ts";
export { TrackedKinds } from "./tracked-kinds.ts";
