/** The conversions of a kind as a test: every object comes back as it was, and is valid in between. */
import { objectJudge } from "@lotse/cluster";
import {
  type ConversionProof,
  type ConversionTrial,
  checkConversions,
  faultText,
  type ProvableKind,
} from "lotse/conversions";

/** How {@link conversions} tries. */
export interface ConversionsOptions extends Pick<ConversionTrial, "seed" | "runs" | "conversions"> {
  /** Of a kind with `lossless: false`: what a version cannot hold may be lost. Default false. */
  readonly allowLoss?: boolean;
}

/**
 * A conversion that loses or spoils something. Its message has the smallest object that shows it.
 *
 * @example
 * ```ts
 * const message = await conversions(Shop).then(() => "", (error: ConversionsError) => error.message);
 * ```
 */
export class ConversionsError extends Error {
  override readonly name = "ConversionsError";
  readonly proof: ConversionProof;

  constructor(proof: ConversionProof, message: string) {
    super(message);
    this.proof = proof;
  }
}

/**
 * Tries the conversions of a kind with objects that are made from the schemas of its versions, a thousand each way, the
 * same ones each time: each has to come back as it was, and to be valid in between, rules in CEL included. Throws a
 * {@link ConversionsError} with the smallest object that does not.
 *
 * @example
 * ```ts
 * const { objects } = await conversions(Shop, { runs: 200 });
 * ```
 */
export async function conversions(
  Kind: ProvableKind & { crd(): object },
  options: ConversionsOptions = {},
): Promise<ConversionProof> {
  const { allowLoss = false, ...trial } = options;
  const proof = checkConversions(Kind, { ...trial, judge: await objectJudge(Kind.crd()) });
  const faults = proof.faults.filter(({ mistake }) => !(allowLoss && mistake === "differs"));
  if (faults.length === 0) return proof;
  const { kind, place } = proof;
  throw new ConversionsError(proof, faults.map((fault) => faultText(fault, kind, place)).join("\n"));
}
