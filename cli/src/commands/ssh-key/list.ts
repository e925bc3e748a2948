import { sshKeyList, type SshKeyListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { describePublicKey } from "./public-key.ts";

const COLUMNS: readonly Column<SshKeyListAnswer[number]>[] = [
  { title: "ID", cell: (key) => key.id },
  { title: "NAME", cell: (key) => describePublicKey(key.public_key).name },
  { title: "TYPE", cell: (key) => describePublicKey(key.public_key).type },
  { title: "FINGERPRINT", cell: (key) => describePublicKey(key.public_key).hash },
];

export async function listSshKeys(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await sshKeyList(connect(options));
  printAnswer(answer, options, (keys) =>
    renderTable(keys, COLUMNS, "You have no SSH key. Add one with: berth ssh-key create"),
  );
}
