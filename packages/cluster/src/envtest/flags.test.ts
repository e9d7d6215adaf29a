import { describe, expect, it } from "vitest";
import { type FlagTable, type FlagValues, helpText, listOf, readFlags, wantsHelp } from "./flags.ts";
import { API_SERVER_FLAGS, ETCD_FLAGS } from "./tables.ts";
import { readTokenFile } from "./token-file.ts";

const TABLE: FlagTable = {
  flags: new Map([
    ["port", { use: "used", help: "where" }],
    ["quick", { use: "used", boolean: true }],
    ["colour", { use: "ignored" }],
    ["loud", { use: "ignored", boolean: true }],
  ]),
  ignoredPrefixes: ["audit-"],
};

const read = (...argv: string[]): FlagValues => {
  const flags = readFlags(argv, TABLE);
  if (typeof flags === "string") throw new Error(flags);
  return flags;
};

describe("the flags of a stand-in", () => {
  it("are written with an equals sign or a space, with one dash or two, with underscores, more than once", () => {
    expect(read("--port=1", "-port", "2", "--port=").all("port")).toEqual(["1", "2", ""]);
    expect(read("--port=a=b", "--port", "--odd").last("port")).toBe("--odd");
    expect(read().last("port")).toBeUndefined();
  });

  it("stand alone when they are true or false, and leave the next word alone", () => {
    expect(read("--quick", "--port", "1").last("quick")).toBe("true");
    expect(read("--quick=false").last("quick")).toBe("false");
    expect(readFlags(["--quick=maybe"], TABLE)).toBe(
      'invalid argument "maybe" for "--quick" flag: it is true or false',
    );
  });

  it("are told when they have no effect, each once", () => {
    const flags = read("--colour", "red", "--loud", "--colour=blue", "--audit-log-path=/x", "--port=1");
    expect(flags.ignored).toEqual(["colour", "loud", "audit-log-path"]);
    expect(flags.given).toEqual({ colour: "red,blue", loud: "true", "audit-log-path": "/x", port: "1" });
  });

  it.each([
    [["--nope"], "unknown flag: --nope"],
    [["--constructor=1"], "unknown flag: --constructor"],
    [["--port"], "flag needs an argument: --port"],
    [["serve"], '"serve" is no flag, and there are no other arguments'],
  ])("are refused with a sentence: %j", (argv, sentence) => {
    expect(readFlags(argv, TABLE)).toBe(sentence);
  });

  it("are listed by --help at the beginning of a line, which is where envtest looks for them", () => {
    const lines = helpText("etcd", "keeps data", ETCD_FLAGS);
    expect(lines).toMatch(/^\s*--unsafe-no-fsync\b/m);
    expect(helpText("kube-apiserver", "serves", API_SERVER_FLAGS)).not.toMatch(/^\s*--insecure-port\b/m);
    expect([wantsHelp(["--a", "--help"]), wantsHelp(["-h"]), wantsHelp(["--helpful"])]).toEqual([true, true, false]);
  });

  it("include all that envtest passes, and all that people were seen to pass", () => {
    const always =
      "allow-privileged authorization-mode bind-address cert-dir client-ca-file disable-admission-plugins etcd-servers secure-port service-account-issuer service-account-key-file service-account-signing-key-file service-cluster-ip-range";
    const seen =
      "token-auth-file authentication-token-webhook-config-file authorization-webhook-config-file feature-gates runtime-config audit-policy-file audit-log-path enable-admission-plugins advertise-address max-requests-inflight v";
    for (const name of `${always} ${seen}`.split(" ")) {
      expect([name, readFlags([`--${name}=true`], API_SERVER_FLAGS)]).not.toEqual([name, expect.any(String)]);
    }
    for (const name of ["listen-peer-urls", "data-dir", "advertise-client-urls", "listen-client-urls"]) {
      expect([name, readFlags([`--${name}=x`], ETCD_FLAGS)]).not.toEqual([name, expect.any(String)]);
    }
  });

  it("hold lists, with commas or one by one", () => {
    expect(listOf(["a, b", "", "c"])).toEqual(["a", "b", "c"]);
  });
});

describe("a file of tokens", () => {
  it("has lines of a token, a user, a uid and groups", () => {
    expect(readTokenFile('# people\nt1,jane,u1,"devs,ops"\n\nt2, joe ,u2\n')).toEqual({
      t1: { user: "jane", uid: "u1", groups: ["devs", "ops"] },
      t2: { user: "joe", uid: "u2", groups: [] },
    });
  });

  it("is refused by the line that is wrong", () => {
    expect(() => readTokenFile("a,b,c\nonly-a-token\n")).toThrow("line 2 of the token file has no token, user and uid");
  });
});
