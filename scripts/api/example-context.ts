// What the examples in doc comments take for granted: kinds, objects and functions of the stories that they tell. Nothing
// of it ever runs; the compiler holds the examples against it.
import type { Cluster } from "@lotse/cluster";
import type { Harness } from "@lotse/testing";
import {
  type CachedList,
  type Conditions,
  type Logger,
  type Operator,
  type Owner,
  type RunningOperator,
  resource,
} from "lotse";
import type {
  apiErrorFrom,
  Client,
  Clock,
  ConfigMap,
  CronJob,
  Deployment,
  Discovery,
  Job,
  KubeConfig,
  KubeObject,
  Node,
  Pod,
  Service,
} from "lotse/client";
import type { expect as vitestExpect } from "vitest";
import { z } from "zod";

export { appendFileSync, readFileSync } from "node:fs";
export { z };

const story = { group: "story.example.com", version: "v1" } as const;

export const Database = resource({ ...story, kind: "Database", spec: z.object({ size: z.number().default(10) }) });
export const ExchangeRate = resource({
  ...story,
  kind: "ExchangeRate",
  spec: z.object({ currency: z.string() }),
  status: z.object({ rate: z.number().optional() }),
});
export const Greeting = resource({ ...story, kind: "Greeting", spec: z.object({ to: z.string() }) });
export const Machine = resource({
  ...story,
  kind: "Machine",
  spec: z.object({ size: z.number(), address: z.string() }),
  status: z.object({
    booted: z.boolean().optional(),
    switches: z.number().optional(),
    positions: z.string().optional(),
    load: z.number().optional(),
  }),
});
export const Shop = resource({
  ...story,
  kind: "Shop",
  spec: z.object({ name: z.string(), size: z.number().default(10), patience: z.string().default("5s") }),
});
export const Site = resource({ ...story, kind: "Site", spec: z.object({ host: z.string(), html: z.string() }) });
export const Switch = resource({ ...story, kind: "Switch", spec: z.object({ position: z.string() }) });

export declare const operator: Operator;
export declare const running: RunningOperator;
export declare const harness: Harness;
export declare const cluster: Cluster;
export declare const client: Client;
export declare const admin: Client;
export declare const config: KubeConfig;
export declare const discovery: Discovery;
export declare const expect: typeof vitestExpect;

export declare const pod: Pod;
export declare const deployment: Deployment;
export declare const service: Service;
export declare const configMap: ConfigMap;
export declare const map: ConfigMap;
export declare const job: Job;
export declare const cronJob: CronJob;
export declare const nightly: CronJob;
export declare const node: Node;
export declare const shop: InstanceType<typeof Shop>;
export declare const object: KubeObject;
export declare const owner: Owner;

export declare const conditions: Conditions;
export declare const logger: Logger;
export declare const signal: AbortSignal;
export declare const name: string;
export declare const token: string;
export declare const error: Error;
export declare const inAnHour: Date;
export declare const spec: { readonly size: number };
export declare const list: CachedList;
export declare const request: Parameters<typeof apiErrorFrom>[2];
export declare const clock: Clock;
export declare const bell: { onRing(listener: () => void): void };
export declare const bucket: { readonly ready: boolean };
export declare const dns: {
  find(name: string): { readonly id: string; readonly target: string } | undefined;
  add(name: string, host: string): Promise<void>;
  set(id: string, host: string): Promise<void>;
  remove(id: string): Promise<void>;
};
export declare const inbox: { messages(o: { signal: AbortSignal }): AsyncIterable<{ readonly database: string }> };
export declare const pager: { send(text: string): Promise<void> };
export declare const vault: { read(name: string): Promise<string> };
export declare const pages: (context: { readonly name: string }) => ConfigMap[];

export declare function rateOf(currency: string): Promise<number>;
export declare function loadOf(address: string): Promise<number>;
export declare function createDisk(size: number): Promise<{ readonly id: string }>;
export declare function restoreBackup(disk: string): Promise<void>;
export declare function createUser(): Promise<string>;
export declare function createGrants(): Promise<string[]>;
export declare function runOperator(): Promise<void>;
export declare function breakThings(): Promise<void>;
