/** The objects that an operator works on: what the key `o` of `lotse dev` shows, and what the key `t` tries again. */
import { allNamespaces, type Client, type KindDescription, parseApiVersion } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import type { RunningOperator } from "../../operator/index.ts";
import type { Explanation, ObjectQuestion } from "../../report/index.ts";
import { retryText } from "../explain/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import { kindsOf } from "../project/index.ts";

/** More of one kind is more than a user reads. */
const MOST = 20;

/** What is known of one kind's objects. */
export interface KindOverview {
  readonly objects: readonly Explanation[];
  /** How many there are beyond those. */
  readonly more: number;
}

type Kind = ReturnType<typeof kindsOf>[number];

/** All objects of a kind, each as one asks about it. */
async function* questionsOf(client: Client, kind: Kind): AsyncGenerator<ObjectQuestion, void, undefined> {
  // A class is as good as its description; no signature of `list` takes either.
  for await (const { body } of client.list(kind as KindDescription | string, { namespace: allNamespaces })) {
    const { name = "", namespace } = body.metadata ?? {};
    const { group } = parseApiVersion(body.apiVersion ?? "v1");
    yield { kind: `${body.kind}${group === "" ? "" : `.${group}`}`, namespace, name };
  }
}

/** Asks the cluster for the objects, and the operators what they know of them. */
export async function overview(
  client: Client,
  operators: readonly LoadedOperator[],
  running: readonly RunningOperator[],
): Promise<KindOverview[]> {
  const kinds = kindsOf(operators);
  return Promise.all(
    kinds.map(async (kind): Promise<KindOverview> => {
      const objects: Explanation[] = [];
      let more = 0;
      for await (const question of questionsOf(client, kind)) {
        const known = running.map((one) => one.explain(question)).find((one) => one !== undefined);
        if (known && objects.length < MOST) objects.push(known);
        else if (known) more++;
      }
      return { objects, more };
    }),
  );
}

/** Has everything tried now that waits for its retry or has failed for good; a line for each object with such work. */
export async function retryAll(
  client: Client,
  operators: readonly LoadedOperator[],
  running: readonly RunningOperator[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of kindsOf(operators)) {
    for await (const question of questionsOf(client, kind)) {
      const { namespace, name } = question;
      // Perhaps of another copy of the package, which cannot be asked.
      const answers = running.flatMap((one) => (one as Partial<RunningOperator>).retry?.(question) ?? []);
      const handlers = answers.flatMap((answer) => answer.handlers);
      if (handlers.length > 0) lines.push(`${shownName(namespace, name)}: ${retryText(handlers)}`);
    }
  }
  return lines.length > 0 ? lines : [retryText([])];
}

/** The lines to show. */
export function overviewLines(kinds: readonly KindOverview[], now: number): string[] {
  const shown = kinds.filter(({ objects }) => objects.length > 0);
  if (shown.length === 0) return ["no objects yet"];
  return shown.flatMap(({ objects, more }) => {
    const [{ object }] = objects as [Explanation];
    const names = objects.map(nameOf);
    const width = Math.max(...names.map(({ length }) => length));
    return [
      `${object.kind} (${object.apiVersion}), ${objects.length + more}`,
      ...objects.map((one, i) => `  ${(names[i] ?? "").padEnd(width)}  ${stateOf(one, now)}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ];
  });
}

function nameOf({ object: { namespace, name } }: Explanation): string {
  return shownName(namespace, name);
}

function shownName(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

const STATES: Readonly<Record<Explanation["state"], string>> = {
  waits: "waits until something changes",
  queued: "waits for its turn",
  working: "is worked on",
  elsewhere: "another process works on it",
  gone: "is gone",
};

function stateOf({ object, state, nextAt, open, turns }: Explanation, now: number): string {
  const parts = [nextAt === undefined ? STATES[state] : `due in ${formatDuration(Math.max(0, nextAt - now))}`];
  if (object.deleting) parts.push("is being deleted");
  for (const { handler, attempts, message } of open) {
    parts.push(`${handler} is not done after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`);
    if (message !== undefined) parts.push(JSON.stringify(message));
  }
  const last = turns.flatMap(({ at, ran }) => ran.map((run) => ({ at, ...run }))).at(-1);
  if (last && open.length === 0) {
    parts.push(`${last.handler} ${last.outcome} ${formatDuration(Math.max(0, now - last.at))} ago`);
  }
  return parts.join(", ");
}
