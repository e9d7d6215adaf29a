/** Finds OpenTelemetry where the user's project has it. Lotse itself does not need it, and does not bring it. */
import { type TraceApi, Traces } from "./traces.ts";

/** Spans say which version of Lotse has made them. */
const VERSION = "0.1.0";

/** Whose spans they are. */
export interface TracesOf {
  readonly operator: string;
  /** Told when the package is there and of no use. */
  readonly onProblem: (error: unknown) => void;
}

/** Undefined when the project does not have the API package. Never rejects: no operator fails for want of traces. */
export async function findTraces(
  { operator, onProblem }: TracesOf,
  load: () => Promise<TraceApi> = loadApi,
): Promise<Traces | undefined> {
  try {
    return new Traces(await load(), operator, VERSION);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") onProblem(error);
    return undefined;
  }
}

async function loadApi(): Promise<TraceApi> {
  // Named here and inside of a try, because a bundler then takes it along where it is, and leaves it where it is not.
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    return Promise.reject(error);
  }
}
