import type { Flag, FlagTable } from "./flags.ts";

const used = (help: string, boolean = false): Flag => ({ use: "used", help, ...(boolean && { boolean }) });

const ignoring = (names: string, boolean = false): [string, Flag][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, { use: "ignored", ...(boolean && { boolean }) }]);

/** The flags of `etcd`. */
export const ETCD_FLAGS: FlagTable = {
  flags: new Map([
    ["data-dir", used("the folder that the data is kept in")],
    ["listen-client-urls", used("where to listen, http://127.0.0.1:2379 unless told")],
    ["unsafe-no-fsync", used("do not wait for the disk: data outlives the programs, but not the machine", true)],
    ...ignoring(`
      name advertise-client-urls listen-peer-urls initial-advertise-peer-urls initial-cluster initial-cluster-state
      initial-cluster-token listen-metrics-urls listen-client-http-urls wal-dir snapshot-count heartbeat-interval
      election-timeout quota-backend-bytes max-txn-ops max-request-bytes max-snapshots max-wals max-concurrent-streams
      auto-compaction-mode auto-compaction-retention log-level log-outputs logger log-format metrics cert-file key-file
      trusted-ca-file peer-cert-file peer-key-file peer-trusted-ca-file cipher-suites tls-min-version tls-max-version
      strategy discovery-srv enable-grpc-gateway cors host-whitelist auth-token bcrypt-cost auth-token-ttl config-file
      feature-gates backend-batch-interval backend-batch-limit backend-bbolt-freelist-type warning-apply-duration
      compaction-batch-limit compaction-sleep-interval downgrade-check-time watch-progress-notify-interval
    `),
    ...ignoring(
      `client-cert-auth auto-tls peer-auto-tls peer-client-cert-auth strict-reconfig-check pre-vote enable-pprof
      force-new-cluster enable-v2 log-rotation-config-json socket-reuse-port socket-reuse-address`,
      true,
    ),
  ]),
  ignoredPrefixes: ["experimental-", "grpc-", "discovery-", "distributed-tracing-", "peer-", "client-", "corrupt-"],
};

