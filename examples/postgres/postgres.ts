/** What a Postgres is. */
import { resource } from "lotse";
import { z } from "zod";

export const Postgres = resource({
  group: "databases.example.com",
  version: "v1",
  kind: "Postgres",
  plural: "postgreses",
  shortNames: ["pg"],
  spec: z.object({
    /** As the image is tagged: `16.4`. */
    version: z.string().regex(/^\d+\.\d+$/),
    storage: z.string().default("1Gi"),
    backup: z.object({
      /** The PersistentVolumeClaim that backups are written to. */
      claim: z.string().min(1),
      schedule: z.string().min(1).default("0 3 * * *"),
    }),
    /** `Backup`: nothing is deleted before a last backup was made. `Discard`: it goes as it is. */
    deletionPolicy: z.enum(["Backup", "Discard"]).default("Backup"),
  }),
  status: z.object({
    /** The version that runs, which is not the one in the spec while an upgrade is under way. */
    version: z.string().optional(),
  }),
  columns: [
    { name: "Wanted", type: "string", path: ".spec.version" },
    { name: "Runs", type: "string", path: ".status.version" },
    { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", path: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
});

export type PostgresSpec = typeof Postgres.Spec;
