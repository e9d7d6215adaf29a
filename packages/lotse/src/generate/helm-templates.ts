/** The templates of a chart. Whatever is decided here by a value is decided when the chart is installed. */

import type { CoordinationParts } from "./helm-coordination.ts";
import { METRICS_PARTS } from "./helm-metrics.ts";
import { NO_PARTS, webhookParts } from "./helm-webhooks.ts";

/** Text that Helm shall not read as its own. */
export function literal(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}

/** `_helpers.tpl`: names and labels. Helper names are shared with other charts, hence the chart's name in them. */
export function helpersTemplate(chart: string): string {
  return `{{- define "${chart}.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "${chart}.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "${chart}.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "${chart}.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "${chart}.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "${chart}.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "${chart}.selectorLabels" -}}
app.kubernetes.io/name: {{ include "${chart}.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "${chart}.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "${chart}.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Where rights are given: "cluster", "namespaces" (each is named in full), or "patterns" (any may match). */ -}}
{{- define "${chart}.scope" -}}
{{- $scope := ternary "cluster" "namespaces" (empty .Values.namespaces) }}
{{- range .Values.namespaces }}
{{- if not (regexMatch "^[a-z0-9-]+$" .) }}{{- $scope = "patterns" }}{{- end }}
{{- end }}
{{- $scope }}
{{- end }}
`;
}

/** The account. */
export function serviceAccountTemplate(chart: string): string {
  return `{{- if .Values.serviceAccount.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "${chart}.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
`;
}

/** Rules as YAML, each of them a list that stands at the margin; undefined: none. */
export interface RulesText {
  /** Of what has no namespace, or is needed everywhere. */
  readonly cluster: string | undefined;
  /** Of what is needed where the operator works. */
  readonly namespaced: string | undefined;
  /** Of what only patterns for namespaces need. */
  readonly patterns: string | undefined;
  /** Of what only an operator needs that writes its definitions. */
  readonly definitions: string | undefined;
  /** Of what only an operator needs that asks who reads its metrics. */
  readonly metrics: string | undefined;
  /** Of what an operator needs beside itself. */
  readonly own: readonly OwnRules[];
}

/** Rules of a role beside the operator, and when they are given. */
export interface OwnRules {
  /** As a template says it; undefined: always. */
  readonly condition: string | undefined;
  readonly namespace: string;
  readonly rules: string;
}

/** Roles and bindings: one for the cluster, or one for each namespace that is named. */
export function rbacTemplate(chart: string, rules: RulesText): string {
  const parts = [
    rules.cluster === undefined ? "" : indented(rules.cluster),
    rules.namespaced === undefined
      ? ""
      : `  {{- if ne $scope "namespaces" }}\n${indented(rules.namespaced)}  {{- end }}\n`,
    rules.patterns === undefined ? "" : `  {{- if eq $scope "patterns" }}\n${indented(rules.patterns)}  {{- end }}\n`,
    rules.definitions === undefined
      ? ""
      : `  {{- if .Values.installCrds }}\n${indented(rules.definitions)}  {{- end }}\n`,
    rules.metrics === undefined ? "" : `  {{- if .Values.metrics.auth }}\n${indented(rules.metrics)}  {{- end }}\n`,
  ];
  const cluster = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "${chart}.fullname" . }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
rules:
${parts.join("")}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "${chart}.fullname" . }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
${bindingEnd(chart, "ClusterRole")}`;
  const namespaced = `{{- if eq $scope "namespaces" }}
{{- range .Values.namespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "${chart}.fullname" $ }}
  namespace: {{ . }}
  labels:
    {{- include "${chart}.labels" $ | nindent 4 }}
rules:
${indented(rules.namespaced ?? "")}---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "${chart}.fullname" $ }}
  namespace: {{ . }}
  labels:
    {{- include "${chart}.labels" $ | nindent 4 }}
${bindingEnd(chart, "Role")}{{- end }}
{{- end }}
`;
  return [
    "{{- if .Values.rbac.create }}\n",
    `{{- $scope := include "${chart}.scope" . }}\n`,
    rules.cluster === undefined ? `{{- if ${clusterRoleHasRules(rules)} }}\n${cluster}{{- end }}\n` : cluster,
    rules.namespaced === undefined ? "" : namespaced,
    ...[...new Set(rules.own.map(({ namespace }) => namespace))].map((namespace) =>
      ownRole(
        chart,
        namespace,
        rules.own.filter((one) => one.namespace === namespace),
      ),
    ),
    "{{- end }}\n",
  ].join("");
}

/** A role of its own: the namespace of the release may be one that is served, and has that role already. */
function ownRole(chart: string, namespace: string, parts: readonly OwnRules[]): string {
  const metadata = `metadata:
  name: {{ include "${chart}.fullname" . }}-own
  namespace: ${namespace}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
