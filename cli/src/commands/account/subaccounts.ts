import { subaccountList, type SubaccountListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Subaccount = SubaccountListAnswer["users"][number];

const COLUMNS: readonly Column<Subaccount>[] = [
  { title: "ID", cell: (account) => account.id },
  { title: "USER", cell: (account) => account.username },
  { title: "EMAIL", cell: (account) => account.email },
  { title: "BALANCE", cell: (account) => dollars(account.balance) },
  { title: "CREDIT", cell: (account) => dollars(account.credit) },
];

export async function listSubaccounts(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await subaccountList(connect(options));
  printAnswer(answer, options, ({ users }) => renderTable(users, COLUMNS, "You have no subaccounts."));
}
