import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ConsoleFiles } from "../http/console.ts";

const CONSOLE = path.join(import.meta.dirname, "../../../console");
const BUILDER = path.join(CONSOLE, "build.ts");

export type ConsoleBuild = { readonly files: ConsoleFiles; stop(): Promise<void> };

/**
 * Builds the console in a process of its own, unless its sources are those of the last build; the server need not wait.
 * When the build fails the last one is served on.
 */
export function startConsoleBuild(say: (line: string) => void): ConsoleBuild {
  const folder = path.join(CONSOLE, "dist");
  // An image has the finished console, and neither its sources nor what builds them.
  if (!existsSync(BUILDER)) return { files: { folder, isBuilding: () => false }, stop: async () => {} };
  let isBuilding = true;
  const child = spawn(process.execPath, [BUILDER, "--if-changed"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production" },
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith("Building")) say(line);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", ({ message }) => {
      say(`The console could not be built: ${message}`);
      isBuilding = false;
      resolve();
    });
    child.once("close", (code, signal) => {
      isBuilding = false;
      if (code !== 0 && signal === null) say(`The console could not be built:\n${complaint.trim()}`);
      resolve();
    });
  });
  return {
    files: { folder, isBuilding: () => isBuilding },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
