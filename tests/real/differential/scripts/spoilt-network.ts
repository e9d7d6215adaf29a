import type { Script } from "../script.ts";
import { everywhere, inNamespace, type Specimen, spoil } from "./mutations.ts";

const selector = {
  matchLabels: { app: "x" },
  matchExpressions: [
    { key: "tier", operator: "In", values: ["a"] },
    { key: "old", operator: "Exists" },
  ],
};

const chosen = ["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"];
const ports = [
  { name: "http", port: 80, protocol: "TCP", targetPort: 8080, appProtocol: "kubernetes.io/h2c" },
  { name: "dns", port: 53, protocol: "UDP", targetPort: "dns" },
];
const service = inNamespace("v1", "services", "Service");
const policy = inNamespace("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy");
const ingress = inNamespace("networking.k8s.io/v1", "ingresses", "Ingress");
const slice = inNamespace("discovery.k8s.io/v1", "endpointslices", "EndpointSlice");
const range = (cidr: string, except: string[] = []) => ({
  spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except } }] }] },
});
const to = (service: { [key: string]: string | { [key: string]: string | number } }) => ({
  spec: { defaultBackend: { service } },
});
const onPath = (path: string, pathType = "Prefix") => ({
  spec: {
    rules: [{ http: { paths: [{ path, pathType, backend: { service: { name: "s", port: { number: 80 } } } }] } }],
  },
});
const host = (name: string) => ({
  spec: {
    defaultBackend: { service: { name: "s", port: { number: 80 } } },
    rules: [{ host: name }],
    tls: [{ hosts: [name] }],
  },
});
const addresses = (addressType: string, ...list: string[]) => ({ addressType, endpoints: [{ addresses: list }] });
const long = "x".repeat(64);

