import { instanceListSshKeys } from "../../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../../output.ts";
import { describePublicKey } from "../../ssh-key/public-key.ts";

type Key = { readonly id: number; readonly name: string; readonly public_key: string };

const COLUMNS: readonly Column<Key>[] = [
  { title: "ID", cell: (key) => key.id },
  { title: "NAME", cell: (key) => key.name },
  { title: "TYPE", cell: (key) => describePublicKey(key.public_key).type },
  { title: "FINGERPRINT", cell: (key) => describePublicKey(key.public_key).hash },
];

export async function showSshKeys(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await instanceListSshKeys(connect(options), { id });
  // The API answers this list as a JSON text.
  const keys: readonly Key[] = JSON.parse(answer.ssh_keys);
  const emptyText = `No SSH key opens instance ${id}. Add one with: berth attach-ssh ${id} <key>`;
  printAnswer(keys, options, (rows) => renderTable(rows, COLUMNS, emptyText));
}
