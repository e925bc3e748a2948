import { adminKeyCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printJsonLine } from "../../output.ts";

type Options = ConnectionOptions & { readonly permissions?: object; readonly name?: string };

/** Prints `{"id", "email", "api_key", …}`; the key is shown this once. Without permissions it may do all that its user may. */
export async function createKey(email: string, options: Options): Promise<void> {
  const { permissions, name } = options;
  const body = { email, ...given({ permissions, name }) };
  printJsonLine(await adminKeyCreate(connect(options), { body }));
}
