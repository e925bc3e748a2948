import { adminUserCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printJsonLine } from "../../output.ts";

/** Prints `{"id", "email", "api_key", …}`; the key is shown this once. */
export async function createUser(
  email: string,
  options: ConnectionOptions & { readonly credit?: number },
): Promise<void> {
  const body = { email, ...given({ credit: options.credit }) };
  printJsonLine(await adminUserCreate(connect(options), { body }));
}
