import { startHarness } from "@lotse/testing";
import operator from "./operator.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));
