/** What a chart has besides for an operator of several processes. */
import { COORDINATION_VARIABLE, type Replication, SPREAD_OVER } from "./coordination.ts";

/** Parts of the Deployment, each with the line break before it. */
export interface CoordinationParts {
  readonly strategy: string;
  readonly env: string;
  readonly spread: string;
}

const RECREATE = `
    # Two at once would work on the same objects: the old one has to be gone before the new one starts.
    type: Recreate`;

const ROLLING = `
    # The next one is ready to take over before the last one goes.
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1`;

/** See {@link CoordinationParts}. */
export function coordinationParts(chart: string, { plan, declared }: Replication): CoordinationParts {
  const spread = spreadPart(chart);
  if (plan.type === "peering") return { strategy: RECREATE, env: "", spread };
  return {
    strategy: `
    {{- if eq .Values.coordination "alone" }}${RECREATE}
    {{- else }}${ROLLING}
    {{- end }}`,
    // What the operator says of itself is not said again: it may say more, the name of its Lease for instance.
    env: `
            {{- if ne .Values.coordination "${declared}" }}
            - name: ${COORDINATION_VARIABLE}
              value: {{ .Values.coordination }}
            {{- end }}`,
    spread,
  };
}

function spreadPart(chart: string): string {
  const constraints = SPREAD_OVER.map(
    (topologyKey) => `
        - maxSkew: 1
          topologyKey: ${topologyKey}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "${chart}.selectorLabels" . | nindent 14 }}
          matchLabelKeys:
            - pod-template-hash`,
  );
  return `
      {{- if .Values.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- toYaml .Values.topologySpreadConstraints | nindent 8 }}
      {{- else if gt (int .Values.replicas) 1 }}
      topologySpreadConstraints:${constraints.join("")}
      {{- end }}`;
}

/** Keeps whoever empties nodes from taking several pods at once; one that is not ready anyway may always go. */
export function disruptionBudgetTemplate(chart: string): string {
  return `{{- if gt (int .Values.replicas) 1 }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "${chart}.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "${chart}.selectorLabels" . | nindent 6 }}
  unhealthyPodEvictionPolicy: AlwaysAllow
{{- end }}
`;
}
