import { lookup } from "node:dns/promises";
import {
  hostOfRegistry,
  isInternetAddress,
  isPrivateRegistry,
  isRegistryAllowed,
  registryIn,
} from "../../../protocol/index.ts";

/** Why an image may not be pulled or pushed by its registry; undefined when it may. */
export type RefuseRegistry = (image: string) => Promise<string | undefined>;

export type RegistrySettings = {
  /** Registries in the host's own network that renters may use. */
  readonly allowed: readonly string[];
  /** All addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
};

const ADVICE = "this host allows no registry there (its host can with BERTH_AGENT_ALLOW_REGISTRIES)";

/**
 * Keeps renters' images out of the host and its network. Only the host can say what a name means there, so it looks each
 * time. The engine resolves the name again by itself, and follows what a registry answers: see ADR 0038.
 */
export function registryGate({ allowed, resolve }: RegistrySettings): RefuseRegistry {
  return async (image) => {
    const registry = registryIn(image);
    if (registry === undefined || isRegistryAllowed(registry, allowed)) return undefined;
    if (isPrivateRegistry(registry)) return `${registry} is in a private network, and ${ADVICE}`;
    const host = hostOfRegistry(registry);
    if (isInternetAddress(host)) return undefined;
    const addresses = await resolve(host).catch(() => []);
    if (addresses.length === 0) return `${registry} has no address that this host can find`;
    const isPublic = addresses.every(isInternetAddress);
    return isPublic ? undefined : `${registry} leads into a private network, and ${ADVICE}`;
  };
}

/** By the machine's own resolver and its hosts file, as the engine does. */
export async function resolveByHost(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

/** The gate of simulated hosts, which connect to no registry. */
export const noRegistries: RefuseRegistry = () => Promise.resolve(undefined);
