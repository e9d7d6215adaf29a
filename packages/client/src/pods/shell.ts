/**
 * A command for the container's shell, for pipes and variables.
 *
 * @example
 * ```ts
 * await pod.exec(sh("ls /data | wc -l"));
 * ```
 */
export const sh = (script: string): readonly string[] => ["sh", "-c", script];
