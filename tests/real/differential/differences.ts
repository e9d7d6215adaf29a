import { type Deviation, deviations } from "./deviations.ts";
import { flatten } from "./script.ts";
import { scripts } from "./scripts/index.ts";

/** How many requests are sent to each server. */
export function requestCount(): number {
  return scripts.flatMap(({ steps }) => flatten(steps)).filter(({ compact }) => !compact).length;
}

/** The page for people: every known difference with its reason. */
export function renderDifferences(): string {
  const byReason = new Map<string, Deviation[]>();
  for (const deviation of deviations) {
    const known = byReason.get(deviation.reason) ?? [];
    byReason.set(deviation.reason, [...known, deviation]);
  }
  const sections = [...byReason].map(([reason, found]) => [
    `## ${reason}`,
    "",
    "| script | request | what differs |",
    "| --- | --- | --- |",
    ...found.map(({ script, step, at }) => `| ${cell(script)} | ${cell(step)} | ${placesOf(at)} |`),
    "",
  ]);
  return [
    "# Where the embedded cluster differs from kube-apiserver",
    "",
    "`npm run test:real` sends the same requests to the embedded cluster and to a real kube-apiserver 1.36 and compares",
    "status, body, the headers that matter and the events of watches, after masking uids, times and versions.",
    `Of ${requestCount()} requests ${requestCount() - deviations.length} are answered alike. The others are below, each with its reason; a difference that`,
    "is not here, and one that is gone but still here, fails the suite.",
    "",
    "This page is made from `tests/real/differential/deviations.ts` by the suite itself: `npm run test:real -- differential -u`.",
    "",
    ...sections.flat(),
  ].join("\n");
}

/** Paths of one answer, those of a list by what they have in common. */
function placesOf(at: readonly string[] | undefined): string {
  return (at ?? ["everything"]).map((place) => (place === "" ? "everything" : `\`${place}\``)).join(", ");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
