/** What was done, in words. */
const FAULTS: Readonly<Record<string, string>> = {
  answer: "refused",
  reset: "connection broken",
  lose: "answer lost",
  halve: "half an answer",
  delay: "delayed",
  mute: "never answered",
  cut: "watch cut",
  kill: "killed",
  twice: "event twice",
  "cut before": "cut before an event",
  "cut inside": "cut inside an event",
  "cut after": "cut after an event",
  stall: "watch stalled",
  expire: "watch expired",
};

/** `refused` for what the proxy calls `answer`. */
export function faultText(fault: string): string {
  return FAULTS[fault] ?? fault;
}
