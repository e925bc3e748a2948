import { sshKeyCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { describePublicKey, readPublicKey } from "./public-key.ts";

export async function createSshKey(
  given: string | undefined,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await sshKeyCreate(connect(options), { body: { ssh_key: readPublicKey(given) } });
  printAnswer(answer, options, ({ key }) => {
    const { name, hash } = describePublicKey(key.public_key);
    return `SSH key ${key.id} (${name || hash}) opens every instance that you rent from now on.`;
  });
}
