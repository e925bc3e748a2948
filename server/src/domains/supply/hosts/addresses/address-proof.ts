import { isIP } from "node:net";
import { isPublicAddress, plainAddress } from "../../../../base/public-address.ts";
import { isSimulated, type Arrival } from "../join/registration-store.ts";

/** Where the server calls a host back, to see that the public address it names is its own. */
export type AddressClaim = { readonly address: string; readonly port: number };

/** Ports below are those of other services: no host can make the server knock at them. */
const PORT_MIN = 1024;

/**
 * The public address that a call back has to prove; undefined when the connection proves it already, or when the server
 * calls nothing there. `isPrivateAllowed`: the operator lets this server call addresses of its own network.
 */
export function claimOf({ credential, hello, address }: Arrival, isPrivateAllowed: boolean): AddressClaim | undefined {
  const { machine, address_port: port } = hello;
  const claimed = machine.public_ipaddr;
  // The server's own agent has the address that the operator gave it.
  if (credential.joiner === undefined || isSimulated(hello) || port === undefined || port < PORT_MIN) return undefined;
  if (isIP(claimed) === 0 || claimed === plainAddress(address ?? "")) return undefined;
  // Doors for renters are in this range: what else listens on the machine is none of its business.
  if (port < machine.direct_port_start || port > machine.direct_port_end) return undefined;
  return isPrivateAllowed || isPublicAddress(claimed) ? { address: claimed, port } : undefined;
}
