/**
 * Properties are tried with the same values in every run: what a change breaks is found by that change, and nobody's
 * change is stopped by something that was always there. `LOTSE_SEED=$RANDOM npm test` looks for more; what it finds
 * becomes an example of its property.
 */
import fc from "fast-check";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.LOTSE_SEED ?? 1) });
