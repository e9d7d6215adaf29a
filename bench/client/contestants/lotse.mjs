import { Client, ConfigMap, Pod } from "@lotse/client";

export const connect = () => Client.connect();

export const get = (client, namespace, name) => client.get(ConfigMap, name, { namespace });

export const list = (client, namespace) => client.list(Pod, { namespace }).toArray();

export async function watch(client, namespace, onChange) {
  const informer = client.informer(Pod, { namespace });
  informer.on("updated", onChange);
  await informer.synced;
  return { size: () => informer.size, newest: (name) => informer.get(name) };
}
