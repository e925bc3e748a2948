import type { Engine, Result } from "../engine.ts";
import { fail, succeed } from "../engine.ts";
import type { PortRange } from "../ports.ts";
import type { RunProgram } from "../programs.ts";
import { installRules, removeRules } from "./firewall.ts";
import { networkNames, readResolvers } from "./rules.ts";

export type Network = {
  /** The name of the network that containers join, with its rules in place; null is the engine's own. */
  provide(): Promise<Result<string | null>>;
  /** Looks again, beside whatever goes on; until that is done the last look counts. */
  refresh(): Promise<void>;
  /** Removes network and rules; only when no container is left. */
  remove(): Promise<void>;
};

/** For engines whose containers have no network. */
export const noNetwork: Network = {
  provide: () => Promise.resolve(succeed(null)),
  refresh: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

/**
 * One network for all containers of this host, on which they do not see each other, with rules that keep them from the
 * host and its local networks. Made at the first need; many who need it at once share one look.
 */
export function createNetwork(input: {
  readonly engine: Pick<Engine, "provideNetwork" | "removeNetwork">;
  readonly run: RunProgram;
  readonly host_key: string;
  readonly port_range: PortRange;
  /** The text of the host's `resolv.conf`. */
  readonly readResolvConf: () => string;
}): Network {
  const names = networkNames(input.host_key);
  let looking: Promise<Result<string | null>> | undefined;
  let newest: Promise<unknown> | undefined;
  let isRemoved = false;

  /** One look after the other: two that found nothing would both make it. */
  function lookInTurn(): Promise<Result<string | null>> {
    const turn = (newest ?? Promise.resolve()).then(look);
    newest = turn;
    return turn;
  }

  async function look(): Promise<Result<string | null>> {
    const made = await input.engine.provideNetwork({ name: names.network, bridge: names.bridge });
    if (!made.ok) return fail(made.failure.kind, `the network of this host cannot be made: ${made.failure.message}`);
    const rules = { names, port_range: input.port_range, resolvers: readResolvers(input.readResolvConf()) };
    const installed = await installRules(input.run, rules);
    return installed.ok ? succeed(names.network) : installed;
  }

  return {
    async provide() {
      looking ??= lookInTurn();
      const current = looking;
      const result = await current;
      if (!result.ok && looking === current) looking = undefined;
      return result;
    },
    async refresh() {
      if (isRemoved) return;
      const last = looking;
      const fresh = lookInTurn();
      const result = await fresh;
      // Somebody who looked meanwhile knows better.
      if (looking === last) looking = result.ok ? fresh : undefined;
    },
    async remove() {
      isRemoved = true;
      await newest;
      await input.engine.removeNetwork(names.network);
      await removeRules(input.run, names);
    },
  };
}
