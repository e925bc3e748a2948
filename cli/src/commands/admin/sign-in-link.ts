import { adminSignInLinkCreate } from "../../../../sdk/src/operations.ts";
import { addressesOf, connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Makes a link that signs the administrator, or another user, in once. */
export async function makeSignInLink(id: number | undefined, options: ConnectionOptions): Promise<void> {
  const body = id === undefined ? {} : { user_id: id };
  const { user_id, path, expires_at } = await adminSignInLinkCreate(connect(options), { body });
  const [address = ""] = addressesOf(options);
  printJsonLine({ user_id, url: `${address.replace(/\/+$/, "")}${path}`, expires_at });
}
