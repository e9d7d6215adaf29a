/**
 * A berth for a ship, in two versions. The first one had the ship's name and its length as two fields; later the ship
 * became an object with more in it. Both are served, objects are kept as v1, and nothing of either is lost.
 */
import { immutable, resource, rule } from "lotse";
import { z } from "zod";

const status = z.object({ pilot: z.string().optional() });

export const Berth = resource({
  group: "harbour.example.com",
  kind: "Berth",
  versions: {
    v1beta1: {
      spec: z.object({ ship: z.string().min(1).max(60), metres: z.int().min(1), quay: z.string().max(20).optional() }),
      status,
      deprecated: "harbour.example.com/v1beta1 Berth is deprecated; use v1, where the ship is an object",
      columns: [{ name: "Ship", type: "string", path: ".spec.ship" }],
    },
    v1: {
      storage: true,
      spec: z.object({
        ship: rule(
          z.object({
            name: immutable(z.string().min(1).max(60), "another ship needs another berth"),
            length: z.int().min(1).describe("In metres"),
            draught: z.number().min(0).optional().describe("How deep it lies in the water, in metres"),
          }),
          "!has(self.draught) || self.draught < double(self.length)",
          "no ship is deeper than it is long",
        ),
        quay: z.string().max(20).optional().describe("Where it lies; the harbour chooses one when this is not said"),
      }),
      status,
      columns: [
        { name: "Ship", type: "string", path: ".spec.ship.name" },
        { name: "Quay", type: "string", path: ".spec.quay" },
        { name: "Pilot", type: "string", path: ".status.pilot" },
      ],
    },
  },
  convert: {
    v1beta1: {
      // A draught has no place in v1beta1: Lotse keeps it in an annotation, and puts it back on the way home.
      to: ({ spec: { ship, metres, ...rest } }) => ({ spec: { ...rest, ship: { name: ship, length: metres } } }),
      from: ({ spec: { ship, ...rest } }) => ({ spec: { ...rest, ship: ship.name, metres: ship.length } }),
    },
  },
});
