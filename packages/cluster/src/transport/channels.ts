import type { CommandSession, ForwardSession } from "../api/index.ts";
import { BytePipe, type ByteSink, type PodConnection } from "../bytes/index.ts";
import { describeOutcome, runCommand, TerminalSizes } from "./command-status.ts";
import type { WebSocketPeer } from "./websocket.ts";

/** Streams that share one WebSocket: the first byte of each message says which of them it belongs to. */
class Channels {
  readonly #peer: WebSocketPeer;
  readonly #base64: boolean;

  constructor(peer: WebSocketPeer, protocol: string) {
    this.#peer = peer;
    this.#base64 = protocol.includes("base64");
  }

  send(channel: number, data: Uint8Array): Promise<void> {
    if (this.#base64) return this.#peer.send(channel + Buffer.from(data).toString("base64"));
    return this.#peer.send(Buffer.concat([Buffer.of(channel), data]));
  }

  sink(channel: number): ByteSink {
    return { write: (chunk) => this.send(channel, chunk) };
  }

  async *messages(): AsyncGenerator<{ readonly channel: number; readonly data: Buffer }> {
    for await (const message of this.#peer.messages()) {
      if (message.length === 0) continue;
      const first = message[0] as number;
      const rest = message.subarray(1);
      if (this.#base64) yield { channel: first - 0x30, data: Buffer.from(rest.toString("latin1"), "base64") };
      else yield { channel: first, data: rest };
    }
  }
}

const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

/** exec and attach over a WebSocket. Resolves when it is over. */
export async function serveCommandChannels(
  peer: WebSocketPeer,
  session: CommandSession,
  protocol: string,
): Promise<void> {
  const channels = new Channels(peer, protocol);
  const gone = new AbortController();
  const stdin = new BytePipe();
  const sizes = new TerminalSizes();
  const out = session.stdout ? channel.stdout : undefined;
  const err = session.stderr ? channel.stderr : undefined;
  // An empty message on the first channel that can be written tells the client that it is connected.
  void channels.send(out ?? err ?? channel.status, new Uint8Array());
  const reading = (async () => {
    for await (const { channel: to, data } of channels.messages()) {
      if (to === channel.stdin) await stdin.write(data);
      else if (to === channel.resize) sizes.parse(data.toString());
      else if (to === channel.close && protocol.startsWith("v5.") && data[0] === channel.stdin) stdin.end();
    }
    stdin.end();
    gone.abort();
  })();
  const outcome = await runCommand(session, {
    stdin: session.stdin ? stdin : undefined,
    stdout: out === undefined ? undefined : channels.sink(out),
    stderr: err === undefined ? undefined : channels.sink(err),
    tty: session.tty,
    onResize: sizes.subscribe,
    signal: gone.signal,
  });
  const text = describeOutcome(outcome, session.command, /^v[45]\./.test(protocol));
  if (text !== "") await channels.send(channel.status, Buffer.from(text));
  peer.close();
  // What the client still sends is of no interest, and must not stand in the way of its goodbye.
  stdin.discard();
  await reading;
}

/** Port-forward over a WebSocket with two channels for each port: data, and one sentence when something is wrong. */
export async function serveForwardChannels(
  peer: WebSocketPeer,
  session: ForwardSession,
  protocol: string,
): Promise<void> {
  const channels = new Channels(peer, protocol);
  const ports = session.ports.map((port, i) => ({ port, data: 2 * i, error: 2 * i + 1, toPod: new BytePipe() }));
  for (const { port, data, error } of ports) {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16LE(port);
    void channels.send(data, bytes);
    void channels.send(error, bytes);
  }
  const connections = new Set<PodConnection>();
  const reading = (async () => {
    for await (const { channel: to, data } of channels.messages()) {
      if (to % 2 === 0) await ports[to / 2]?.toPod.write(data);
    }
    for (const { toPod } of ports) toPod.end();
    // The client has gone for good: what the pod still says has no reader.
    for (const connection of connections) connection.close();
  })();
  await Promise.all(
    ports.map(async ({ port, data, error, toPod }) => {
      try {
        const connection = await session.connect(port);
        connections.add(connection);
        void pump(toPod, connection);
        for await (const chunk of connection.incoming) await channels.send(data, chunk);
        connection.close();
      } catch (problem) {
        await channels.send(error, Buffer.from(forwardFailure(port, problem)));
      } finally {
        toPod.discard();
      }
    }),
  );
  peer.close();
  await reading;
}

/** Hands on what comes until it ends; never rejects. */
export async function pump(from: AsyncIterable<Uint8Array>, to: PodConnection): Promise<void> {
  try {
    for await (const chunk of from) await to.write(chunk);
    to.end();
  } catch {
    to.close();
  }
}

/** What a client is told on the error channel when a port of the pod cannot be reached. */
export function forwardFailure(port: number, problem: unknown): string {
  return `error forwarding port ${port} to pod: ${problem instanceof Error ? problem.message : String(problem)}`;
}
