/** What is in the cluster, as a test puts it there, waits for it, and reads it? */
export { type Applicable, applyAll } from "./apply.ts";
export { differenceLines, type LeafDifference, leafDifferences, patternDifferences, valueText } from "./differences.ts";
export { maskObjects, type Snapshot } from "./mask.ts";
export { isNote, isOfCluster, objectsIn, type StoredBody, titleOf } from "./rows.ts";
export { conditionLines, type InVain, inVainText, isAsWanted, type PatternOf, type Wanted, yamlOf } from "./until.ts";
