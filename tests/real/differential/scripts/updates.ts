import type { Json, Script, Step } from "../script.ts";
import { patch, post, put, remove } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const services = "/api/v1/namespaces/{{ns}}/services";
const dry = { query: { dryRun: "All" } };

/** A Service without the addresses and ports that each server chooses. */
function chosen(body: Json): Json {
  const { spec, status } = body as { spec?: Fields; status?: Json };
  if (spec === undefined) return body;
  const { clusterIP, clusterIPs, ports, healthCheckNodePort, ...rest } = spec;
  return {
    ...rest,
    status: status ?? null,
    clusterIP: address(clusterIP),
    clusterIPs: ((clusterIPs ?? []) as Json[]).map(address),
    ports: ((ports ?? []) as Fields[]).map(({ nodePort, ...port }) => ({ ...port, nodePort: range(nodePort) })),
    healthCheckNodePort: range(healthCheckNodePort),
  };
}

const address = (value: Json | undefined): Json =>
  typeof value === "string" && value !== "None" && value !== ""
    ? value.includes(":")
      ? "<IPv6>"
      : "<IPv4>"
    : (value ?? null);

/** Only ports that a step asks for are compared; a server chooses the others. */
const range = (value: Json | undefined): Json =>
  typeof value === "number" && value >= 30_000 && (value < 30_070 || value > 30_076) ? "<port>" : (value ?? null);

const service = (name: string, spec: Fields): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: [{ name: "a", port: 80 }], ...spec },
});

const changed = (name: string, what: string, spec: Fields): Step =>
  patch("merge", `${name}: ${what}`, `${services}/${name}`, { spec }, { ...dry, view: chosen });

const families: readonly (readonly [string, Fields])[] = [
  ["both families", { ipFamilies: ["IPv4", "IPv6"] }],
  ["no families", { ipFamilies: [] }],
  ["families gone", { ipFamilies: null }],
  ["both families preferred", { ipFamilyPolicy: "PreferDualStack" }],
  ["both families demanded", { ipFamilyPolicy: "RequireDualStack" }],
  ["both families demanded by name", { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] }],
  ["one family", { ipFamilyPolicy: "SingleStack" }],
  ["no policy", { ipFamilyPolicy: null }],
  ["an unknown policy", { ipFamilyPolicy: "Magic" }],
  ["an unknown family", { ipFamilies: ["IPv5"] }],
  // A real server gives the lowest sixteen of a range only to those who ask for them.
  ["another address", { clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"] }],
  ["an address of the other family", { clusterIPs: ["2001:db8::1"], clusterIP: "2001:db8::1" }],
  ["a second address", { clusterIPs: ["10.0.0.7", "2001:db8::1"] }],
  ["an empty address", { clusterIP: "", clusterIPs: [] }],
  ["another type", { type: "NodePort" }],
  ["a load balancer", { type: "LoadBalancer", loadBalancerClass: "example.com/lb" }],
  ["a name elsewhere", { type: "ExternalName", externalName: "a.example.com" }],
  [
    "a name elsewhere without addresses",
    { type: "ExternalName", externalName: "a.example.com", clusterIP: "", clusterIPs: null },
  ],
  ["a port on the nodes", { type: "NodePort", ports: [{ name: "a", port: 80, nodePort: 30_070 }] }],
  ["a port on the nodes that is out of range", { type: "NodePort", ports: [{ name: "a", port: 80, nodePort: 80 }] }],
  ["a port on the nodes that is taken", { type: "NodePort", ports: [{ name: "a", port: 80, nodePort: 30_071 }] }],
];

const serviceSteps: readonly Step[] = [
  post(
    "writes one that takes a port",
    services,
    service("taken", { type: "NodePort", ports: [{ port: 80, nodePort: 30_071 }] }),
    {
      view: chosen,
    },
  ),
  ...["ClusterIP", "NodePort", "LoadBalancer"].flatMap((type) => [
    post(`tries a ${type}`, services, service("tried", { type }), { ...dry, view: chosen }),
    post(`tries a ${type} twice`, services, service("tried", { type }), { ...dry, view: chosen }),
    post(
      `tries a ${type} with a port on the nodes`,
      services,
      service("tried", { type, ports: [{ port: 80, nodePort: 30_072 }] }),
      { ...dry, view: chosen },
    ),
    post(
      `tries a ${type} with a port on the nodes that is out of range`,
      services,
      service("tried", { type, ports: [{ port: 80, nodePort: 80 }] }),
      { ...dry, view: chosen },
    ),
    post(
      `tries a ${type} with two ports on the nodes that are out of range`,
      services,
      service("tried", {
        type,
        ports: [
          { name: "a", port: 80, nodePort: 80 },
          { name: "b", port: 81, nodePort: 70_000 },
        ],
      }),
      { ...dry, view: chosen },
    ),
    post(
      `writes a ${type} with a port on the nodes that is out of range`,
      services,
      service("refused", { type, ports: [{ port: 80, nodePort: 80 }] }),
      { view: chosen },
    ),
    post(
      `tries a ${type} with a port on the nodes that is taken`,
      services,
      service("tried", { type, ports: [{ port: 80, nodePort: 30_071 }] }),
      { ...dry, view: chosen },
    ),
  ]),
  post(
    "tries a load balancer with local traffic",
    services,
    service("tried", { type: "LoadBalancer", externalTrafficPolicy: "Local" }),
    { ...dry, view: chosen },
  ),
  post(
    "takes the port that was only tried",
    services,
    service("after", { type: "NodePort", ports: [{ port: 80, nodePort: 30_072 }] }),
    {
      view: chosen,
    },
  ),
  ...(
    [
      ["plain", {}],
      ["headless", { clusterIP: "None", selector: { a: "b" } }],
      ["preferring", { ipFamilyPolicy: "PreferDualStack" }],
      ["open", { type: "NodePort", ports: [{ name: "a", port: 80, nodePort: 30_073 }] }],
      [
        "balanced",
        {
          type: "LoadBalancer",
          externalTrafficPolicy: "Local",
          healthCheckNodePort: 30_074,
          ports: [{ name: "a", port: 80, nodePort: 30_075 }],
        },
      ],
      ["external", { type: "ExternalName", externalName: "b.example.com" }],
    ] as readonly (readonly [string, Fields])[]
  ).flatMap(([name, spec]) => [
    post(`writes the Service ${name}`, services, service(name, spec), { view: chosen }),
    ...families.map(([what, change]) => changed(name, what, change)),
    changed(name, "another port for checks", { healthCheckNodePort: 30_076 }),
    changed(name, "traffic as it comes", { externalTrafficPolicy: "Cluster" }),
    changed(name, "a plain one", { type: "ClusterIP" }),
    put(`${name}: replaced by itself without addresses`, `${services}/${name}`, service(name, spec), {
      ...dry,
      view: chosen,
    }),
    remove(`takes the Service ${name} away`, `${services}/${name}`, undefined, { view: () => null }),
  ]),
];

/** Services that change their families, types and ports, and what is only tried. */
export const updates: Script = { title: "changes of Services", namespace: "diff-updates", steps: serviceSteps };
