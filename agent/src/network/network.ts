import type { Engine, NetworkAddress, Result } from "../engine/engine.ts";
import { fail, succeed } from "../engine/engine.ts";
import type { PortRange } from "../instances/ports.ts";
import type { RunProgram } from "../base/programs.ts";
import { installRules, removeRules } from "./firewall.ts";
import type { Relay } from "./relay.ts";
import { networkNames, readResolvers } from "./rules.ts";

export type Network = {
  /** The name of the network that containers join, with its rules in place; null is the engine's own. */
  provide(): Promise<Result<string | null>>;
  /** Looks again in the background; until that is done the last look counts. */
  refresh(): Promise<void>;
  /** The address at which containers reach the server through this host; undefined without a network or a relay. */
  relayUrl(): string | undefined;
  /** Stops carrying requests of containers; network and rules stay. */
  close(): Promise<void>;
  /** Removes network and rules; only when no container is left. */
  remove(): Promise<void>;
};

/** The network of engines whose containers have none. */
export const noNetwork: Network = {
  provide: () => Promise.resolve(succeed(null)),
  refresh: () => Promise.resolve(),
  relayUrl: () => undefined,
  close: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

/**
 * One network for all containers of this host, on which they do not see each other, with rules that keep them from the
 * host and its local networks. Made at the first need; many who need it at once share one look.
 */
export function createNetwork(input: {
  readonly engine: Pick<Engine, "provideNetwork" | "removeNetwork">;
  readonly run: RunProgram;
  readonly hostKey: string;
  readonly portRange: PortRange;
  /** The text of the host's `resolv.conf`. */
  readonly readResolvConf: () => string;
  /** Opens the relay. When it cannot be opened, containers do without it, and the next look tries again. */
  readonly openRelay?: (place: NetworkAddress) => Promise<Relay | undefined>;
}): Network {
  const names = networkNames(input.hostKey);
  let looking: Promise<Result<string | null>> | undefined;
  let newest: Promise<unknown> | undefined;
  const relay = createRelayPlace(input.openRelay);
  let isClosed = false;

  /** Looks run one after the other: two that find no network would both make it. */
  function lookInTurn(): Promise<Result<string | null>> {
    const turn = (newest ?? Promise.resolve()).then(look);
    newest = turn;
    return turn;
  }

  async function look(): Promise<Result<string | null>> {
    const made = await input.engine.provideNetwork({ name: names.network, bridge: names.bridge });
    if (!made.ok) return fail(made.failure.kind, `the network of this host cannot be made: ${made.failure.message}`);
    if (made.value && !isClosed) await relay.provideAt(made.value);
    const resolvers = readResolvers(input.readResolvConf());
    const rules = { names, portRange: input.portRange, resolvers, relay: relay.current() };
    const installed = await installRules(input.run, rules);
    return installed.ok ? succeed(names.network) : installed;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await newest;
    await relay.close();
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
      if (isClosed) return;
      const last = looking;
      const fresh = lookInTurn();
      const result = await fresh;
      // A look that began later has newer facts.
      if (looking === last) looking = result.ok ? fresh : undefined;
    },
    relayUrl: () => relay.current()?.url,
    close,
    async remove() {
      await close();
      await input.engine.removeNetwork(names.network);
      await removeRules(input.run, names);
    },
  };
}

/** Keeps one relay where the host is on the network. A network that was made again may have another address. */
function createRelayPlace(open: ((place: NetworkAddress) => Promise<Relay | undefined>) | undefined) {
  let relay: Relay | undefined;
  const close = async (): Promise<void> => {
    const last = relay;
    relay = undefined;
    await last?.close();
  };
  return {
    current: () => relay,
    close,
    async provideAt(place: NetworkAddress): Promise<void> {
      if (relay?.address === place.gateway) return;
      await close();
      relay = await open?.(place);
    },
  };
}
