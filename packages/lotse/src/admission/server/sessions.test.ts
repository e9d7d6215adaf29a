import { EventEmitter } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Http2Sessions } from "./sessions.ts";

class Connection extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

class Session extends EventEmitter {
  closed = false;
  destroyed = false;

  close(): void {
    this.closed = true;
  }
}

function start() {
  const clock = new VirtualClock();
  const sessions = new Http2Sessions(clock, 30_000);
  const add = () => {
    const session = new Session();
    const connection = new Connection();
    sessions.add(session as unknown as ServerHttp2Session, connection as unknown as Socket);
    return { session, connection };
  };
  return { clock, sessions, add };
}

describe("a session of HTTP/2", () => {
  it("keeps its connection for as long as it takes requests", async () => {
    const { clock, add } = start();
    const { connection } = add();
    await clock.advance(3_600_000);
    expect(connection.destroyed).toBe(false);
  });

  it("that takes no more keeps it until every answer is past its deadline, and not for ever", async () => {
    const { clock, add } = start();
    const { session, connection } = add();
    session.closed = true;
    await clock.advance(30_000);
    expect(connection.destroyed).toBe(false);
    await clock.advance(6_000);
    expect(connection.destroyed).toBe(true);
  });

  it("that is over and has told nobody loses it, too", async () => {
    const { clock, add } = start();
    const { session, connection } = add();
    session.destroyed = true;
    await clock.advance(36_000);
    expect(connection.destroyed).toBe(true);
  });

  it("leaves no timer behind when it ends", async () => {
    const { clock, add } = start();
    const [one, two] = [add(), add()];
    one.session.emit("close");
    expect(clock.pending).toBe(1);
    two.connection.destroy();
    expect(clock.pending).toBe(0);
  });

  it("is told to take no more when all shall", () => {
    const { sessions, add } = start();
    const { session } = add();
    sessions.close();
    expect(session.closed).toBe(true);
  });
});
