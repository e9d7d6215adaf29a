/**
 * What a chart has besides for an operator that the API server asks. Where the release will be is known only when it is
 * installed, and definitions in a chart are no templates: hence the operator itself says where it is reached, whoever makes
 * its certificate.
 */
import { CERTIFICATES_DIR } from "../admission/index.ts";
import { SERVICE_PORT } from "./webhooks.ts";

/** Parts of the Deployment, each with the line break before it. */
export interface WebhookParts {
  readonly env: string;
  readonly port: string;
  readonly mount: string;
}

/** For an operator that is not asked anything. */
export const NO_PARTS: WebhookParts = { env: "", port: "", mount: "" };

/** See {@link WebhookParts}. */
export function webhookParts(chart: string): WebhookParts {
  return {
    env: `
            - name: LOTSE_RUN_WEBHOOK_SERVICE
              value: {{ .Release.Namespace }}/{{ include "${chart}.webhooksName" . }}:${SERVICE_PORT}
            - name: LOTSE_RUN_WEBHOOK_PORT
              value: {{ .Values.webhooks.port | quote }}
            {{- if ne .Values.webhooks.certificates.mode "own" }}
            - name: LOTSE_RUN_CERTIFICATES
              value: ${CERTIFICATES_DIR}
            {{- end }}`,
    port: `
            - name: webhooks
              containerPort: {{ .Values.webhooks.port }}`,
    mount: `
          {{- if ne .Values.webhooks.certificates.mode "own" }}
          volumeMounts:
            - name: certificates
              mountPath: ${CERTIFICATES_DIR}
              readOnly: true
      volumes:
        - name: certificates
          secret:
            secretName: {{ include "${chart}.certificateSecret" . }}
          {{- end }}`,
  };
}

/** Names, for `_helpers.tpl`. */
export function webhookHelpers(chart: string): string {
  return `
{{- define "${chart}.webhooksName" -}}
{{- printf "%s-webhooks" (include "${chart}.fullname" . | trunc 54 | trimSuffix "-") }}
{{- end }}

{{- define "${chart}.certificateSecret" -}}
{{- if eq .Values.webhooks.certificates.mode "secret" }}
{{- required "webhooks.certificates.secretName names the Secret with the certificate" .Values.webhooks.certificates.secretName }}
{{- else }}
{{- include "${chart}.webhooksName" . }}
{{- end }}
{{- end }}
`;
}

function metadata(chart: string, name: string): string {
  return `metadata:
  name: ${name}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "${chart}.labels" . | nindent 4 }}
`;
}

/** The Service; also of a pod that is not ready, because it gets ready by listing objects that it may have to convert. */
export function serviceTemplate(chart: string): string {
  return `apiVersion: v1
kind: Service
${metadata(chart, `{{ include "${chart}.webhooksName" . }}`)}spec:
  publishNotReadyAddresses: true
  selector:
    {{- include "${chart}.selectorLabels" . | nindent 4 }}
  ports:
    - name: webhooks
      port: ${SERVICE_PORT}
      targetPort: webhooks
      protocol: TCP
`;
}

/** An authority and a certificate of it, made by cert-manager; the operator reads both from the Secret. */
export function certificatesTemplate(chart: string): string {
  const named = (ending: string) => `{{ include "${chart}.webhooksName" . }}${ending}`;
  const object = (kind: string, ending: string, spec: string) =>
    `---\napiVersion: cert-manager.io/v1\nkind: ${kind}\n${metadata(chart, named(ending))}spec:\n${spec}`;
  const key = "  privateKey:\n    algorithm: ECDSA\n    size: 256\n    rotationPolicy: Always\n";
  const issuer = (ending: string) =>
    `  issuerRef:\n    group: cert-manager.io\n    kind: Issuer\n    name: ${named(ending)}\n`;
  const dns = `${named("")}.{{ .Release.Namespace }}.svc`;
  return [
    '{{- if eq .Values.webhooks.certificates.mode "cert-manager" }}\n',
    object("Issuer", "-self-signed", "  selfSigned: {}\n"),
    object(
      "Certificate",
      "-authority",
      `  isCA: true\n  commonName: ${named("-ca")}\n  secretName: ${named("-authority")}\n  duration: 17520h\n${key}${issuer("-self-signed")}`,
    ),
    object("Issuer", "-authority", `  ca:\n    secretName: ${named("-authority")}\n`),
    object(
      "Certificate",
      "",
      `  secretName: ${named("")}\n  dnsNames:\n    - ${dns}\n    - ${dns}.cluster.local\n  duration: 2160h\n${key}  usages:\n    - digital signature\n    - server auth\n${issuer("-authority")}`,
    ),
    "{{- end }}\n",
  ].join("");
}