`;
  const rules = parts.map(({ condition, rules }) =>
    condition === undefined ? indented(rules) : `  {{- if ${condition} }}\n${indented(rules)}  {{- end }}\n`,
  );
  const role = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
${metadata}rules:
${rules.join("")}---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
${metadata}${bindingEnd(chart, "Role", "-own")}`;
  const conditions = parts.map(({ condition }) => condition);
  if (conditions.includes(undefined)) return role;
  const any = conditions.length === 1 ? conditions[0] : `or ${conditions.map((one) => `(${one})`).join(" ")}`;
  return `{{- if ${any} }}\n${role}{{- end }}\n`;
}

/** When the ClusterRole has rules although none of them is there always. */
function clusterRoleHasRules({ definitions, metrics }: RulesText): string {
  const elsewhere = 'ne $scope "namespaces"';
  const others = [
    ...(definitions === undefined ? [] : [".Values.installCrds"]),
    ...(metrics === undefined ? [] : [".Values.metrics.auth"]),
  ];
  return others.length === 0 ? elsewhere : `or (${elsewhere}) ${others.join(" ")}`;
}

function bindingEnd(chart: string, role: "ClusterRole" | "Role", ending = ""): string {
  return `roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${role}
  name: {{ include "${chart}.fullname" $ }}${ending}
subjects:
  - kind: ServiceAccount
    name: {{ include "${chart}.serviceAccountName" $ }}
    namespace: {{ $.Release.Namespace }}
`;
}

function indented(yaml: string): string {
  return literal(yaml).replaceAll(/^(?=.)/gm, "  ");
}

/** The Deployment. `definitions`: whether the operator has some that it could install; `webhooks`: whether it is asked. */
export function deploymentTemplate(
  chart: string,
  definitions: boolean,
  webhooks: boolean,
  coordination: CoordinationParts,
): string {
  const hooks = webhooks ? webhookParts(chart) : NO_PARTS;
  const installs = `
            - name: LOTSE_RUN_INSTALL_CRDS
              value: {{ .Values.installCrds | quote }}`;
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "${chart}.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  strategy:${coordination.strategy}
  selector:
    matchLabels:
      {{- include "${chart}.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "${chart}.labels" . | nindent 8 }}
        {{- with .Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "${chart}.serviceAccountName" . }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      securityContext:
        {{- toYaml .Values.podSecurityContext | nindent 8 }}
      containers:
        - name: operator
          {{- if .Values.image.digest }}
          image: {{ printf "%s@%s" .Values.image.repository .Values.image.digest | quote }}
          {{- else }}
          image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
          {{- end }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          env:
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
            - name: POD_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace${coordination.env}
            - name: LOTSE_RUN_LIVENESS
              value: http://0.0.0.0:{{ .Values.port }}/healthz${METRICS_PARTS.env}
            {{- if .Values.explainPort }}
            - name: LOTSE_RUN_EXPLAIN
              value: http://127.0.0.1:{{ .Values.explainPort }}
            {{- end }}
            - name: LOTSE_RUN_LOG_FORMAT
              value: {{ .Values.logFormat }}${definitions ? installs : ""}${hooks.env}
            {{- if .Values.verbose }}
            - name: LOTSE_RUN_VERBOSE
              value: "true"
            {{- end }}
            {{- with .Values.namespaces }}
            - name: LOTSE_RUN_NAMESPACE
              value: {{ join "," . | quote }}
            {{- end }}
            {{- with .Values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - name: health
              containerPort: {{ .Values.port }}${METRICS_PARTS.port}${hooks.port}
          livenessProbe:
            httpGet:
              path: /healthz
              port: health
            {{- with .Values.livenessProbe }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          readinessProbe:
            httpGet:
              path: /readyz
              port: health
            {{- with .Values.readinessProbe }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
          securityContext:
            {{- toYaml .Values.securityContext | nindent 12 }}${hooks.mount}
      terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}${coordination.spread}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
`;
}

/** Lets clients in to health and metrics only, and to webhooks, unless the chart's user does without it. */
export function networkPolicyTemplate(chart: string, webhooks: boolean): string {
  const hooks = webhooks ? "\n        - port: {{ .Values.webhooks.port }}\n          protocol: TCP" : "";
  return `{{- if .Values.networkPolicy.create }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "${chart}.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "${chart}.selectorLabels" . | nindent 6 }}
  policyTypes:
    - Ingress
  ingress:
    - ports:
        - port: {{ .Values.port }}
          protocol: TCP${METRICS_PARTS.policy}${hooks}
{{- end }}
`;
}

/** What Helm says after an installation. `plurals` are the kinds that the operator brings. */
export function notesTemplate(chart: string, plurals: readonly string[]): string {
  const looks = plurals.map((plural) => `  kubectl get ${plural} --all-namespaces\n`).join("");
  return `{{ include "${chart}.fullname" . }} handles objects {{ if .Values.namespaces }}of {{ join ", " .Values.namespaces }}{{ else }}of all namespaces{{ end }}.

Look at it:
  kubectl logs -n {{ .Release.Namespace }} deployment/{{ include "${chart}.fullname" . }}
${looks}`;
}
