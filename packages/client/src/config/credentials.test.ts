import { expect, it } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { PartsCredentials } from "./credentials.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import type { RenewedFile } from "./files.ts";

/** Credentials of a plugin that gives token 1, 2, 3, … */
function counting() {
  let runs = 0;
  const exec = new ExecPlugin(
    { apiVersion: "client.authentication.k8s.io/v1", command: "helper", interactiveMode: "Never" },
    {
      cluster: { server: "https://main" },
      folder: undefined,
      env: {},
      clock: new VirtualClock(),
      run: async () => ({ exitCode: 0, stdout: JSON.stringify({ status: { token: String(++runs) } }), stderr: "" }),
    },
  );
  return { credentials: new PartsCredentials({ issuer: exec, rejectUnauthorized: true }), runs: () => runs };
}

it("many refusals of one identity cause one renewal, late ones included", async () => {
  const { credentials, runs } = counting();
  const first = await credentials.current();
  expect(await Promise.all([credentials.renew(first), credentials.renew(first)])).toEqual([true, true]);
  expect(await credentials.renew(first)).toBe(true);
  expect(runs()).toBe(2);
  expect((await credentials.current()).token).toBe("2");
});

it("a refusal of the renewed identity causes another renewal", async () => {
  const { credentials, runs } = counting();
  await credentials.renew(await credentials.current());
  await credentials.renew(await credentials.current());
  expect(runs()).toBe(3);
});

it("of several files that cannot be read the certificate is told, also when the key fails earlier", async () => {
  const failing = (what: string, turns: number) => ({
    read: async () => {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      throw new Error(`no ${what}`);
    },
  });
  const credentials = new PartsCredentials({
    cert: failing("certificate", 20) as unknown as RenewedFile,
    key: failing("key", 1) as unknown as RenewedFile,
    rejectUnauthorized: true,
  });
  await expect(credentials.current()).rejects.toThrow("no certificate");
});
