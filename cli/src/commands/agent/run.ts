import path from "node:path";
import { become } from "../../become.ts";
import { requireCheckout } from "../../rooms.ts";

/** An agent allocates little at a time, and compiles little; one arena of memory is enough for it. */
const MEMORY_FLAGS = ["--max-semi-space-size=1", "--v8-pool-size=1"];
const MEMORY_ENVIRONMENT = { MALLOC_ARENA_MAX: "1" };

export function agentProgram(args: readonly string[]): readonly string[] {
  return [...MEMORY_FLAGS, path.join(requireCheckout(), "agent/src/main.ts"), ...args];
}

/** Becomes the agent, with the arguments as they are. Does not return. */
export async function runAgent(args: readonly string[]): Promise<void> {
  await become(agentProgram(args), { ...MEMORY_ENVIRONMENT, ...process.env });
}
