import type { Clock } from "@lotse/client/meta";
import type { Store } from "../../store/index.ts";
import type { Admission, Annotate } from "../admission-hooks.ts";
import type { Catalog } from "../catalog.ts";
import { listAt, objectAt } from "../object.ts";
import type { Pace } from "../pace.ts";
import type { Provisions } from "../provisions.ts";
import { type Endpoint, storeKey } from "../resource.ts";
import type { StrategyContext } from "../strategy.ts";
import type { Troubles } from "../troubles.ts";
import type { RequestUser } from "../user.ts";

/** Everything that the verbs below need, handed to each of them. */
export interface Backend {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** A number in [0, 1); names, uids and time limits come from it. */
  readonly random: () => number;
  readonly uuid: () => string;
  /** Asked before each piece of work that no request waits for, or that is one of many. */
  readonly pace: Pace;
  /** Told what goes wrong where no request waits for an answer. */
  readonly troubles: Troubles;
  readonly admission: Admission;
  readonly allocateClusterIp: StrategyContext["allocateClusterIp"];
  /** What is written when a client first looks for it. */
  readonly provisions?: Provisions;
}

/** What is done about fields that the kind does not have. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What a write carries besides its body. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** What of this the client said itself: shown to those who are asked for admission. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Admission was asked about the request already, in the form in which it came. */
  readonly admitted?: boolean;
}

/** One request to one object or collection. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** The requester, and a way to tell it something besides the answer. */
export interface Requester {
  readonly user: RequestUser;
  /** The manager of fields when the request names none: the client's program. */
  readonly defaultManager: string;
  readonly warn: (text: string) => void;
  /** Notes something about the request for those who audit it; absent where no request is audited. */
  readonly annotate?: Annotate | undefined;
}

/** A body that was parsed, in whatever format it came. */
export interface ParsedBody {
  readonly value: unknown;
  /** Keys that occur twice in one object of the text. */
  readonly duplicateFields: readonly string[];
  /** The same of a YAML body, in the words of its parser. */
  readonly complaints?: readonly string[];
  /** Nothing to report about unknown fields: the format cannot carry any. */
  readonly typed: boolean;
  /** The text, for messages about bodies that make no sense. */
  readonly text: string;
}

/** What a kind's own steps may use while it is written. */
export function strategyContext(
  backend: Backend,
  { user, warn }: Pick<Requester, "user" | "warn">,
  dryRun: boolean,
): StrategyContext {
  const { store } = backend;
  return {
    now: backend.clock.now(),
    random: backend.random,
    user,
    warn,
    dryRun,
    allocateClusterIp: backend.allocateClusterIp,
    serviceRanges: () => serviceRanges(store),
    usesNodePort: (port) => store.list("services").some(({ object }) => hasNodePort(objectAt(object, "spec"), port)),
  };
}

function serviceRanges(store: Store): string[] {
  const first = store.get("servicecidrs.networking.k8s.io", storeKey(undefined, "kubernetes"));
  if (!first) return [];
  return store.list("servicecidrs.networking.k8s.io").flatMap(({ object }) => {
    const { cidrs } = objectAt(object, "spec");
    return Array.isArray(cidrs) ? cidrs.map(String) : [];
  });
}

function hasNodePort(spec: Record<string, unknown>, port: number): boolean {
  return spec.healthCheckNodePort === port || listAt(spec, "ports").some(({ nodePort }) => nodePort === port);
}
