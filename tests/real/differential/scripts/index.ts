import type { Script } from "../script.ts";
import { serverSideApply } from "./apply.ts";
import { namespacesScript, reviews, secretsScript, smallKinds } from "./built-ins.ts";
import { configMaps } from "./config-maps.ts";
import { customResources } from "./custom-resources.ts";
import { definitions } from "./definitions.ts";
import { discovery } from "./discovery.ts";
import { fieldValidation } from "./field-validation.ts";
import { lists } from "./lists.ts";
import { patches } from "./patches.ts";
import { paths } from "./paths.ts";
import { watches } from "./watches.ts";

/** Every script, each independent of the others. */
export const scripts: readonly Script[] = [
  discovery,
  configMaps,
  patches,
  serverSideApply,
  fieldValidation,
  lists,
  watches,
  paths,
  secretsScript,
  namespacesScript,
  smallKinds,
  reviews,
  definitions,
  customResources,
];
