#!/usr/bin/env node
import module from "node:module";

// Before anything is loaded that an older version cannot even read.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Error: Node.js ${process.versions.node} is too old for Lotse\nWhy:   it needs 20.19 or newer\nDo:    install a newer one from https://nodejs.org, or with your version manager\n`,
  );
  process.exit(1);
}

// Newer versions of Node.js keep compiled code from one run to the next.
module.enableCompileCache?.();

const { launch } = await import("../dist/cli.js");
await launch();
