/** What a shadow has found, as people read it. Pure. */
import { harmless } from "@lotse/client/meta";
import type { ShadowDifference, ShadowReport, ShadowVerdict, Untried } from "../../shadow/index.ts";

const [BOLD, DIM, RED, GREEN, RESET] = ["\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"];

/** What the new version would have done, or not. */
const SENTENCES: Readonly<Record<ShadowVerdict, string>> = {
  "would-create": "the new version would have made it",
  "would-not-create": "the new version would not have made it",
  "would-change": "the new version would have it otherwise",
  "would-delete": "the new version would have deleted it",
  "would-keep": "the new version would have kept it; the old one, or another client, has deleted it",
};

/** More of the same kind are only named. */
const MOST_NAMES = 5;

/** One difference, or several that look the same: a title, who wants it, and the diff. */
export function differenceLines(all: readonly ShadowDifference[], colours: boolean): string[] {
  const [first, ...others] = all;
  if (!first) return [];
  const { verdict, handlers, objects, diff } = first;
  const paint = (code: string, text: string) => (colours ? `${code}${text}${RESET}` : text);
  const lines = [`${paint(BOLD, harmless(titleOf(first)))}: ${SENTENCES[verdict]}`];
  if (others.length > 0) {
    const names = others.slice(0, MOST_NAMES).map(nameOf).join(", ");
    const more = others.length > MOST_NAMES ? `, and ${others.length - MOST_NAMES} more` : "";
    lines.push(paint(DIM, `  the same: ${harmless(names)}${more}`));
  }
  if (handlers.length > 0) {
    const whom = others.length > 0 ? "" : objects.map((one) => ` for ${titleOf(one)}`).join(",");
    lines.push(paint(DIM, `  wanted by ${harmless(`${handlers.join(", ")}${whom}`)}`));
  }
  const painted = (line: string) =>
    line.startsWith("-") ? paint(RED, line) : line.startsWith("+") ? paint(GREEN, line) : line;
  return [...lines, ...diff.map((line) => `  ${painted(line)}`)];
}

/** Everything, and one line that sums it up. */
export function reportLines(reports: readonly ShadowReport[], colours: boolean): string[] {
  const all = reports.flatMap(({ differences }) => differences);
  const undecided = reports.flatMap((one) => one.undecided);
  const lines = alike(all).flatMap((group) => [...differenceLines(group, colours), ""]);
  for (const one of reports.flatMap(({ untried }) => untried)) lines.push(untriedLine(one));
  if (undecided.length > 0) {
    lines.push(`not judged, because of what could not be tried or is not known: ${namesOf(undecided)}`);
  }
  return [...lines, summaryOf(reports), ...nothingHappened(reports)];
}

function untriedLine({ what, refused, handlers, object, times }: Untried): string {
  const whom = handlers.length > 0 ? ` (${handlers.join(", ")}${object ? ` for ${titleOf(object)}` : ""})` : "";
  const often = times > 1 ? `, ${times} times` : "";
  return harmless(`${refused ? "could not be tried" : "tried, and not compared"}: ${what}${whom}${often}`);
}

/** Whoever sees no difference because there was nothing to compare should know. */
function nothingHappened(reports: readonly ShadowReport[]): string[] {
  const began = reports.some(({ compared, unsettled, fromScratch }) => compared > 0 || unsettled > 0 || fromScratch);
  return began ? [] : ["nothing has changed meanwhile; --from-scratch compares what is there already"];
}

/** How it stands. */
export function summaryOf(reports: readonly ShadowReport[]): string {
  const sum = (count: (report: ShadowReport) => number) => reports.reduce((total, one) => total + count(one), 0);
  const differing = sum(({ differences }) => differences.length);
  const parts = [
    differing === 0 ? "no difference" : `${differing} ${differing === 1 ? "object differs" : "objects differ"}`,
    counted(
      sum(({ compared }) => compared),
      "comparison",
    ),
  ];
  const [over, undecided, unsettled] = [
    sum((one) => one.over),
    sum((one) => one.undecided.length),
    sum((one) => one.unsettled),
  ];
  if (over > 0) parts.push(`${counted(over, "difference")} over`);
  if (undecided > 0) parts.push(`${undecided} not judged`);
  if (unsettled > 0) parts.push(`${unsettled} not settled yet`);
  return parts.join(", ");
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Differences that look the same, apart from the object, stand together. */
function alike(differences: readonly ShadowDifference[]): ShadowDifference[][] {
  const groups = new Map<string, ShadowDifference[]>();
  for (const one of differences) {
    const { verdict, kind, apiVersion, handlers, diff } = one;
    const look = JSON.stringify([verdict, kind, apiVersion, handlers, diff]);
    groups.set(look, [...(groups.get(look) ?? []), one]);
  }
  return [...groups.values()];
}

function namesOf(differences: readonly ShadowDifference[]): string {
  const shown = differences.slice(0, MOST_NAMES).map(titleOf).join(", ");
  return harmless(differences.length > MOST_NAMES ? `${shown}, and ${differences.length - MOST_NAMES} more` : shown);
}

interface Titled {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

function nameOf({ namespace, name }: Titled): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function titleOf(object: Titled): string {
  return `${object.kind} ${nameOf(object)}`;
}
