/** The objects that a Postgres is made of. Pure: what they are follows from a name, a version and a spec. */
import { CronJob, type corev1, Job, Service, StatefulSet } from "lotse/client";
import type { PostgresSpec } from "./postgres.ts";

const PORT = 5432;
const DATA = "/var/lib/postgresql/data";
const IMAGE = "postgres";

export const passwordOf = (name: string) => `${name}-password`;

const labelsOf = (name: string) => ({ app: "postgres", database: name });

const passwordFrom = (name: string, variable: string): corev1.EnvVar => ({
  name: variable,
  valueFrom: { secretKeyRef: { name: passwordOf(name), key: "password" } },
});

/** The same name for everybody who wants to reach the database, whatever pod it is. */
export function serviceOf(name: string): Service {
  return Service.gen({ name, labels: labelsOf(name), ports: PORT });
}

export function databaseOf(name: string, version: string, { storage }: PostgresSpec): StatefulSet {
  const labels = labelsOf(name);
  const container: corev1.Container = {
    name: "postgres",
    image: `${IMAGE}:${version}`,
    ports: [{ containerPort: PORT }],
    env: [passwordFrom(name, "POSTGRES_PASSWORD"), { name: "PGDATA", value: `${DATA}/db` }],
    readinessProbe: { exec: { command: ["pg_isready", "--username=postgres"] }, periodSeconds: 5 },
    volumeMounts: [{ name: "data", mountPath: DATA }],
  };
  return new StatefulSet({
    metadata: { name, labels },
    spec: {
      serviceName: name,
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
        },
      ],
    },
  });
}

/** The version that a database runs, or is on its way to. */
export function versionOf({ spec }: StatefulSet): string | undefined {
  return spec.template.spec?.containers[0]?.image?.split(":")[1];
}

export function isRolledOut({ metadata, spec, status }: StatefulSet): boolean {
  const { replicas = 1 } = spec;
  return (
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === replicas &&
    status?.readyReplicas === replicas
  );
}

const backup = (database: string, version: string, { backup: { claim } }: PostgresSpec) => ({
  labels: { app: "postgres-backup", database },
  containerName: "backup",
  image: `${IMAGE}:${version}`,
  command: ["sh", "-c"],
  args: [`pg_dumpall --host=${database} --username=postgres --file="/backups/${database}-$(date +%Y%m%dT%H%M%S).sql"`],
  env: [passwordFrom(database, "PGPASSWORD")],
  volumes: [{ name: "backups", persistentVolumeClaim: { claimName: claim } }],
  volumeMounts: [{ name: "backups", mountPath: "/backups" }],
  // A backup that fails shall be seen, and not be tried until it is forgotten.
  backoffLimit: 0,
});

/** One backup, for a reason that is part of its name. */
export function backupOf(database: string, reason: string, version: string, spec: PostgresSpec): Job {
  const name = `${database}-${reason}`.replaceAll(".", "-");
  return Job.gen({ name, ...backup(database, version, spec) });
}

export function nightlyOf(database: string, version: string, spec: PostgresSpec): CronJob {
  const { schedule } = spec.backup;
  return CronJob.gen({
    name: `${database}-backup`,
    ...backup(database, version, spec),
    schedule,
    concurrencyPolicy: "Forbid",
  });
}

export function hasEnded(job: Job | undefined, how: "Complete" | "Failed"): boolean {
  return job?.status?.conditions?.some(({ type, status }) => type === how && status === "True") === true;
}
