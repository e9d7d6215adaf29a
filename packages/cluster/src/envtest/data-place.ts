/** Where the data is: known to the stand-in for etcd, asked for by the API server. */
import { connect } from "node:net";
import { EnvtestError } from "./errors.ts";
import { listOf } from "./flags.ts";

/** Where the API server asks for {@link DataPlace}. Not a path of etcd's. */
export const DATA_PATH = "/lotse/data";

/** What the API server needs to know. */
export interface DataPlace {
  /** Absolute path. */
  readonly folder: string;
  /** Whether a write has to wait for the disk. */
  readonly sync: boolean;
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 25;

/** Asks the stand-in for etcd where the data is; waits for it a while, because both may be started at once. */
export async function findData(servers: string | undefined): Promise<DataPlace> {
  const [url = ""] = listOf(servers === undefined ? [] : [servers]);
  if (url === "") throw new EnvtestError("--etcd-servers must be specified", "say where the etcd beside it listens");
  const stranger = new EnvtestError(
    `the etcd at ${url} is not the one that belongs to this program`,
    "start the etcd of the same folder: this program keeps its data in the folder of that one's --data-dir",
  );
  if (!url.startsWith("http://") || !URL.canParse(url)) throw stranger;
  const giveUp = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask(new URL(url));
    if (answer !== undefined) {
      const { folder, sync } = parse(answer);
      if (typeof folder !== "string") throw stranger;
      return { folder, sync: sync !== false };
    }
    if (Date.now() > giveUp) {
      throw new EnvtestError(`nobody answers at ${url}`, "start the etcd of the same folder first");
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * All that somebody answers; undefined where nobody does. One question in HTTP/1.0, whose answer ends with the
 * connection: the client of `node:http` takes longer to be loaded and to begin than the rest of the way.
 */
function ask({ hostname, port, host }: URL): Promise<string | undefined> {
  return new Promise((resolve) => {
    const place = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
    const socket = connect({ ...place, noDelay: true });
    let text = "";
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(text === "" ? undefined : text));
    socket.write(`GET ${DATA_PATH} HTTP/1.0\r\nhost: ${host}\r\n\r\n`);
  });
}

/** The body of an answer in JSON; nothing where it is none. */
function parse(answer: string): Partial<DataPlace> {
  const end = answer.indexOf("\r\n\r\n");
  if (end < 0 || !/^HTTP\/1\.[01] 200 /.test(answer)) return {};
  try {
    const value: unknown = JSON.parse(answer.slice(end));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
