/** JSON as it is sent or answered. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** How a body is reduced before both sides are compared, see views.ts. */
export type View = (body: Json) => Json;

/**
 * One request. `{{name}}` in the path, the query, the headers and the body stands for what an earlier step of the same
 * script captured.
 */
export interface Step {
  /** A sentence, unique in its script. */
  readonly name: string;
  /** GET unless told. */
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is a string. */
  readonly body?: Json;
  /** `application/json` unless told; `""` sends none. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Names for later steps, each with a dotted path into the answer: `{ uid: "metadata.uid" }`. */
  readonly capture?: Readonly<Record<string, string>>;
  /**
   * Asks again until the answer has this status and, where told, this value at this dotted path: for what controllers
   * do in their own time. The last answer counts.
   */
  readonly until?: { readonly status: number; readonly path?: string; readonly is?: Json };
  /**
   * Asks again until the warnings are the same three times in a row: for what admission knows of other objects, of which
   * a real server hears a little later.
   */
  readonly steady?: true;
  /**
   * Keeps the stream open, plays `during` once it is open, and records the events until `events` have come and a moment
   * of silence has passed.
   */
  readonly watch?: { readonly events: number; readonly during?: readonly Step[] };
  /** Sends nothing: both servers forget every version but the present one. */
  readonly compact?: true;
  readonly view?: View;
  /** Only the status and what the view leaves are compared: warnings have scripts of their own. */
  readonly verdictOnly?: boolean;
  /** The real server finds the errors and warnings of this step in no certain order. */
  readonly anyOrder?: boolean;
}

/** Requests that build on each other, played in order in a namespace of their own. */
export interface Script {
  readonly title: string;
  /** Created before the first step; `{{ns}}` in the steps. */
  readonly namespace?: string;
  readonly steps: readonly Step[];
}

/** All steps of a script, those inside watches too, in the order in which they are recorded. */
export function flatten(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [...flatten(step.watch?.during ?? []), step]);
}
