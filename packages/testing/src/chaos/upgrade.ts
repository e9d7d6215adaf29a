/** Streams into pods: the proxy asks for them in the operator's name, and passes bytes in both directions. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Passage, PassageRequest } from "@lotse/client/passage";

/** Resolves with the status of the answer, when bytes pass or the refusal was passed on. */
export async function passUpgrade(
  passage: Passage,
  request: PassageRequest,
  near: Socket,
  head: Buffer,
): Promise<number> {
  const over = new AbortController();
  near.once("close", () => over.abort());
  const { answer, socket: far, head: more } = await passage.upgrade({ ...request, signal: over.signal });
  near.write(headOf(answer));
  if (!far) {
    answer.pipe(near);
    return answer.statusCode ?? 500;
  }
  if (more && more.length > 0) near.write(more);
  if (head.length > 0) far.write(head);
  far.on("error", () => near.destroy());
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  near.pipe(far).pipe(near);
  return answer.statusCode ?? 101;
}

/** The answer's first lines, as they came. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const isOver = statusCode !== 101;
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    // Its end is the connection's: pieces with lengths were put together on the way.
    if (isOver && /^(connection|transfer-encoding)$/i.test(rawHeaders[i] ?? "")) continue;
    lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  if (isOver) lines.push("connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}
