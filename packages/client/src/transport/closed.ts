import { ConfigError } from "../meta/index.ts";

/** What everybody hears who uses a client after its end. */
export const clientClosed = (): ConfigError => new ConfigError("this client is closed", { hint: "connect a new one" });
