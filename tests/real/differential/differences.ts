import { type Deviation, deviations } from "./deviations.ts";
import { flatten } from "./script.ts";
import { scripts } from "./scripts/index.ts";

/** How many requests are sent to each server. */
export function requestCount(): number {
  return scripts.flatMap(({ steps }) => flatten(steps)).filter(({ compact }) => !compact).length;
}

/** What these requests cannot show, because whoever compares reads JSON as JavaScript does. */
const UNSEEN: readonly string[] = [
  "## Whole numbers beyond 2^53 lose their last digits",
  "",
  "A real server keeps `9007199254740993` in a body, this one `9007199254740992`. In built-in kinds no field holds such a",
  "number in practice (versions, which do grow that large, are texts and exact); in custom resources one may. To keep them, a",
  "second sort of number would have to be known to all that reads, merges, applies, checks, converts, stores and writes",
  "objects, and to every client library in JavaScript, this one's included, which would lose the digits all the same. Where",
  "one place forgot it, the server would answer 500 where it is a few units off today. So it stays.",
  "",
];

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
    ...UNSEEN,
  ].join("\n");
}

/** Paths of one answer, those of a list by what they have in common. */
function placesOf(at: readonly string[] | undefined): string {
  return (at ?? ["everything"]).map((place) => (place === "" ? "everything" : `\`${place}\``)).join(", ");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
