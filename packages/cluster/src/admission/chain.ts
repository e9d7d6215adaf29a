import type { Admission, AdmissionAttributes, ApiObject } from "../registry/index.ts";

/** One thing that looks at writes before they happen. Both halves are optional; the first may change the object. */
export interface AdmissionPlugin {
  readonly mutate?: (attributes: AdmissionAttributes) => ApiObject | undefined | Promise<ApiObject | undefined>;
  readonly validate?: (attributes: AdmissionAttributes) => void | Promise<void>;
}

/** Runs plugins in order: all that may change the object, and later all that only look at it. */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes) {
      let { object } = attributes;
      for (const plugin of plugins) {
        if (plugin.mutate) object = (await plugin.mutate({ ...attributes, object })) ?? object;
      }
      return object;
    },
    async validate(attributes) {
      for (const plugin of plugins) await plugin.validate?.(attributes);
    },
  };
}
