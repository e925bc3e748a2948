import path from "node:path";
import { become } from "../../become.ts";

/** An agent allocates little at a time. */
const MEMORY_FLAGS = ["--max-semi-space-size=2"];

export function agentProgram(args: readonly string[]): readonly string[] {
  return [...MEMORY_FLAGS, path.resolve(import.meta.dirname, "../../../../agent/src/main.ts"), ...args];
}

/** Becomes the agent, with the arguments as they are. Does not return. */
export async function runAgent(args: readonly string[]): Promise<void> {
  await become(agentProgram(args), process.env);
}
