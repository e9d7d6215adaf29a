/** The report of `lotse chaos`, as people read it. */
import { faultText } from "./fault-text.ts";
import type { ChaosPlan } from "./plan.ts";
import { type ChaosReport, type CommandLife, seconds } from "./witness.ts";

/** The sentences for what did not break, in the order in which they are told. */
const HELD = {
  died: "it did not end by itself",
  "hot loop": "no hot loop",
  "gave up watching": "everything that was watched is watched again",
  "never tried again": "every write that failed was tried again",
  duplicates: "nothing was created twice",
} as const;

/** Many lines, with an end each. */
export function reportText(
  report: ChaosReport,
  plan: ChaosPlan,
  about: { readonly server: string; readonly harmMs: number },
): string {
  const { injected, lives, findings, peak, requests, writes, recoveredMs, unreachable } = report;
  const harm = injected.map(({ fault, request, count }) => `${count} × ${faultText(fault)}: ${request}`);
  const held = Object.entries(HELD)
    .filter(([type]) => !findings.some((finding) => finding.type === type))
    .map(([type, sentence]) => {
      if (type !== "hot loop" || peak.request === "") return sentence;
      return `${sentence}: at most ${peak.perSecond} requests a second (${peak.request})`;
    });
  const calm =
    recoveredMs === undefined ? "it has not recovered" : `recovered ${seconds(recoveredMs)} after the harm ended`;
  return lines([
    `Chaos for ${seconds(about.harmMs)}, seed ${plan.seed}, in front of ${about.server}`,
    "",
    "Injected",
    ...(harm.length === 0 ? ["  nothing: no request matched"] : harm.slice(0, MOST).map((one) => `  ${one}`)),
    ...(harm.length > MOST ? [`  … and ${harm.length - MOST} more sorts`] : []),
    "",
    "The operator",
    `  ${requests} requests, ${writes} writes`,
    ...lives.map((life, i) => `  life ${i + 1}: ${lifeText(life)}`),
    `  ${calm}`,
    ...(unreachable === undefined ? [] : [`  the server could not be reached at times: ${unreachable}`]),
    "",
    ...(findings.length === 0 ? [] : ["Broken", ...findings.map(({ type, what }) => `  ✗ ${type}: ${what}`), ""]),
    "Held",
    ...held.map((sentence) => `  ✓ ${sentence}`),
  ]);
}

const MOST = 12;

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

function lifeText({ startedMs, endedMs = startedMs, end, code, signal }: CommandLife): string {
  const took = seconds(endedMs - startedMs);
  if (end === "killed") return `killed after ${took}, and started again`;
  if (end === "stopped") return `worked ${took} until it was stopped`;
  const how = code === null || code === undefined ? `by ${signal}` : `with exit code ${code}`;
  return `ended by itself ${how} after ${took}`;
}
