// Kopf for the benchmark: the one that the hand-over tests install.
import "../../scripts/typescript.mjs";

const { installKopf, KopfMissingError } = await import("../../tests/real/kopf/install.ts");

export { installKopf, KopfMissingError };
