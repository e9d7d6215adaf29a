/** Secrets: what is in them is shown to nobody, whether two of them differ is; and how texts are kept in them. Pure. */
import type { KubeBody } from "@lotse/client";
import { deepEqual, isObject } from "@lotse/client/meta";
import type { NormalForm } from "./normal-form.ts";

const HIDDEN = "(hidden)";
const OTHER = "(hidden, another value)";
const PLACES = ["data", "stringData"] as const;

/**
 * The form without secret values. `compared` is the other side: a value that differs there is shown as another one, on the
 * side that is in the cluster as well as on the shadow's.
 */
export function masked(form: NormalForm, { apiVersion, kind }: KubeBody, compared?: NormalForm): NormalForm {
  if (!isSecret({ apiVersion, kind })) return form;
  const hidden = PLACES.flatMap((place) => {
    const values = form[place];
    if (!isObject(values)) return [];
    const others = compared?.[place];
    const shown = Object.entries(values).map(([key, value]) => {
      const other = isObject(others) ? others[key] : undefined;
      return [key, other === undefined || deepEqual(value, other) ? HIDDEN : hiddenOf(value, other)];
    });
    return [[place, Object.fromEntries(shown)] as const];
  });
  return { ...form, ...Object.fromEntries(hidden) };
}

/** Two different values must look different, and neither may tell what it is: the order of the two decides. */
function hiddenOf(value: unknown, other: unknown): string {
  return String(value) < String(other) ? HIDDEN : OTHER;
}

/** The shortest text that somebody makes up at random: eight bytes, encoded. */
const SHORTEST_RANDOM = 12;

/**
 * Whether two Secrets that were made apart from each other differ as two that are made up at random do: each value is there
 * in both, and is as long as the other. Then nobody can tell whether the versions differ.
 */
export function mayBeRandom(body: KubeBody, is: NormalForm, would: NormalForm): boolean {
  if (!isSecret(body)) return false;
  const [{ data: one, ...rest }, { data: other, ...others }] = [is, would];
  if (!isObject(one) || !isObject(other) || !deepEqual(rest, others)) return false;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => {
    const [a, b] = [String(one[key] ?? ""), String(other[key] ?? "")];
    return a === b || (a.length === b.length && a.length >= SHORTEST_RANDOM);
  });
}

function isSecret({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return apiVersion === "v1" && kind === "Secret";
}

/** A Secret as the server keeps it: texts are data, encoded. Any other object as it is. */
export function asStored(body: KubeBody): KubeBody {
  const { stringData, ...rest } = body;
  if (!isSecret(body) || !isObject(stringData)) return body;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  return { ...rest, data: { ...(rest.data as object | undefined), ...Object.fromEntries(encoded) } };
}
