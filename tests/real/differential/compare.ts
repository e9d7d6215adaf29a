import type { Deviation } from "./deviations.ts";

/** One place at which two answers differ. */
export interface Difference {
  /** `body.metadata.labels.a` */
  readonly path: string;
  readonly embedded: unknown;
  readonly real: unknown;
}

/** Every place at which two normalised answers differ, the deepest that can be named. */
export function compare(embedded: unknown, real: unknown, path = ""): Difference[] {
  if (Object.is(embedded, real)) return [];
  if (!isObject(embedded) || !isObject(real) || Array.isArray(embedded) !== Array.isArray(real)) {
    return [{ path, embedded, real }];
  }
  // Two things of different kinds have nothing to compare in detail.
  const differs = typeof embedded.kind === "string" && typeof real.kind === "string" && embedded.kind !== real.kind;
  if (differs) return [{ path, embedded, real }];
  const keys = [...new Set([...Object.keys(real), ...Object.keys(embedded)])];
  const below = keys.flatMap((key) => compare(embedded[key], real[key], path === "" ? key : `${path}.${key}`));
  return [...below, ...compareOrder(embedded, real, path)];
}

/** The fields that both have must come in the same order. That of the documents of OpenAPI, which are no objects, is not looked at. */
function compareOrder(embedded: object, real: object, path: string): Difference[] {
  if (Array.isArray(real) || /^(headers|body\.(paths|components|definitions)\b)/.test(path)) return [];
  const fields = [embedded, real].map((one) =>
    Object.keys(one)
      .filter((key) => key in embedded && key in real)
      .join(),
  );
  const [mine, its] = fields;
  return mine === its ? [] : [{ path: `${path} (order)`, embedded: mine, real: its }];
}

/** What is wrong with a step, given what is accepted about it; empty when nothing is. */
export function complaints(differences: readonly Difference[], accepted: Deviation | undefined): string[] {
  if (accepted === undefined) return differences.map(describe);
  const places = accepted.at ?? [""];
  const under = (path: string, place: string) => place === "" || path === place || path.startsWith(`${place}.`);
  const unexpected = differences.filter(({ path }) => !places.some((place) => under(path, place)));
  const gone = places.filter((place) => !differences.some(({ path }) => under(path, place)));
  return [
    ...unexpected.map(describe),
    ...gone.map((place) => `${place || "the answer"}: no longer deviates, take it off the list of deviations`),
  ];
}

function describe({ path, embedded, real }: Difference): string {
  return `${path}\n    embedded: ${text(embedded)}\n    real:     ${text(real)}`;
}

function text(value: unknown): string {
  return value === undefined ? "(absent)" : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
