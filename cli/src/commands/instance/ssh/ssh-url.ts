import { connect, type ConnectionOptions } from "../../../connect.ts";
import { UserError } from "../../../failure.ts";
import { findInstance } from "../../../find-instance.ts";
import { printAnswer } from "../../../output.ts";
import { sshAddressOf, sshUrl } from "../../../ssh-address.ts";

/** Prints where an instance is reached, for programs that take such an address. */
export async function printSshUrl(
  scheme: "ssh" | "scp",
  id: number | undefined,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const instance = await findInstance(connect(options), id);
  const address = sshAddressOf(instance);
  if (address === undefined) {
    throw new UserError(
      `Instance ${instance.id} has no SSH address.`,
      "It has one while it runs on a real host, in an ssh or jupyter runtype. See: berth show ID",
    );
  }
  printAnswer({ url: sshUrl(scheme, address) }, options, ({ url }) => url);
}
