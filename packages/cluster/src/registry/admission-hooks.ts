import type { ApiObject } from "./object.ts";
import type { Endpoint } from "./resource.ts";
import type { RequestUser } from "./user.ts";

/** Notes a value under a key, as audit logs carry them. */
export type Annotate = (key: string, value: string) => void;

/** A write that is about to happen. */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly endpoint: Endpoint;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Empty while a name is still to be generated. */
  readonly name: string;
  /** Absent on DELETE. */
  readonly object: ApiObject | undefined;
  /** Absent on CREATE. */
  readonly oldObject: ApiObject | undefined;
  readonly dryRun: boolean;
  /** The options of the request as the client wrote them; what it left out is not in them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: RequestUser;
  readonly warn: (text: string) => void;
  readonly annotate?: Annotate | undefined;
}

/** The part of a write that may still say no, or change what is written. */
export interface Admission {
  /** Returns the object to go on with: the given one, possibly changed, or another. Throws a StatusError to refuse. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Throws a StatusError to refuse. */
  validate(attributes: AdmissionAttributes): Promise<void>;
}
