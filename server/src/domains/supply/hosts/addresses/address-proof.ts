import { isIP } from "node:net";
import { isPublicAddress, plainAddress } from "../../../../base/public-address.ts";
import { isSimulated, type Arrival } from "../join/registration-store.ts";

/** The address at which the server calls a host back, to prove that it is the host's own. */
export type AddressClaim = { readonly address: string; readonly port: number };

/** Lower ports belong to other services: no host can make the server call them. */
const PORT_MIN = 1024;

/**
 * The public address that a call must prove; undefined when the connection proves it already, or when the server must
 * not call it. `isPrivateAllowed`: the operator lets this server call addresses of its own network.
 */
export function claimOf({ credential, hello, address }: Arrival, isPrivateAllowed: boolean): AddressClaim | undefined {
  const { machine, address_port: port } = hello;
  const claimed = machine.public_ipaddr;
  // The address of the server's own agent is the one that the operator configured.
  if (credential.joiner === undefined || isSimulated(hello) || port === undefined || port < PORT_MIN) return undefined;
  if (isIP(claimed) === 0 || claimed === plainAddress(address ?? "")) return undefined;
  // Ports for renters are in this range: the server does not care what else listens on the machine.
  if (port < machine.direct_port_start || port > machine.direct_port_end) return undefined;
  return isPrivateAllowed || isPublicAddress(claimed) ? { address: claimed, port } : undefined;
}
