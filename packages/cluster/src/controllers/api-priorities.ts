/** Where the groups of a server stand among all others, and their versions within: what its APIServices say. */
const PRIORITIES = `
v1 18000 1
apps/v1 17800 15
events.k8s.io/v1 17750 15
authentication.k8s.io/v1 17700 15
authorization.k8s.io/v1 17600 15
autoscaling/v2 17500 30
autoscaling/v1 17500 15
batch/v1 17400 15
certificates.k8s.io/v1 17300 15
certificates.k8s.io/v1beta1 17300 9
networking.k8s.io/v1 17200 15
networking.k8s.io/v1beta1 17200 9
policy/v1 17100 15
rbac.authorization.k8s.io/v1 17000 15
storage.k8s.io/v1 16800 15
storage.k8s.io/v1beta1 16800 9
apiextensions.k8s.io/v1 16700 15
admissionregistration.k8s.io/v1 16700 15
admissionregistration.k8s.io/v1beta1 16700 12
scheduling.k8s.io/v1 16600 15
coordination.k8s.io/v1 16500 15
coordination.k8s.io/v1beta1 16500 13
node.k8s.io/v1 16300 15
discovery.k8s.io/v1 16200 15
resource.k8s.io/v1 16200 21
resource.k8s.io/v1beta2 16200 15
resource.k8s.io/v1beta1 16200 9
flowcontrol.apiserver.k8s.io/v1 16100 21
`;

/** The priorities of a group and a version; undefined for what has no APIService of its own. */
export function groupPriority(group: string, version: string): readonly [number, number] | undefined {
  const wanted = group === "" ? version : `${group}/${version}`;
  for (const line of PRIORITIES.trim().split("\n")) {
    const [name, first, second] = line.split(" ");
    if (name === wanted) return [Number(first), Number(second)];
  }
  return undefined;
}
