#!/usr/bin/env node
import { CommanderError } from "commander";
import { createProgram } from "./program.ts";

// An empty variable is an absent one, as shells and compose files write it.
for (const [name, value] of Object.entries(process.env)) {
  if (name.startsWith("BERTH_") && value === "") delete process.env[name];
}

// A reader that closes early, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed its message. Help and version exit with 0, all other cases are mistakes of usage.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const { reportFailure } = await import("./report-failure.ts");
    process.exitCode = reportFailure(error);
  }
}
