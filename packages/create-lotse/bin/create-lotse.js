#!/usr/bin/env node
import { runCommand } from "../dist/index.js";

const { exitCode, stdout, stderr } = await runCommand(process.argv.slice(2), { folder: process.cwd() });
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
