/** The client, for scripts and handlers: `import { Pod } from "lotse/client"`. */
export * from "@lotse/client";
