/** What one object says of the two versions: whether they differ about it, how, and who of the shadow is behind it. Pure. */
import type { KubeBody } from "@lotse/client";
import type { ObjectReference } from "../report/index.ts";
import { differencesBetween, type FieldDifference, type SameMoment } from "./compare.ts";
import { type FieldPath, type Fields, has } from "./fields.ts";
import type { Fork } from "./fork.ts";
import { type Lens, type NormalForm, normalForm } from "./normal-form.ts";
import { pickFields } from "./replace-fields.ts";
import { masked, mayBeRandom } from "./secrets.ts";
import type { Worker } from "./worker.ts";

/** What the shadow would have done, or would not have. */
export type ShadowVerdict = "would-create" | "would-not-create" | "would-change" | "would-delete" | "would-keep";

/** How the two versions differ about an object. */
export interface Disagreement {
  readonly verdict: ShadowVerdict;
  readonly fields: readonly FieldDifference[];
  /** The object in both worlds, as far as it is compared; secrets are hidden. */
  readonly is: NormalForm | undefined;
  readonly would: NormalForm | undefined;
  /** The shadow's handlers that wanted it so. */
  readonly handlers: readonly string[];
  /** The objects that they worked for. */
  readonly objects: readonly ObjectReference[];
  /** Both may have made it up at random. */
  readonly random: boolean;
}

/** How the versions are looked at. */
export interface Bench {
  readonly lens: Lens;
  readonly same: SameMoment;
  readonly worker: Worker;
}

/** See the module comment. Undefined: the versions agree, or it cannot be told yet. */
export function judge(fork: Fork, bench: Bench): Disagreement | undefined {
  const { is, would, deletion, alike } = fork;
  const { lens, same } = bench;
  if (alike || deletion === "held") return undefined;
  if (is && would) {
    if (isMarked(would) && !isMarked(is)) return disagreement("would-delete", fork, bench);
    const forms = formsOf(is, would, lens);
    const fields = differencesBetween(forms.is, forms.would, same);
    if (fields.length === 0) return undefined;
    const random = fork.made && mayBeRandom(is, normalForm(is, lens), normalForm(would, lens));
    return { ...forms, verdict: "would-change", fields, random, ...authorsOf(fork, fields) };
  }
  if (is) {
    if (isMarked(is)) return undefined;
    return disagreement(deletion === "own" ? "would-delete" : "would-not-create", fork, bench);
  }
  if (!would) return undefined;
  return disagreement(isMarked(would) ? "would-keep" : "would-create", fork, bench);
}

/** It is gone in the cluster, and the shadow did nothing for that. */
export function keptBy(fork: Fork, bench: Bench): Disagreement {
  return disagreement("would-keep", fork, bench);
}

/** Of an object that one version alone has, what that version has written is shown: the server's defaults say nothing. */
function disagreement(verdict: ShadowVerdict, fork: Fork, { lens, worker }: Bench): Disagreement {
  const { is, would, own } = fork;
  const form = (body: KubeBody, fields: Fields | undefined) =>
    masked(normalForm(pickFields(body, fields) as KubeBody, lens), body);
  const silent = verdict === "would-not-create" || verdict === "would-keep";
  return {
    verdict,
    fields: [],
    random: false,
    is: verdict === "would-not-create" && is ? form(is, worker.fieldsOf(is)) : undefined,
    would: verdict === "would-create" && would ? form(would, own) : undefined,
    ...(silent ? { handlers: [], objects: [] } : authorsOf(fork)),
  };
}

function formsOf(is: KubeBody, would: KubeBody, lens: Lens): { readonly is: NormalForm; readonly would: NormalForm } {
  const [one, other] = [normalForm(is, lens), normalForm(would, lens)];
  return { is: masked(one, is, other), would: masked(other, is, one) };
}

function isMarked(body: KubeBody): boolean {
  return body.metadata?.deletionTimestamp !== undefined;
}

function authorsOf({ by }: Fork, fields?: readonly FieldDifference[]): Pick<Disagreement, "handlers" | "objects"> {
  const meant = fields ? by.filter((one) => fields.some(({ path }) => has(one.fields, upToList(path)))) : by;
  const objects = new Map(
    meant.flatMap(({ object }) => (object ? [[object.uid ?? object.name, object] as const] : [])),
  );
  return { handlers: [...new Set(meant.flatMap(({ handlers }) => handlers))], objects: [...objects.values()] };
}

/** Items of lists have other names in other trees. */
function upToList(path: FieldPath): FieldPath {
  const end = path.findIndex((element) => !element.startsWith("f:"));
  return end < 0 ? path : path.slice(0, end);
}
