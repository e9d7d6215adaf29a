import { pod, role } from "./objects.ts";
import type { Row } from "./player.ts";

/** Takes its time to end, so that there is something to wait for. */
const slow = {
  ...pod("slow", {}),
  spec: {
    terminationGracePeriodSeconds: 5,
    containers: [{ name: "c", image: "program", command: ["sh", "-c", "trap '' TERM; while true; do sleep 1; done"] }],
  },
};

/** Commands that wait, and those about who may do what. */
export const waitsAndAccess: readonly Row[] = [
  [
    "wait",
    ["wait --for=condition=Ready pod/main --timeout=10s", /^pod\/main condition met$/m],
    ["wait --for=condition=Available deployment --all --timeout=40s", /deployment\.apps\/web condition met/],
    ["wait --for=jsonpath='{.spec.currency}'=EUR xr/euro --timeout=10s", /condition met/],
    ["wait --for=jsonpath='{.metadata.uid}' configmap/settings --timeout=10s", /condition met/],
    [
      "wait --for=condition=Never pod/main --timeout=1s",
      /timed out waiting for the condition on pods\/main/,
      { exit: 1 },
    ],
    ["wait --for=delete configmap/never-was --timeout=10s", /^$/],
    [
      "wait --for=delete configmap/settings --timeout=1s",
      /timed out waiting for the condition on configmaps\/settings/,
      { exit: 1 },
    ],
    ["wait --for=create configmap/settings --timeout=10s", /configmap\/settings condition met/],
    ["create -f -", /created/, { stdin: [slow] }],
    ["wait --for=condition=Ready pod/slow --timeout=40s", /met/],
    ["delete pod slow --wait=false", /deleted/],
    ["wait --for=delete pod/slow --timeout=40s", /pod\/slow condition met/],
  ],
  [
    "auth",
    ["auth can-i create deployments.apps", /^yes$/m],
    ["auth can-i get pods --subresource=log", /^yes$/m],
    ["auth can-i get /healthz", /^yes$/m],
    ["auth can-i create pods --as=jane", /^no$/m, { exit: 1 }],
    [
      "auth can-i --list",
      /Resources\s+Non-Resource URLs\s+Resource Names\s+Verbs\n[\s\S]*\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/,
    ],
    ["auth whoami", /ATTRIBUTE\s+VALUE\nUsername\s+\S+\n[\s\S]*system:masters/],
    [
      "auth reconcile -f -",
      /clusterrole\.rbac\.authorization\.k8s\.io\/reconciled reconciled/,
      { stdin: [role("reconciled")] },
    ],
    [
      "get pods --as=jane",
      /pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"/,
      { exit: 1 },
    ],
  ],
];
