#!/usr/bin/env node
import module from "node:module";

// Newer versions of Node.js keep compiled code from one run to the next.
module.enableCompileCache?.();

const { launch } = await import("../dist/cli.js");
await launch();
