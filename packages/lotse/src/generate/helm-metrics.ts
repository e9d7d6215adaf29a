/** What a chart has for metrics that are not for everybody. */

/** Parts of the Deployment and the NetworkPolicy, each with the line break before it. */
export const METRICS_PARTS = {
  env: `
            {{- if .Values.metrics.auth }}
            - name: LOTSE_RUN_METRICS_AUTH
              value: https://0.0.0.0:{{ .Values.metrics.port }}
            {{- end }}`,
  port: `
            {{- if .Values.metrics.auth }}
            - name: metrics
              containerPort: {{ .Values.metrics.port }}
            {{- end }}`,
  policy: `
        {{- if .Values.metrics.auth }}
        - port: {{ .Values.metrics.port }}
          protocol: TCP
        {{- end }}`,
} as const;

/** A role for those who read metrics; whoever installs the chart binds it. */
export function metricsReaderTemplate(chart: string): string {
  return `{{- if and .Values.metrics.auth .Values.rbac.create }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "${chart}.fullname" . }}-metrics-reader
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
rules:
  - nonResourceURLs:
      - /metrics
    verbs:
      - get
{{- end }}
`;
}
