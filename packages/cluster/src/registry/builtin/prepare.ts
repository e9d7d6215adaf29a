import { setKey } from "@lotse/client/meta";
import { type ApiObject, isRecord } from "../object.ts";

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