const specimens: readonly Specimen[] = [
  {
    ...service,
    chosen,
    good: {
      spec: {
        type: "ClusterIP",
        selector: { app: "x" },
        ports,
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
        internalTrafficPolicy: "Local",
        trafficDistribution: "PreferSameZone",
        ipFamilyPolicy: "PreferDualStack",
        publishNotReadyAddresses: true,
      },
    },
    also: {
      "no ports": { spec: {} },
      "unnamed ports": { spec: { ports: [{ port: 1 }, { port: 2 }] } },
      "a port twice": {
        spec: {
          ports: [
            { name: "a", port: 1 },
            { name: "b", port: 1 },
          ],
        },
      },
      "a name twice": {
        spec: {
          ports: [
            { name: "a", port: 1 },
            { name: "a", port: 2 },
          ],
        },
      },
      "a long name of a port": { spec: { ports: [{ name: long, port: 1 }] } },
      "long names of targets": { spec: { ports: [{ port: 1, targetPort: "abcdefghijklmnop" }] } },
      "a target of digits": { spec: { ports: [{ port: 1, targetPort: "80" }] } },
      "a target with two hyphens": { spec: { ports: [{ port: 1, targetPort: "a--b" }] } },
      "a target that ends in a hyphen": { spec: { ports: [{ port: 1, targetPort: "a-" }] } },
      "a node port": { spec: { ports: [{ port: 1, nodePort: 30001 }] } },
      "a node port twice": {
        spec: {
          type: "NodePort",
          ports: [
            { name: "a", port: 1, nodePort: 30077 },
            { name: "b", port: 2, nodePort: 30077 },
          ],
        },
      },
      "a node port for two protocols": {
        spec: {
          type: "NodePort",
          ports: [
            { name: "a", port: 1, protocol: "TCP", nodePort: 30078 },
            { name: "b", port: 1, protocol: "UDP", nodePort: 30078 },
          ],
        },
      },
      "no address": { spec: { clusterIP: "None" } },
      "no address and no selector": { spec: { clusterIP: "None", ports: [{ port: 1 }] } },
      "no address and a node port": { spec: { clusterIP: "None", type: "NodePort", ports: [{ port: 1 }] } },
      "no address and a balancer": { spec: { clusterIP: "None", type: "LoadBalancer", ports: [{ port: 1 }] } },
      "a bad address": { spec: { clusterIP: "x", ports: [{ port: 1 }] } },
      "an address with zeros": { spec: { clusterIP: "010.0.0.1", ports: [{ port: 1 }] } },
      "an address of the other family": { spec: { clusterIP: "2001:db8::1", ports: [{ port: 1 }] } },
      "only the list of addresses": { spec: { clusterIPs: ["10.0.0.11"], ports: [{ port: 1 }] } },
      "another list of addresses": {
        spec: { clusterIP: "10.0.0.12", clusterIPs: ["10.0.0.11"], ports: [{ port: 1 }] },
      },
      "None and an address": { spec: { clusterIP: "None", clusterIPs: ["None", "10.0.0.7"], ports: [{ port: 1 }] } },
      "three addresses": {
        spec: { clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7", "10.0.0.8", "10.0.0.9"], ports: [{ port: 1 }] },
      },
      "an unknown family": { spec: { ipFamilies: ["IPv5"], ports: [{ port: 1 }] } },
      "a family twice": { spec: { ipFamilies: ["IPv4", "IPv4"], ports: [{ port: 1 }] } },
      "the other family": { spec: { ipFamilies: ["IPv6"], ports: [{ port: 1 }] } },
      "both families": { spec: { ipFamilies: ["IPv4", "IPv6"], ports: [{ port: 1 }] } },
      "both families demanded": { spec: { ipFamilyPolicy: "RequireDualStack", ports: [{ port: 1 }] } },
      "a family that its address is not of": {
        spec: { clusterIP: "10.0.0.9", ipFamilies: ["IPv6"], ports: [{ port: 1 }] },
      },
      "an unknown family policy": { spec: { ipFamilyPolicy: "Magic", ports: [{ port: 1 }] } },
      "an unknown type": { spec: { type: "Magic", ports: [{ port: 1 }] } },
      "a name without a name": { spec: { type: "ExternalName" } },
      "a name": { spec: { type: "ExternalName", externalName: "example.com." } },
      "a bad name": { spec: { type: "ExternalName", externalName: "a_b" } },
      "a name and an address": { spec: { type: "ExternalName", externalName: "a.b", clusterIP: "10.0.0.7" } },
      "a name and families": {
        spec: { type: "ExternalName", externalName: "a.b", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
      },
      "a loopback address outside": { spec: { externalIPs: ["127.0.0.1"], ports: [{ port: 1 }] } },
      "an unspecified address outside": { spec: { externalIPs: ["0.0.0.0"], ports: [{ port: 1 }] } },
      "a link-local address outside": { spec: { externalIPs: ["169.254.1.1"], ports: [{ port: 1 }] } },
      "a local multicast address outside": { spec: { externalIPs: ["224.0.0.1"], ports: [{ port: 1 }] } },
      "IPv6 loopback outside": { spec: { externalIPs: ["::1", "fe80::1", "ff02::1", "::"], ports: [{ port: 1 }] } },
      "a mapped address outside": { spec: { externalIPs: ["::ffff:1.2.3.4"], ports: [{ port: 1 }] } },
      "a traffic policy without an outside": { spec: { externalTrafficPolicy: "Local", ports: [{ port: 1 }] } },
      "an unknown traffic policy": { spec: { type: "NodePort", externalTrafficPolicy: "Magic", ports: [{ port: 1 }] } },
      "a health check port without a balancer": { spec: { healthCheckNodePort: 30010, ports: [{ port: 1 }] } },
      "an unknown distribution": { spec: { trafficDistribution: "Magic", ports: [{ port: 1 }] } },
      "source ranges without a balancer": { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"], ports: [{ port: 1 }] } },
      "a bad source range": {
        spec: { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.1/8"], ports: [{ port: 1 }] },
      },
      "a balancer's class without a balancer": { spec: { loadBalancerClass: "a.io/b", ports: [{ port: 1 }] } },
      "a bad class": { spec: { type: "LoadBalancer", loadBalancerClass: "a b", ports: [{ port: 1 }] } },
      "ports of balancers without one": { spec: { allocateLoadBalancerNodePorts: true, ports: [{ port: 1 }] } },
      "an affinity config without affinity": {
        spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } }, ports: [{ port: 1 }] },
      },
      "a long affinity": {
        spec: {
          sessionAffinity: "ClientIP",
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } },
          ports: [{ port: 1 }],
        },
      },
    },
    changes: {
      "another address": { spec: { clusterIP: "10.0.0.99" } },
      "no address": { spec: { clusterIP: "None" } },
      "an empty address": { spec: { clusterIP: "", clusterIPs: null } },
      "a node port": { spec: { type: "NodePort" } },
      "a balancer": { spec: { type: "LoadBalancer" } },
      "a balancer with local traffic": { spec: { type: "LoadBalancer", externalTrafficPolicy: "Local" } },
      "a name": { spec: { type: "ExternalName", externalName: "a.b" } },
      "a name without a name": { spec: { type: "ExternalName" } },
      "both families": { spec: { ipFamilyPolicy: "RequireDualStack" } },
      "one family": { spec: { ipFamilyPolicy: "SingleStack" } },
    },
  },
  {
    ...service,
    label: "balanced Service",
    name: "balanced",
    chosen,
    good: {
      spec: {
        type: "LoadBalancer",
        ports: [{ port: 80 }],
        loadBalancerClass: "a.io/b",
        loadBalancerSourceRanges: ["10.0.0.0/8"],
        allocateLoadBalancerNodePorts: false,
        externalTrafficPolicy: "Local",
      },
    },
    onlyNew: true,
  },
  {
    ...policy,
    good: {
      spec: {
        podSelector: selector,
        policyTypes: ["Ingress", "Egress"],
        ingress: [
          {
            ports: [{ port: 80, endPort: 90, protocol: "TCP" }, { port: "http" }],
            from: [
              { podSelector: selector, namespaceSelector: selector },
              { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
            ],
          },
        ],
        egress: [{ ports: [{ port: 53, protocol: "UDP" }], to: [{ namespaceSelector: {} }] }],
      },
    },
    also: {
      "an end before its begin": { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, endPort: 79 }] }] } },
      "an end of a name": { spec: { podSelector: {}, ingress: [{ ports: [{ port: "a", endPort: 79 }] }] } },
      "an end alone": { spec: { podSelector: {}, ingress: [{ ports: [{ endPort: 79 }] }] } },
      "two kinds of peers": {
        spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] },
      },
      "no peer": { spec: { podSelector: {}, ingress: [{ from: [{}] }] } },
      "three types": { spec: { podSelector: {}, policyTypes: ["Ingress", "Egress", "Ingress"] } },
      "bits beyond the prefix": range("10.0.0.1/8"),
      "zeros in the prefix": range("10.0.0.0/08"),
      "zeros in the address": range("010.0.0.0/8"),
      "a long prefix": range("10.0.0.0/33"),
      "a mapped range": range("::ffff:10.0.0.0/104"),
      "an IPv6 range": range("2001:db8::/32", ["2001:db8:1::/48"]),
      "an exception outside": range("10.0.0.0/8", ["11.0.0.0/16"]),
      "an exception that is all": range("10.0.0.0/8", ["10.0.0.0/8"]),
      "an exception of the other family": range("10.0.0.0/8", ["2001:db8::/64"]),
      "a bad exception": range("10.0.0.0/8", ["x"]),
    },
  },
  {
    ...ingress,
    good: {
      spec: {
        ingressClassName: "nginx",
        defaultBackend: { service: { name: "s", port: { name: "http" } } },
        tls: [{ hosts: ["a.example.com"], secretName: "tls" }],
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [{ path: "/a", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    also: {
      "two slashes": onPath("/a//b"),
      "a dot": onPath("/a/./b"),
      "two dots": onPath("/a/../b", "Exact"),
      "an encoded slash": onPath("/a%2fb"),
      "another encoded slash": onPath("/a%2Fb"),
      "two dots at its end": onPath("/a/.."),
      "a dot at its end": onPath("/a/."),
      "an address as host": host("1.2.3.4"),
      "an IPv6 address as host": host("::1"),
      "a star": host("*.example.com"),
      "two stars": host("*.*.com"),
      "a star alone": host("*"),
      "a resource": { spec: { defaultBackend: { resource: { apiGroup: "a.io", kind: "Bucket", name: "b" } } } },
      "two ports": to({ name: "s", port: { name: "a", number: 1 } }),
      "a port out of range": to({ name: "s", port: { number: 70000 } }),
      "both kinds of backends": {
        spec: { defaultBackend: { service: { name: "s" }, resource: { kind: "K", name: "n" } } },
      },
      "a resource with a slash": { spec: { defaultBackend: { resource: { kind: "a/b", name: ".." } } } },
      "a long name of a service": to({ name: long, port: { number: 1 } }),
    },
  },
  {
    ...everywhere("networking.k8s.io/v1", "ingressclasses", "IngressClass"),
    good: {
      spec: {
        controller: "a.io/b",
        parameters: { apiGroup: "a.io", kind: "Params", name: "p", scope: "Namespace", namespace: "default" },
      },
    },
    also: {
      "a long controller": { spec: { controller: `a.io/${"x".repeat(250)}` } },
      "a space in its path": { spec: { controller: "a.io/b c" } },
      "no path": { spec: { controller: "a.io/" } },
      "no domain": { spec: { controller: "/b" } },
      "a namespace of a cluster": {
        spec: { controller: "a.io/b", parameters: { kind: "P", name: "p", scope: "Cluster", namespace: "default" } },
      },
      "a namespace without one": {
        spec: { controller: "a.io/b", parameters: { kind: "P", name: "p", scope: "Namespace" } },
      },
    },
    changes: { "another controller": { spec: { controller: "a.io/c" } } },
  },
  {
    ...everywhere("networking.k8s.io/v1", "ipaddresses", "IPAddress"),
    name: "192.0.2.77",
    good: { spec: { parentRef: { group: "a.io", resource: "things", name: "n", namespace: "default" } } },
    changes: { "another parent": { spec: { parentRef: { name: "m" } } } },
  },
  ...["x", "1.2.3", "01.2.3.4", "::ffff:1.2.3.4", "2001:DB8::1", "2001:db8:0:0::1"].map((name) => ({
    ...everywhere("networking.k8s.io/v1", "ipaddresses", "IPAddress"),
    name,
    good: {},
    also: { [`the name ${name}`]: { spec: { parentRef: { resource: "services", name: "s" } } } },
    onlyNew: true,
  })),
  {
    ...everywhere("networking.k8s.io/v1", "servicecidrs", "ServiceCIDR"),
    good: { spec: { cidrs: ["192.168.77.0/24"] } },
    also: {
      "two of a family": { spec: { cidrs: ["10.1.0.0/16", "10.2.0.0/16"] } },
      three: { spec: { cidrs: ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"] } },
      "bits beyond the prefix": { spec: { cidrs: ["10.1.0.1/16"] } },
      "another spelling": { spec: { cidrs: ["2001:DB8::/64"] } },
    },
    onlyNew: true,
  },
  {
    ...inNamespace("v1", "endpoints", "Endpoints"),
    good: {
      subsets: [
        {
          addresses: [{ ip: "10.1.2.3", hostname: "a", nodeName: "n" }],
          notReadyAddresses: [{ ip: "10.1.2.4" }],
          ports: [
            { name: "a", port: 80, protocol: "TCP", appProtocol: "a.io/b" },
            { name: "b", port: 81 },
          ],
        },
      ],
    },
    also: {
      "a loopback address": { subsets: [{ addresses: [{ ip: "127.0.0.1" }] }] },
      "zeros in an address": { subsets: [{ addresses: [{ ip: "010.1.2.3" }] }] },
    },
  },
  {
    ...slice,
    good: {
      addressType: "IPv4",
      endpoints: [
        {
          addresses: ["10.1.2.3"],
          hostname: "a",
          nodeName: "n",
          zone: "z",
          conditions: { ready: true },
          hints: { forZones: [{ name: "z" }], forNodes: [{ name: "n" }] },
          targetRef: { kind: "Pod", name: "p" },
        },
      ],
      ports: [{ name: "a", port: 80, protocol: "TCP", appProtocol: "a.io/b" }],
    },
    also: {
      "an IPv6 address": addresses("IPv4", "2001:db8::1"),
      "an IPv4 address": addresses("IPv6", "10.1.2.3"),
      "another spelling": addresses("IPv6", "2001:DB8::1"),
      "a loopback address": addresses("IPv4", "127.0.0.1"),
      "a short name": addresses("FQDN", "a"),
      "a bad name": addresses("FQDN", "a_b.c"),
      "many addresses": addresses("IPv4", ...Array.from({ length: 101 }, (_, i) => `10.1.2.${i}`)),
      "many hints": {
        endpoints: [
          { addresses: ["10.1.2.3"], hints: { forZones: Array.from({ length: 9 }, (_, i) => ({ name: `z${i}` })) } },
        ],
      },
    },
    changes: { "another type": { addressType: "IPv6", endpoints: [{ addresses: ["2001:db8::1"] }] } },
  },
];

/** Services, policies, endpoints and what leads to them, with each field wrong once. */
export const spoiltNetwork: Script = {
  title: "fields of networking kinds",
  namespace: "diff-spoilt-network",
  steps: specimens.flatMap(spoil),
};
