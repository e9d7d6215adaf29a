// The floor: what Node.js brings. Kept connections, JSON.parse, lines cut from bytes; no retries, no types, no cache.
import { readFileSync } from "node:fs";
import https from "node:https";

export async function connect() {
  const { clusters, users } = JSON.parse(readFileSync(process.env.KUBECONFIG, "utf8"));
  const { server, "certificate-authority-data": authority } = clusters[0].cluster;
  const { hostname, port } = new URL(server);
  const agent = new https.Agent({ keepAlive: true, ca: Buffer.from(authority, "base64") });
  return { hostname, port, agent, headers: { authorization: `Bearer ${users[0].user.token}` } };
}

function read(client, path) {
  return new Promise((resolve, reject) => {
    const onAnswer = (answer) => {
      const chunks = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
      answer.on("error", reject);
    };
    https.get({ ...client, path }, onAnswer).on("error", reject);
  });
}

export const get = (client, namespace, name) => read(client, `/api/v1/namespaces/${namespace}/configmaps/${name}`);

export const list = async (client, namespace) => (await read(client, `/api/v1/namespaces/${namespace}/pods`)).items;

export async function watch(client, namespace, onChange) {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const { metadata } = await read(client, path);
  https.get({ ...client, path: `${path}?watch=true&resourceVersion=${metadata.resourceVersion}` }, (answer) => {
    let rest;
    answer.on("data", (chunk) => {
      const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        onChange(JSON.parse(bytes.toString("utf8", start, end)).object);
        start = end + 1;
      }
      rest = start < bytes.length ? bytes.subarray(start) : undefined;
    });
  });
}