/** The flags of `kube-apiserver`. */
export const API_SERVER_FLAGS: FlagTable = {
  flags: new Map([
    ["etcd-servers", used("where the etcd of this folder listens")],
    ["secure-port", used("the port to listen on, 6443 unless told")],
    ["bind-address", used("the address to listen on, 127.0.0.1 unless told")],
    ["advertise-address", used("the address in the Endpoints of the Service kubernetes")],
    ["cert-dir", used("the folder of apiserver.crt and apiserver.key, which are made if they are not there")],
    ["tls-cert-file", used("the server's certificate, instead of the one in --cert-dir")],
    ["tls-private-key-file", used("the key of the server's certificate")],
    ["client-ca-file", used("whose certificates clients may use to say who they are")],
    ["token-auth-file", used("tokens of people: lines of token,user,uid,groups")],
    ["authorization-mode", used("RBAC, or AlwaysAllow, which is what counts unless told")],
    ["service-account-issuer", used("who signs the tokens of service accounts")],
    ["service-account-key-file", used("keys whose tokens of service accounts are good")],
    ["service-account-signing-key-file", used("the key that tokens of service accounts are signed with")],
    ["service-cluster-ip-range", used("the range of addresses for Services, 10.0.0.0/24 unless told")],
    ["enable-admission-plugins", used("plugins to switch on")],
    ["disable-admission-plugins", used("plugins to switch off")],
    ...ignoring(
      `aggregator-reject-forwarding-redirect allow-privileged anonymous-auth audit-log-compress authentication-skip-lookup
      authentication-tolerate-lookup-failure contention-profiling disable-http2-serving emulation-forward-compatible
      enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler
      enable-priority-and-fairness encryption-provider-config-automatic-reload log-json-split-stream
      log-text-split-stream permit-address-sharing permit-port-sharing profiling
      runtime-config-emulation-forward-compatible service-account-extend-token-expiration service-account-lookup
      shutdown-send-retry-after watch-cache logtostderr audit-log-truncate-enabled audit-webhook-truncate-enabled
      audit-log-batch-throttle-enable audit-webhook-batch-throttle-enable`,
      true,
    ),
    ...ignoring(`
      admission-control admission-control-config-file allow-metric-labels allow-metric-labels-manifest api-audiences
      apiserver-count authentication-config authentication-kubeconfig authentication-token-webhook-cache-ttl
      authentication-token-webhook-config-file authentication-token-webhook-version authorization-always-allow-paths
      authorization-config authorization-kubeconfig authorization-policy-file authorization-webhook-config-file
      authorization-webhook-version authorization-webhook-cache-authorized-ttl
      authorization-webhook-cache-unauthorized-ttl coordinated-leadership-lease-duration
      coordinated-leadership-renew-deadline coordinated-leadership-retry-period cors-allowed-origins debug-socket-path
      default-watch-cache-size delete-collection-workers disabled-metrics egress-selector-config-file emulated-version
      encryption-provider-config endpoint-reconciler-type etcd-cafile etcd-certfile etcd-compaction-interval
      etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix
      etcd-readycheck-timeout etcd-servers-overrides event-ttl external-hostname feature-gates goaway-chance
      http2-max-streams-per-connection kubeconfig kubelet-certificate-authority kubelet-client-certificate
      kubelet-client-key kubelet-port kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout
      kubernetes-service-node-port lease-reuse-duration-seconds livez-grace-period log-flush-frequency
      log-json-info-buffer-size log-text-info-buffer-size logging-format max-connection-bytes-per-sec
      max-mutating-requests-inflight max-requests-inflight min-compatibility-version min-request-timeout
      peer-advertise-ip peer-advertise-port peer-ca-file proxy-client-cert-file proxy-client-key-file request-timeout
      requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
      requestheader-group-headers requestheader-uid-headers requestheader-username-headers runtime-config
      service-account-jwks-uri service-account-max-token-expiration service-account-signing-endpoint
      service-node-port-range show-hidden-metrics-for-version shutdown-delay-duration
      shutdown-watch-termination-grace-period storage-backend storage-initialization-timeout storage-media-type
      strict-transport-security-directives target-ram-mb tls-cipher-suites tls-curve-preferences tls-min-version
      tls-sni-cert-key tracing-config-file v vmodule watch-cache-sizes
    `),
  ]),
  ignoredPrefixes: ["audit-", "oidc-"],
};

/** What the programs say of themselves. */
export const PROGRAMS = {
  etcd: { what: "keeps the data of Lotse's kube-apiserver beside it; nothing else can use it", table: ETCD_FLAGS },
  "kube-apiserver": { what: "Lotse's embedded Kubernetes API server, for tests", table: API_SERVER_FLAGS },
} as const;

/** A program of the folder. */
export type ProgramName = keyof typeof PROGRAMS;

/** What a program is told in place of its name when it shall only make ready for fast starts. */
export const PREPARE = "prepare";

/** The variable that has for the programs what NODE_EXTRA_CA_CERTS has for others: a file of authorities to be trusted. */
export const EXTRA_ROOTS = "LOTSE_EXTRA_CA_CERTS";

/** Admission plugins of a real server that this one has not; to switch them off changes nothing, to switch them on neither. */
export const OTHER_PLUGINS: ReadonlySet<string> = new Set([
  ...["AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning"],
  ...["CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultTolerationSeconds"],
  ...["DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook"],
  ...["LimitPodHardAntiAffinityTopology", "NamespaceAutoProvision", "NamespaceExists", "NodeDeclaredFeatureValidator"],
  ...["NodeRestriction", "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize"],
  ...["PodNodeSelector", "PodTolerationRestriction", "PodTopologyLabels"],
  "StorageObjectInUseProtection",
]);
