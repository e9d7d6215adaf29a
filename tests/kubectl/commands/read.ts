import { configMap, deployment, rate } from "./objects.ts";
import type { Row } from "./player.ts";

/** Commands that read. What they need beside the suite's own objects they make themselves. */
export const reads: readonly Row[] = [
  [
    "version",
    ["version", /Client Version: v1\.[\s\S]*Server Version: v1\.36\./],
    ["version -o json", /"serverVersion"/],
  ],
  ["api-versions", ["api-versions", /^apps\/v1$[\s\S]*^rates\.example\.com\/v1$[\s\S]*^v1$/m]],
  [
    "api-resources",
    ["api-resources", /^exchangerates\s+xr\s+rates\.example\.com\/v1\s+true\s+ExchangeRate$/m],
    [
      "api-resources --api-group=apps --namespaced --verbs=list,get -o name --sort-by=name",
      /^daemonsets\.apps\ndeployments\.apps$/m,
    ],
    [
      "api-resources --categories=all -o wide",
      /^exchangerates .*\bdelete,deletecollection,get,list,patch,create,update,watch\b/m,
    ],
  ],
  [
    "get",
    ["get configmaps", /^NAME\s+DATA\s+AGE\n(.*\n)*settings\s+2\s+\d+s/],
    ["get xr", /^NAME\s+CURRENCY\neuro\s+EUR$/m],
    ["get deployments,svc web", /deployment\.apps\/web\s+2\/2\s+2\s+2\s[\s\S]*service\/web\s+ClusterIP\s+10\./],
    ["get configmap/settings xr/euro", /configmap\/settings[\s\S]*exchangerate\.rates\.example\.com\/euro/],
    ["get nothing", /the server doesn't have a resource type "nothing"/, { exit: 1 }],
    ["get configmap nowhere", /Error from server \(NotFound\): configmaps "nowhere" not found/, { exit: 1 }],
    ["get configmap nowhere --ignore-not-found", /^$/],
    ["get secrets -n nowhere", /No resources found in nowhere namespace\./],
  ],
  [
    "get -o wide",
    ["get pods -o wide", /NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\s+IP\s+NODE\s+NOMINATED NODE\s+READINESS GATES\n/],
    ["get xr -o wide", /^NAME\s+CURRENCY\s+NOTE\neuro\s+EUR\s+common$/m],
    ["get nodes -o wide", /NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION\s+INTERNAL-IP\s+.*CONTAINER-RUNTIME\n.*\bReady\b/],
  ],
  [
    "get -o …",
    ["get configmap settings -o yaml", /^apiVersion: v1\ndata:\n {2}colour: blue\n {2}size: "3"\nkind: ConfigMap\n/],
    ["get configmap settings -o json", /"uid": "[0-9a-f-]{36}"/],
    ["get configmap settings -o jsonpath={.data.colour}", /^blue$/],
    ["get configmap settings -o go-template={{.data.size}}", /^3$/],
    ["get xr -o custom-columns=N:.metadata.name,C:.spec.currency", /^N\s+C\neuro\s+EUR$/m],
    ["get xr euro -o name", /^exchangerate\.rates\.example\.com\/euro\n$/],
    [
      "get configmap settings -o yaml --show-managed-fields",
      /managedFields:\n[\s\S]*manager: kubectl-client-side-apply/,
    ],
    ["get configmaps,xr -o yaml", /^apiVersion: v1\nitems:\n[\s\S]*kind: ExchangeRate[\s\S]*kind: List\n/],
  ],
  [
    "get --sort-by",
    ["create -f -", /created/, { stdin: [configMap("sort-a", { rank: "2" }, { sort: "yes" })] }],
    ["create -f -", /created/, { stdin: [configMap("sort-b", { rank: "1" }, { sort: "yes" })] }],
    ["get configmaps -l sort=yes --sort-by={.data.rank}", /^NAME\s+DATA\s+AGE\nsort-b[\s\S]*\nsort-a/],
    ["get configmaps --sort-by=.metadata.creationTimestamp", /^NAME\s+DATA\s+AGE\n/],
  ],
  [
    "get --watch",
    ["create configmap watched --from-literal=a=1", /created/],
    [
      "get configmap watched --watch --output-watch-events --show-labels",
      /EVENT\s+NAME\s+DATA\s+AGE\s+LABELS\nADDED\s+watched\s+1\s+\S+\s+\S+\nMODIFIED\s+watched\s+1\s+\S+\s+n=\d+\n/,
      { endless: true, meanwhile: "label configmap watched --overwrite n={n}" },
    ],
    [
      "get configmaps --watch-only",
      /^NAME\s+DATA\s+AGE\nwatched\s+1\s/,
      { endless: true, meanwhile: "label configmap watched --overwrite n=o{n}" },
    ],
    [
      "get configmap watched --watch -o json",
      /"n": "j\d+"[\s\S]*"resourceVersion"[\s\S]*"n": "j\d+"[\s\S]*"resourceVersion"/,
      { endless: true, meanwhile: "label configmap watched --overwrite n=j{n}" },
    ],
    ["get xr --watch --output-watch-events", /ADDED\s+euro\s+EUR\n/, { endless: true }],
  ],
  [
    "get by selectors",
    [
      "get pods -A -l app=main --field-selector status.phase=Running",
      /^NAMESPACE\s+NAME\s+READY.*\ndefault\s+main\s+1\/1\s+Running/,
    ],
    ["get pods -l 'app!=main,app in (web,x)' -o name", /pod\/web-\S+\npod\/web-/],
    ["get pods -L app --show-labels", /STATUS\s+RESTARTS\s+AGE\s+APP\s+LABELS\nmain\s.*\smain\s+app=main/],
    ["get configmaps --field-selector metadata.name=settings -o name", /^configmap\/settings\n$/],
    [
      "get configmaps --field-selector data.colour=blue",
      /"data\.colour" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
      { exit: 1 },
    ],
  ],
  [
    "get, in chunks",
    ["get configmaps -A --chunk-size=1", /settings[\s\S]*kube-root-ca\.crt|kube-root-ca\.crt[\s\S]*settings/],
  ],
  [
    "get all",
    [
      "get all",
      /pod\/main[\s\S]*service\/kubernetes[\s\S]*deployment\.apps\/web[\s\S]*replicaset\.apps\/web-[\s\S]*exchangerate\.rates\.example\.com\/euro/,
    ],
  ],
  [
    "get --subresource",
    ["get deployment web --subresource=scale -o jsonpath={.kind}/{.spec.replicas}", /^Scale\/2$/],
    ["get deployment web --subresource=status -o jsonpath={.status.availableReplicas}", /^2$/],
  ],
  [
    "get --raw",
    ["get --raw /readyz", /^ok$/],
    ["get --raw /version", /"gitVersion": ?"v1\.36\./],
    ["get --raw /api/v1/namespaces/default/configmaps/settings", /"colour":"blue"/],
    ["get --raw /apis/rates.example.com/v1/nothing", /NotFound/, { exit: 1 }],
  ],
  [
    "explain",
    [
      "explain exchangerate.spec.currency",
      /GROUP:\s+rates\.example\.com\nKIND:\s+ExchangeRate\nVERSION:\s+v1\n[\s\S]*ISO 4217 code/,
    ],
    ["explain pods", /KIND:\s+Pod\nVERSION:\s+v1\n[\s\S]*spec\t<PodSpec>/],
    [
      "explain deployment.spec.strategy --recursive",
      /rollingUpdate\t<RollingUpdateDeployment>\n\s+maxSurge\t<IntOrString>/,
    ],
    ["explain cronjob --api-version=batch/v1", /GROUP:\s+batch\nKIND:\s+CronJob/],
    ["explain pod.spec.nothing", /field "nothing" does not exist/, { exit: 1 }],
  ],
  [
    "describe",
    ["describe pod main", /Name:\s+main\n[\s\S]*Conditions:\n[\s\S]*Ready\s+True[\s\S]*Events:\n[\s\S]*Started/],
    [
      "describe deployment web",
      /Replicas:\s+2 desired \| 2 updated \| 2 total \| 2 available[\s\S]*NewReplicaSet:\s+web-\w+ \(2\/2 replicas created\)[\s\S]*ScalingReplicaSet/,
    ],
    ["describe service web", /Selector:\s+app=web[\s\S]*Endpoints:\s+\S+:80/],
    ["describe xr euro", /Kind:\s+ExchangeRate[\s\S]*Currency:\s+EUR[\s\S]*Events:\s+<none>/],
    ["describe node {node}", /Roles:[\s\S]*Non-terminated Pods:[\s\S]*default\s+main\s/],
    ["describe namespace default", /Status:\s+Active/],
    ["describe configmaps settings", /colour:\n----\nblue/],
    ["describe sa default", /Name:\s+default/],
    ["describe crd exchangerates.rates.example.com", /Kind:\s+ExchangeRate\n/],
  ],
  [
    "events",
    ["events", /LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE\n[\s\S]*Pod\/main/],
    ["events --for pod/main", /Started\s+Pod\/main\s/],
    ["events --for deployment/web -o json", /"reason": "ScalingReplicaSet"/],
    ["events --types=Warning -A", /LAST SEEN|No events found/],
    ["events --watch", /Normal\s+Started\s+Pod\/main/, { endless: true }],
    ["get events --field-selector involvedObject.name=main,reason=Started", /Started\s+pod\/main/],
  ],
  [
    "logs",
    ["logs main", /^one\ntwo\nthree\nlistening\n/],
    ["logs main -c c --tail=1", /^[^\n]*\n$/],
    ["logs main --timestamps --limit-bytes=20", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.$/],
    ["logs main --since=1h", /one\n/],
    ["logs main --follow", /one\ntwo\nthree\n/, { endless: true }],
    ["logs -l app=main --prefix", /^\[pod\/main\/c\] /m],
    ["logs deployment/web", /^(Found 2 pods, using pod\/web-\S+\n)?$/],
    ["logs main --previous", /previous terminated container "c" in pod "main" not found/, { exit: 1 }],
    ["logs nobody", /pods "nobody" not found/, { exit: 1 }],
    ["logs main -c other", /container other is not valid for pod main/, { exit: 1 }],
  ],
  [
    "top",
    ["top pods", /Metrics API not available/, { exit: 1 }],
    ["top nodes", /Metrics API not available/, { exit: 1 }],
  ],
  [
    "cluster-info",
    ["cluster-info", /Kubernetes control plane.* is running at .*https:\/\/127\.0\.0\.1:/],
    ["cluster-info dump --namespaces=default --output-directory={folder}/dump", /Cluster info dumped to /],
  ],
  [
    "rollout history",
    ["apply -f -", /created/, { stdin: [deployment("history", 1)] }],
    ["rollout status deployment/history --timeout=30s", /successfully rolled out/],
    ["annotate deployment/history kubernetes.io/change-cause=first", /annotated/],
    ["rollout history deployment/history", /REVISION\s+CHANGE-CAUSE\n1\s+/],
    [
      "rollout history deployment/history --revision=1",
      /deployment\.apps\/history with revision #1\nPod Template:[\s\S]*Image:\s+app:1/,
    ],
    ["delete deployment history", /deleted/],
  ],
  [
    "diff",
    ["diff -f -", /^$/, { stdin: [configMap("settings", { colour: "blue", size: "3" })] }],
    [
      "diff -f -",
      /^-.*colour: blue\n\+.*colour: red$/m,
      { stdin: [configMap("settings", { colour: "red", size: "3" })], exit: 1 },
    ],
    ["diff -f -", /^\+kind: ConfigMap$/m, { stdin: [configMap("never-there", { a: "1" })], exit: 1 }],
    ["diff -f -", /^\+.*note: rare$/m, { stdin: [rate("euro", { currency: "EUR", note: "rare" })], exit: 1 }],
    [
      "diff --server-side --force-conflicts -f -",
      /^\+.*colour: red$/m,
      { stdin: [configMap("settings", { colour: "red" })], exit: 1 },
    ],
  ],
];
