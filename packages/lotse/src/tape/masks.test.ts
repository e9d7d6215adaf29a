import { describe, expect, it } from "vitest";
import { Masks } from "./masks.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const secret = (data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "login", annotations: { last: JSON.stringify({ data }) } },
  data,
});
const text = (value: unknown) => JSON.stringify(value);

describe("what is secret", () => {
  it("is replaced by a word, the same for the same value and another for another", () => {
    const masks = new Masks();
    const body = masks.body(
      secret({ a: base64("correct horse"), b: base64("correct horse"), c: base64("battery staple") }),
    );
    const { data } = body as { data: Record<string, string> };
    expect(data.a).toBe(data.b);
    expect(data.a).not.toBe(data.c);
    expect(Buffer.from(data.a ?? "", "base64").toString()).toMatch(/^masked-[0-9a-f]{16}$/);
    expect(text(body)).not.toContain(base64("correct horse"));
    expect((body as { metadata: { name: string } }).metadata.name).toBe("login");
  });

  it("is found in lists, in events, in templates, and in tokens", () => {
    const masks = new Masks();
    const value = base64("correct horse");
    const bodies = [
      { kind: "SecretList", items: [{ metadata: { name: "a" }, data: { a: value } }] },
      { type: "ADDED", object: secret({ a: value }) },
      { kind: "Team", spec: { template: { kind: "Secret", stringData: { a: "correct horse" } } } },
      { kind: "TokenRequest", status: { token: "correct horse" } },
    ];
    for (const body of bodies) expect(text(masks.body(body))).not.toMatch(/correct horse|Y29ycmVjdCBob3JzZ/);
  });

  it("is looked for everywhere once it is known, also inside of other texts", () => {
    const masks = new Masks();
    const login = masks.body(secret({ password: base64("correct horse"), short: base64("abc") })) as {
      data: Record<string, string>;
    };
    const word = Buffer.from(login.data.password ?? "", "base64").toString();
    const map = {
      kind: "ConfigMap",
      data: { url: "postgres://shop:correct horse@db", same: "correct horse", short: "abc" },
    };
    expect(masks.body(map)).toEqual({
      kind: "ConfigMap",
      data: { url: `postgres://shop:${word}@db`, same: word, short: "abc" },
    });
    expect(masks.text("two: correct horse correct horse")).toBe(`two: ${word} ${word}`);
    expect(masks.text(`encoded ${base64("correct horse")}`)).toBe(`encoded ${login.data.password}`);
  });

  it("leaves names alone, of which paths are made", () => {
    const masks = new Masks();
    masks.body(secret({ user: base64("team-blue") }));
    const body = { metadata: { name: "team-blue", namespace: "team-blue" }, spec: { secretName: "team-blue" } };
    expect(masks.body(body)).toEqual(body);
  });

  it("does not change what it was given, and gives back the same where nothing is secret", () => {
    const masks = new Masks();
    const given = secret({ a: base64("correct horse") });
    const before = text(given);
    masks.body(given);
    expect(text(given)).toBe(before);
    const plain = { kind: "ConfigMap", data: { a: "b" } };
    expect(masks.body(plain)).toBe(plain);
  });

  it("is another word in another recording: nobody can try values", () => {
    const one = new Masks().body(secret({ a: base64("correct horse") }));
    expect(text(one)).not.toBe(text(new Masks().body(secret({ a: base64("correct horse") }))));
  });
});
