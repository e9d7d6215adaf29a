/** The keys of `lotse dev`. */

/** What a key asks for. */
export type DevAction = "help" | "restart" | "retry" | "objects" | "events" | "quit" | "interrupt";

const ACTIONS: Readonly<Record<string, DevAction>> = {
  h: "help",
  "?": "help",
  r: "restart",
  t: "retry",
  o: "objects",
  e: "events",
  q: "quit",
  // In a terminal whose keys are read one by one, Ctrl-C is a key and no signal.
  "\x03": "interrupt",
};

/** What the key asks for; undefined for keys that mean nothing. */
export function actionOf(key: string): DevAction | undefined {
  return ACTIONS[key];
}

/** The keys in one line. */
export const KEYS = "h help, r restart, t try again, o objects, e Events on and off, q quit";

/** The keys in full. */
export function keyHelp(events: boolean): string {
  const lines = [
    ["r", "restart the operator; what it has done is on the objects, so nothing is done twice"],
    ["t", "try again now what waits for its retry, or has failed for good"],
    ["o", "objects: what each of them waits for"],
    ["e", `Kubernetes Events of the objects: ${events ? "hide them (they are shown)" : "show them (they are hidden)"}`],
    ["q", "quit; so does Ctrl-C, and a second Ctrl-C does not wait for handlers"],
    ["h", "this help"],
  ];
  return lines.map(([key, text]) => `  ${key}  ${text}\n`).join("");
}
