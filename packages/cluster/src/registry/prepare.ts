import { setKey } from "@lotse/client/meta";
import { type ApiObject, isRecord } from "./object.ts";
import type { StrategyContext } from "./strategy.ts";

/** `stringData` is a convenience for writers: it is folded into `data` and never comes back. */
export function foldStringData(object: ApiObject): void {
  const plain = object.stringData;
  delete object.stringData;
  if (!isRecord(plain)) return;
  const data: Record<string, unknown> = isRecord(object.data) ? { ...object.data } : {};
  for (const [key, value] of Object.entries(plain)) setKey(data, key, base64(String(value)));
  if (Object.keys(data).length > 0) object.data = data;
}

function base64(text: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2_768;

/** Gives a Service its addresses and ports; an update keeps those that the object already had. */
export function prepareService(object: ApiObject, context: StrategyContext, old?: ApiObject): void {
  const spec = object.spec as Record<string, unknown>;
  const before = (old?.spec ?? {}) as Record<string, unknown>;
  if (spec.type === "ExternalName") {
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"])
      delete spec[key];
    return;
  }
  if (!spec.clusterIP && typeof before.clusterIP === "string") spec.clusterIP = before.clusterIP;
  if (!spec.clusterIP && Array.isArray(spec.clusterIPs)) spec.clusterIP = spec.clusterIPs[0];
  if (!spec.clusterIP) spec.clusterIP = context.allocateClusterIp(undefined);
  spec.clusterIPs ??= before.clusterIPs ?? [spec.clusterIP];
  // Without a selector nobody knows which families the endpoints will have, so both are promised.
  const open = spec.clusterIP === "None" && spec.selector === undefined;
  spec.ipFamilies ??= open ? ["IPv4", "IPv6"] : ["IPv4"];
  spec.ipFamilyPolicy ??= open ? "RequireDualStack" : "SingleStack";
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") {
    const known = new Map<unknown, unknown>();
    for (const port of portsOf(before)) known.set(`${port.port}/${port.protocol}`, port.nodePort);
    for (const port of portsOf(spec)) {
      port.nodePort ??= known.get(`${port.port}/${port.protocol}`);
      port.nodePort ??= FIRST_NODE_PORT + Math.floor(context.random() * NODE_PORTS);
    }
  }
}

function portsOf(spec: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(spec.ports) ? spec.ports.filter(isRecord) : [];
}
