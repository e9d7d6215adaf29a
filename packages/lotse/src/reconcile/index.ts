export { bindCleanUp } from "./bind.ts";
export { shows } from "./children/index.ts";
export { KindView } from "./kind-view.ts";
export { Level, type LevelParts } from "./level.ts";
export { type Author, type KindReads, NewState, type Reader } from "./reads.ts";
export { ReadSession } from "./session.ts";
export { World } from "./world.ts";
