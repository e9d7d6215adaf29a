import { describe, expect, expectTypeOf, it } from "vitest";
import { type appsv1, type BuiltinKind, builtinKinds, type corev1, type metav1 } from "./index.ts";

const kindOf = (group: string, version: string, plural: string): BuiltinKind | undefined =>
  builtinKinds.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);

/** plural(short names; categories; subresources), as a server of Kubernetes lists them. */
const expected: Record<string, string> = {
  v1: `bindings componentstatuses(cs) configmaps(cm) endpoints(ep) events(ev) limitranges(limits)
    namespaces(ns;;finalize,status) nodes(no;;proxy,status) persistentvolumeclaims(pvc;;status)
    persistentvolumes(pv;;status)
    pods(po;all;attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status)
    podtemplates replicationcontrollers(rc;all;scale,status) resourcequotas(quota;;status) secrets
    serviceaccounts(sa;;token) services(svc;all;proxy,status)`,
  "apps/v1": `controllerrevisions daemonsets(ds;all;status) deployments(deploy;all;scale,status)
    replicasets(rs;all;scale,status) statefulsets(sts;all;scale,status)`,
  "batch/v1": "cronjobs(cj;all;status) jobs(;all;status)",
  "autoscaling/v2": "horizontalpodautoscalers(hpa;all;status)",
  "autoscaling/v1": "horizontalpodautoscalers(hpa;all;status)",
  "policy/v1": "poddisruptionbudgets(pdb;;status)",
  "networking.k8s.io/v1":
    "ingresses(ing;;status) ingressclasses networkpolicies(netpol) ipaddresses(ip) servicecidrs(;;status)",
  "discovery.k8s.io/v1": "endpointslices",
  "events.k8s.io/v1": "events(ev)",
  "coordination.k8s.io/v1": "leases",
  "rbac.authorization.k8s.io/v1": "roles rolebindings clusterroles clusterrolebindings",
  "authentication.k8s.io/v1": "selfsubjectreviews tokenreviews",
  "authorization.k8s.io/v1":
    "localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews",
  "apiextensions.k8s.io/v1": "customresourcedefinitions(crd,crds;api-extensions;status)",
  "admissionregistration.k8s.io/v1": `mutatingwebhookconfigurations(;api-extensions)
    validatingwebhookconfigurations(;api-extensions) validatingadmissionpolicies(;api-extensions;status)
    validatingadmissionpolicybindings(;api-extensions)`,
  "apiregistration.k8s.io/v1": "apiservices(;api-extensions;status)",
  "storage.k8s.io/v1": `storageclasses(sc) volumeattachments(;;status) csidrivers csinodes csistoragecapacities
    volumeattributesclasses(vac)`,
  "scheduling.k8s.io/v1": "priorityclasses(pc)",
  "node.k8s.io/v1": "runtimeclasses",
  "certificates.k8s.io/v1": "certificatesigningrequests(csr;;approval,status)",
  "flowcontrol.apiserver.k8s.io/v1": "flowschemas(;;status) prioritylevelconfigurations(;;status)",
  "resource.k8s.io/v1": "deviceclasses resourceclaims(;;status) resourceclaimtemplates resourceslices",
};

const rows = Object.entries(expected).flatMap(([apiVersion, text]) =>
  text.split(/\s+/).map((row) => {
    const [plural = "", details = ""] = row.replace(")", "").split("(");
    const [shortNames = "", categories = "", subresources = ""] = details.split(";");
    const list = (names: string) => names.split(",").filter((name) => name !== "");
    const slash = apiVersion.indexOf("/");
    const group = slash < 0 ? "" : apiVersion.slice(0, slash);
    return {
      group,
      version: apiVersion.slice(slash + 1),
      plural,
      shortNames: list(shortNames),
      categories: list(categories),
      subresources: list(subresources),
    };
  }),
);

