import type { CommandSession, ForwardSession } from "../api/index.ts";
import { type PodConnection, readText } from "../bytes/index.ts";
import { forwardFailure, pump } from "./channels.ts";
import { describeOutcome, runCommand, TerminalSizes } from "./command-status.ts";
import type { SpdyConnection, SpdyStream } from "./spdy.ts";

/** exec and attach over SPDY: one stream for each direction of data, one for the end. */
export async function serveCommandStreams(
  connection: SpdyConnection,
  session: CommandSession,
  protocol: string,
): Promise<void> {
  const gone = new AbortController();
  const sizes = new TerminalSizes();
  const resizes = session.tty && /^v[345]\./.test(protocol);
  const expected = ["error", ...(["stdin", "stdout", "stderr"] as const).filter((name) => session[name])];
  if (resizes) expected.push("resize");
  const streams = new Map<string, SpdyStream>();
  let begin = () => {};
  const complete = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const serving = connection
    .serve((stream) => {
      streams.set(stream.headers.get("streamtype") ?? "", stream);
      if (expected.every((name) => streams.has(name))) begin();
    })
    .finally(() => {
      gone.abort();
      begin();
    });
  await complete;
  if (gone.signal.aborted) return;
  // A client that breaks off has no terminal any more.
  readSizes(streams.get("resize"), sizes).catch(() => {});
  const outcome = await runCommand(session, {
    stdin: session.stdin ? streams.get("stdin")?.incoming : undefined,
    stdout: streams.get("stdout"),
    stderr: streams.get("stderr"),
    tty: session.tty,
    onResize: sizes.subscribe,
    signal: gone.signal,
  });
  for (const name of ["stdout", "stderr"]) streams.get(name)?.end();
  const text = describeOutcome(outcome, session.command, /^v[45]\./.test(protocol));
  const error = streams.get("error");
  if (text !== "") await error?.write(Buffer.from(text));
  error?.end();
  for (const { incoming } of streams.values()) incoming.discard();
  connection.close();
  await serving;
}

/** Each size is one JSON text; several may come in one piece. */
async function readSizes(stream: SpdyStream | undefined, sizes: TerminalSizes): Promise<void> {
  if (!stream) return;
  for await (const chunk of stream.incoming) {
    for (const text of Buffer.from(chunk)
      .toString()
      .match(/\{[^}]*\}/g) ?? [])
      sizes.parse(text);
  }
}

/** Port-forward over SPDY: for each connection a pair of streams with the same request id. */
export function serveForwardStreams(connection: SpdyConnection, session: ForwardSession): Promise<void> {
  const pairs = new Map<string, Partial<Record<"error" | "data", SpdyStream>>>();
  const open = new Set<PodConnection>();
  const onStream = (stream: SpdyStream) => {
    const { headers } = stream;
    const type = headers.get("streamtype");
    const port = Number(headers.get("port"));
    if ((type !== "error" && type !== "data") || !(port > 0 && port < 65_536)) {
      stream.end();
      return;
    }
    // Old clients number nothing and open the two streams of a connection one after the other.
    const id = headers.get("requestid") ?? String(type === "error" ? stream.id : stream.id - 2);
    const pair = pairs.get(id) ?? {};
    pairs.set(id, pair);
    pair[type] = stream;
    if (!pair.error || !pair.data) return;
    pairs.delete(id);
    void forward(session, port, pair.data, pair.error, open);
  };
  return connection.serve(onStream).finally(() => {
    // What the pod still says has no reader.
    for (const pod of open) pod.close();
  });
}

async function forward(
  session: ForwardSession,
  port: number,
  data: SpdyStream,
  error: SpdyStream,
  open: Set<PodConnection>,
): Promise<void> {
  // Clients close their side of it at once and only read.
  readText(error.incoming).catch(() => {});
  try {
    const pod = await session.connect(port);
    open.add(pod);
    try {
      void pump(data.incoming, pod);
      for await (const chunk of pod.incoming) await data.write(chunk);
    } finally {
      open.delete(pod);
      pod.close();
    }
  } catch (problem) {
    await error.write(Buffer.from(forwardFailure(port, problem)));
  } finally {
    data.end();
    error.end();
    data.incoming.discard();
  }
}
