/** Sockets to one server: plain or with TLS, straight or through a proxy. */
import { connect, isIP, type Socket } from "node:net";
import type { ConnectionOptions, SecureContext, TLSSocket } from "node:tls";
import { openTunnel } from "../../config/index.ts";
import type { Dial, Dialed } from "./connection.ts";
import { Intake } from "./intake.ts";

/** Whom to call, and what has to be true of who answers. */
export interface DialOptions {
  readonly host: string;
  readonly port: number;
  readonly proxyUrl?: string | undefined;
  /** Absent where nothing is encrypted. */
  readonly tls?: TlsPart | undefined;
}

/** TLS as one identity wants it. */
export interface TlsPart {
  /** Handed in, because it is loaded where it is needed only. */
  readonly connect: (o: ConnectionOptions) => TLSSocket;
  readonly secureContext: SecureContext;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: boolean;
  /** May vouch for a proxy, too. */
  readonly ca?: string | Buffer | undefined;
}

/** How soon the system looks after a connection on which nothing happens. */
const PROBE_MS = 1_000;

/** Calls one server again and again; each call goes on with the TLS session of an earlier one where there is one. */
export function dialer({ host, port, proxyUrl, tls }: DialOptions): Dial {
  const encrypt = tls === undefined ? undefined : encrypter(tls, host);
  if (proxyUrl === undefined) {
    return (onBytes) => {
      const target = { host, port, onread: new Intake(onBytes).onread };
      return encrypt ? encrypt(target) : { socket: tuned(connect(target)), ready: "connect" };
    };
  }
  // What comes out of a tunnel may have been read already: such sockets stay streams.
  return async (onBytes) => {
    const tunnel = await openTunnel(proxyUrl, { host, port }, tls?.ca);
    const dialed: Dialed = encrypt ? encrypt({ host, socket: tunnel as Socket }) : { socket: tunnel, ready: undefined };
    dialed.socket.on("data", onBytes);
    return dialed;
  };
}

function encrypter(tls: TlsPart, host: string): (o: ConnectionOptions) => Dialed {
  // An address is no name to ask for; the certificate is checked against the host all the same.
  const servername = tls.servername || (isIP(host) ? "" : host);
  const { secureContext, rejectUnauthorized } = tls;
  const common = { secureContext, rejectUnauthorized, servername, ALPNProtocols: ["http/1.1"] };
  let session: Buffer | undefined;
  return (target) => {
    const socket = tls.connect({ ...target, ...common, session });
    socket.on("session", (next: Buffer) => {
      session = next;
    });
    // What failed may have failed because of it.
    socket.once("error", () => {
      session = undefined;
    });
    return { socket: tuned(socket), ready: "secureConnect" };
  };
}

/** A request is one piece that waits for nothing; and a peer that vanished without a word is noticed. */
function tuned(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, PROBE_MS);
}
