#!/usr/bin/env node
import { main } from "../src/cli.js";

const status = await main(process.argv.slice(2));
// When everything is written; a connection that a client keeps open must not keep the process.
process.stdout.write("", () => process.exit(status));
