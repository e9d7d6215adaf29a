import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "./logger.ts";
import { type AskedWho, clusterReview, MetricsGuard } from "./metrics-guard.ts";

type Ask = (token: string) => Promise<AskedWho>;

function guarding(ask: Ask) {
  const clock = new VirtualClock();
  const lines: LogRecord[] = [];
  const asked: string[] = [];
  const logger = new Logger(
    (line) => lines.push(line),
    () => clock.now(),
  );
  const guard = new MetricsGuard({
    clock,
    logger,
    ask: (token) => {
      asked.push(token);
      return ask(token);
    },
  });
  return { guard, clock, lines, asked };
}

const SCRAPER: AskedWho = { known: true, user: "system:serviceaccount:monitoring:prometheus", allowed: true };

describe("the guard of metrics", () => {
  it.each([undefined, "", "Basic dTpw", "Bearer", "Bearer  ", "Bearer two words"])(
    "lets nobody in without a token, and asks the cluster nothing: %s",
    async (header) => {
      const { guard, asked } = guarding(async () => SCRAPER);
      expect(await guard.check(header)).toMatchObject({ status: 401, why: expect.stringContaining("Bearer") });
      expect(asked).toEqual([]);
    },
  );

  it("lets those in who may, and remembers a yes for a minute", async () => {
    const { guard, clock, asked } = guarding(async () => SCRAPER);
    for (let i = 0; i < 3; i++) expect(await guard.check("Bearer one")).toBeUndefined();
    expect(asked).toEqual(["one"]);
    await clock.advance(60_001);
    expect(await guard.check("bearer one")).toBeUndefined();
    expect(asked).toEqual(["one", "one"]);
  });

  it("says who may not, and soon looks again", async () => {
    let allowed = false;
    const { guard, clock, asked } = guarding(async () => ({ known: true, user: "jane", allowed }));
    expect(await guard.check("Bearer j")).toEqual({ status: 403, why: "jane may not get the URL /metrics" });
    allowed = true;
    expect(await guard.check("Bearer j")).toMatchObject({ status: 403 });
    await clock.advance(10_001);
    expect(await guard.check("Bearer j")).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it("lets nobody in whom the cluster does not know", async () => {
    const { guard } = guarding(async () => ({ known: false }));
    expect(await guard.check("Bearer x")).toEqual({ status: 401, why: "the cluster does not know this token" });
  });

  it("lets nobody in while the cluster does not answer, says so once, and asks again the next time", async () => {
    let answers = false;
    const { guard, lines } = guarding(() =>
      answers ? Promise.resolve(SCRAPER) : Promise.reject(new Error("tokenreviews is forbidden")),
    );
    expect(await guard.check("Bearer one")).toMatchObject({
      status: 503,
      why: expect.not.stringContaining("forbidden"),
    });
    expect(await guard.check("Bearer one")).toMatchObject({ status: 503 });
    expect(lines.map(({ level, fields }) => [level, fields.error])).toEqual([
      ["warn", "tokenreviews is forbidden"],
      ["debug", "tokenreviews is forbidden"],
    ]);
    answers = true;
    expect(await guard.check("Bearer one")).toBeUndefined();
  });

  it("asks once for all who bring the same token at the same time, and about few tokens at once", async () => {
    const open: (() => void)[] = [];
    const { guard, asked } = guarding(() => new Promise((resolve) => open.push(() => resolve(SCRAPER))));
    const waiting = Array.from({ length: 20 }, (_, i) => guard.check(`Bearer ${i % 10}`));
    expect(asked).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    for (const let_in of open) let_in();
    const answers = await Promise.all(waiting);
    expect(answers.map((refusal) => refusal?.status)).toEqual(
      [...Array(2)].flatMap(() => [...Array(8).fill(undefined), 429, 429]),
    );
  });

  it("remembers no more than a hundred tokens", async () => {
    const { guard, asked } = guarding(async () => SCRAPER);
    for (let i = 0; i <= 100; i++) await guard.check(`Bearer ${i}`);
    await guard.check("Bearer 100");
    expect(asked).toHaveLength(101);
    await guard.check("Bearer 0");
    expect(asked).toHaveLength(102);
  });
});

describe("the questions to the cluster", () => {
  const answers = (...status: object[]) => {
    const sent: { path: string; body?: unknown }[] = [];
    const raw = async (request: { path: string; body?: unknown }) => {
      sent.push(request);
      return { json: async () => ({ status: status[sent.length - 1] }) };
    };
    return { sent, ask: clusterReview({ raw } as never) };
  };

  it("are who the token belongs to, and whether that user may get /metrics", async () => {
    const user = { username: "jane", uid: "1", groups: ["team"], extra: { scopes: ["read"] } };
    const { ask, sent } = answers({ authenticated: true, user }, { allowed: true });
    expect(await ask("t")).toEqual({ known: true, user: "jane", allowed: true });
    expect(sent).toMatchObject([
      { path: "/apis/authentication.k8s.io/v1/tokenreviews", body: { kind: "TokenReview", spec: { token: "t" } } },
      {
        path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        body: {
          kind: "SubjectAccessReview",
          spec: {
            user: "jane",
            uid: "1",
            groups: ["team"],
            extra: { scopes: ["read"] },
            nonResourceAttributes: { path: "/metrics", verb: "get" },
          },
        },
      },
    ]);
  });

  it.each([{}, { authenticated: false, error: "invalid" }, { authenticated: true, user: {} }])(
    "end with the first where nobody is known: %j",
    async (status) => {
      const { ask, sent } = answers(status);
      expect(await ask("t")).toEqual({ known: false });
      expect(sent).toHaveLength(1);
    },
  );

  it("take for a no what is no yes", async () => {
    const { ask } = answers({ authenticated: true, user: { username: "jane" } }, {});
    expect(await ask("t")).toMatchObject({ allowed: false });
  });
});
