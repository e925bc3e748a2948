import path from "node:path";
import type { ConsoleFiles } from "../../../server/src/http/console.ts";
import { run } from "../berth.ts";

const CONSOLE = path.join(import.meta.dirname, "../../../console");

/** The built console. One process builds it when its sources have changed; all others wait for that and use it. */
export async function builtConsole(): Promise<ConsoleFiles> {
  const build = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    path.join(CONSOLE, "build.ts"),
    "--if-changed",
  ];
  const { code, stdout, stderr } = await run("flock", [path.join(CONSOLE, "build.ts"), ...build]);
  if (code !== 0) throw new Error(`the console was not built:\n${stdout}${stderr}`);
  return { folder: path.join(CONSOLE, "dist"), isBuilding: () => false };
}
