/**
 * Databases that are looked after: each Postgres is a StatefulSet behind a Service, with a password that nobody has to
 * think of, a backup each night, one before each upgrade, and a last one before it goes.
 */
import { randomBytes } from "node:crypto";
import { Operator, PermanentError, TemporaryError } from "lotse";
import { AlreadyExistsError, CronJob, Job, Secret, Service, StatefulSet } from "lotse/client";
import { backupOf, databaseOf, hasEnded, isRolledOut, nightlyOf, passwordOf, serviceOf, versionOf } from "./parts.ts";
import { Postgres } from "./postgres.ts";

export { Postgres } from "./postgres.ts";

const operator = new Operator({ name: "postgres", crds: "install" });

/**
 * An edge: a password is made once in a database's life. It is written into the data when the database first starts, and
 * another one would lock everybody out; hence the Secret cannot be changed, and one that is there already counts.
 */
operator.on.create(Postgres, async function makePassword({ name, client, adopt, logger }) {
  const password = randomBytes(24).toString("base64url");
  const secret = Secret.gen({ name: passwordOf(name), immutable: true, stringData: { password } });
  try {
    await client.create(adopt(secret));
    logger.info("the password is made", { secret: secret.name });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    logger.info("there is a password already", { secret: secret.name });
  }
});

/**
 * A level: what shall be there follows from the spec, from the version that runs, and from how far the backup has got.
 * An upgrade has no state of its own, so it goes on wherever it was: a backup, then the new image, then the new version.
 */
operator.children(
  Postgres,
  { owns: [Service, StatefulSet, CronJob, Job] },
  async function parts({ name, spec, status, get, patch }) {
    const live = await get(StatefulSet, name);
    const runs = live && isRolledOut(live) ? versionOf(live) : status.version;
    if (runs !== undefined) patch.status.version = runs;

    const from = runs ?? spec.version;
    if (majorOf(from) !== majorOf(spec.version)) {
      throw new PermanentError(
        `${from} cannot become ${spec.version} in place: make a new Postgres, and restore a backup there`,
      );
    }
    const backup = from === spec.version ? undefined : backupOf(name, `before-${spec.version}`, from, spec);
    const isSafe = backup === undefined || hasEnded(await get(Job, backup.name), "Complete");
    const version = isSafe ? spec.version : from;
    return [serviceOf(name), backup, databaseOf(name, version, spec), nightlyOf(name, from, spec)];
  },
);

const majorOf = (version: string) => version.split(".")[0];

/**
 * An edge: somebody wants it gone. It stays until its last backup is made; if that fails it stays for good, and says so,
 * until somebody sees to it or sets `deletionPolicy: Discard`.
 */
operator.on.delete(
  Postgres,
  { when: ({ spec }) => spec.deletionPolicy === "Backup", onGiveUp: "keep" },
  async function lastBackup({ name, spec, status, step, client, adopt, logger }) {
    if (status.version === undefined) return; // It has never run: there is nothing to lose.
    const backup = backupOf(name, "last-backup", status.version, spec);
    await step("begin", async () => {
      await client.apply(adopt(backup));
      logger.info("the last backup is begun", { job: backup.name });
    });
    const job = await client.get(Job, backup.name);
    if (hasEnded(job, "Failed")) throw new PermanentError(`the last backup failed: kubectl logs job/${job.name}`);
    if (!hasEnded(job, "Complete")) throw new TemporaryError("the last backup is being made", { delay: "5s" });
    logger.info("the last backup is made", { job: job.name });
  },
);

export default operator;
