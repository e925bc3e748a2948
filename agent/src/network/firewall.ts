import { fail, succeed, type Result } from "../engine/engine.ts";
import type { RunProgram } from "../base/programs.ts";
import { ipv4Rules, ipv6Rules, type NetworkNames, type RuleInput } from "./rules.ts";

/** Options that make the tool wait for other users of the tables, Docker among them. */
const WAIT = ["-w", "10"] as const;
const TIMEOUT_MS = 30_000;

/** The first rule of each built-in chain that leads containers' packets to ours. Docker itself looks here first. */
function jumps(names: NetworkNames, forwardHook: string) {
  const { bridge, input, forward } = names;
  return [
    ["INPUT", "-i", bridge, "-j", input],
    [forwardHook, "-i", bridge, "-j", forward],
  ] as const;
}

/**
 * Puts the rules in place, also over a part of them. Fails closed: without rules the caller starts no container.
 */
export async function installRules(run: RunProgram, input: RuleInput): Promise<Result<void>> {
  const filled = await restore(run, "iptables-restore", ipv4Rules(input));
  if (!filled.ok) return filled;
  const v4 = await link(run, "iptables", jumps(input.names, "DOCKER-USER"));
  if (!v4.ok) return v4;
  // A kernel without IPv6 has no tables for it, and nothing to close either.
  if ((await run("ip6tables", [...WAIT, "-S", "INPUT"], TIMEOUT_MS)).code !== 0) return succeed(undefined);
  const closed = await restore(run, "ip6tables-restore", ipv6Rules(input.names));
  return closed.ok ? link(run, "ip6tables", jumps(input.names, "FORWARD")) : closed;
}

/** Removes all rules of this host; missing ones are no failure. */
export async function removeRules(run: RunProgram, names: NetworkNames): Promise<void> {
  for (const [program, forwardHook] of [
    ["iptables", "DOCKER-USER"],
    ["ip6tables", "FORWARD"],
  ] as const) {
    for (const jump of jumps(names, forwardHook)) await run(program, [...WAIT, "-D", ...jump], TIMEOUT_MS);
    for (const chain of [names.input, names.forward]) {
      await run(program, [...WAIT, "-F", chain], TIMEOUT_MS);
      await run(program, [...WAIT, "-X", chain], TIMEOUT_MS);
    }
  }
}

async function restore(run: RunProgram, program: string, rules: string): Promise<Result<void>> {
  const { code, output } = await run(program, [...WAIT, "--noflush"], TIMEOUT_MS, rules);
  return code === 0 ? succeed(undefined) : fail("refused", `the firewall could not be set: ${output.trim()}`);
}

async function link(
  run: RunProgram,
  program: string,
  wanted: readonly (readonly [string, ...string[]])[],
): Promise<Result<void>> {
  for (const [chain, ...rule] of wanted) {
    if ((await run(program, [...WAIT, "-C", chain, ...rule], TIMEOUT_MS)).code === 0) continue;
    const { code, output } = await run(program, [...WAIT, "-I", chain, "1", ...rule], TIMEOUT_MS);
    if (code !== 0) return fail("refused", `the firewall could not be set: ${output.trim()}`);
  }
  return succeed(undefined);
}
