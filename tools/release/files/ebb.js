#!/usr/bin/env node
// Starts the ebb of this platform, which a package of its own has, and passes signals and its exit status on.
"use strict";
const { spawn } = require("node:child_process");

const name = `@ebbflow/ebb-${process.platform}-${process.arch}`;
let program;
try {
	program = require.resolve(`${name}/ebb${process.platform === "win32" ? ".exe" : ""}`);
} catch {
	console.error(`ebb: ${name} is not installed. Install without --omit=optional; or there is none for this platform.`);
	process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
	process.on(signal, () => child.kill(signal));
}
child.on("error", (err) => {
	console.error(`ebb: ${err.message}`);
	process.exit(1);
});
child.on("exit", (status, signal) => {
	if (signal) {
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	}
	process.exitCode = status;
});
