import type { ClientRequest } from "node:http";

/**
 * Sends when the connection is there and `beforeSend` agrees: nothing is waited for between its answer and the bytes, so
 * that a process which was stopped while it connected asks after it goes on.
 */
export function endGuarded(
  sending: ClientRequest,
  body: string | Uint8Array | undefined,
  beforeSend: () => void,
  onRefused: (error: unknown) => void,
): void {
  const send = () => {
    try {
      beforeSend();
    } catch (error) {
      onRefused(error);
      sending.destroy();
      return;
    }
    sending.end(body);
  };
  sending.once("socket", (socket) => {
    const ready = "encrypted" in socket ? "secureConnect" : "connect";
    if (socket.connecting || ("secureConnecting" in socket && socket.secureConnecting)) socket.once(ready, send);
    else send();
  });
}