describe("the table of built-in kinds", () => {
  it.each(rows)("has $plural of $group/$version with its names and subresources", (row) => {
    const kind = kindOf(row.group, row.version, row.plural);
    expect(kind).toMatchObject({ shortNames: row.shortNames, categories: row.categories });
    expect(kind?.subresources.map((sub) => sub.name)).toEqual(row.subresources);
  });

  it("has stable versions only", () => {
    expect(builtinKinds.filter((kind) => !/^v\d+$/.test(kind.version))).toEqual([]);
  });

  it("names no kind and no collection twice", () => {
    const kinds = builtinKinds.map((kind) => `${kind.group}/${kind.version}/${kind.kind}`);
    const plurals = builtinKinds.map((kind) => `${kind.group}/${kind.version}/${kind.plural}`);
    expect(new Set(kinds).size).toBe(kinds.length);
    expect(new Set(plurals).size).toBe(plurals.length);
  });

  it("begins with the core group and prefers autoscaling/v2 to autoscaling/v1", () => {
    const groups = [...new Set(builtinKinds.map((kind) => kind.group))];
    expect(groups[0]).toBe("");
    expect(kindOf("autoscaling", "v2", "horizontalpodautoscalers")?.preferred).toBe(true);
    expect(kindOf("autoscaling", "v1", "horizontalpodautoscalers")?.preferred).toBe(false);
  });

  it("spells a whole row out", () => {
    expect(kindOf("", "v1", "namespaces")).toEqual({
      group: "",
      version: "v1",
      kind: "Namespace",
      plural: "namespaces",
      singular: "namespace",
      namespaced: false,
      shortNames: ["ns"],
      categories: [],
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      preferred: true,
      subresources: [
        { name: "finalize", group: "", version: "v1", kind: "Namespace", verbs: ["update"] },
        { name: "status", group: "", version: "v1", kind: "Namespace", verbs: ["get", "patch", "update"] },
      ],
    });
  });

  it("tells the kind of a subresource that speaks another one", () => {
    const pods = kindOf("", "v1", "pods")?.subresources;
    expect(pods?.find((sub) => sub.name === "eviction")).toEqual({
      name: "eviction",
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
    expect(pods?.find((sub) => sub.name === "exec")).toMatchObject({
      group: "",
      version: "v1",
      kind: "PodExecOptions",
    });
    expect(kindOf("apps", "v1", "deployments")?.subresources[0]).toMatchObject({
      name: "scale",
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
    });
  });

  it("lets reviews be created and nothing else", () => {
    expect(kindOf("authorization.k8s.io", "v1", "localsubjectaccessreviews")).toMatchObject({
      namespaced: true,
      verbs: ["create"],
    });
  });
});

describe("the types of built-in kinds", () => {
  it("know the fields of a pod", () => {
    type Container = NonNullable<corev1.Pod["spec"]>["containers"][0];
    expectTypeOf<Container["image"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Container["name"]>().toEqualTypeOf<string>();
    expectTypeOf<NonNullable<corev1.Pod["kind"]>>().toEqualTypeOf<"Pod">();
    expectTypeOf<NonNullable<corev1.Pod["apiVersion"]>>().toEqualTypeOf<"v1">();
    expectTypeOf<NonNullable<appsv1.Deployment["apiVersion"]>>().toEqualTypeOf<"apps/v1">();
    expectTypeOf<NonNullable<corev1.ConfigMap["data"]>>().toEqualTypeOf<Record<string, string>>();
  });

  it("translate the machinery's own types to what JSON holds", () => {
    expectTypeOf<metav1.IntOrString>().toEqualTypeOf<number | string>();
    expectTypeOf<metav1.Quantity>().toEqualTypeOf<string>();
    expectTypeOf<NonNullable<metav1.ObjectMeta["creationTimestamp"]>>().toEqualTypeOf<string>();
    expectTypeOf<NonNullable<corev1.ServiceSpec["type"]>>().toEqualTypeOf<
      "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort"
    >();
  });

  it("can be given where a body of any kind is wanted", () => {
    expectTypeOf<corev1.Pod>().toExtend<{ [key: string]: unknown }>();
  });

  it("refuse what the schema does not have", () => {
    // @ts-expect-error a container has no field "images"
    const container: corev1.Container = { name: "web", images: "nginx" };
    // @ts-expect-error kinds are literal
    const pod: corev1.Pod = { kind: "Service" };
    expect([container.name, pod.kind]).toEqual(["web", "Service"]);
  });
});
