/** What Kopf itself wrote, recorded. */
import { readFileSync } from "node:fs";
import type { KubeBody } from "@lotse/client";
import type { KopfOptions } from "./kopf-places.ts";

/** Recorded with the version of Kopf that `kopf` names. */
export interface Golden {
  readonly kopf: string;
  readonly prefixes: readonly [string, string, string];
  /** Id and how often it is repeated, then names under each prefix, on a Deployment's ReplicaSet, and without V1. */
  readonly keys: readonly (readonly [string, number, string[], string[], string[], string[], string[]])[];
  readonly progress: readonly {
    readonly mode: "smart" | "annotations" | "status";
    readonly options: KopfOptions;
    readonly id: string;
    readonly record: Record<string, unknown>;
    readonly written: Pick<KubeBody, "metadata" | "status">;
  }[];
  readonly bodies: readonly KubeBody[];
  readonly diffBase: readonly {
    /** Index in `bodies`. */
    readonly body: number;
    readonly options: KopfOptions;
    readonly essence: Record<string, unknown>;
    readonly written: Pick<KubeBody, "metadata" | "status">;
  }[];
}

/** What Kopf itself wrote and read, recorded. */
export const golden = JSON.parse(readFileSync(new URL("kopf.golden.json", import.meta.url), "utf8")) as Golden;
