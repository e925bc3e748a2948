import { hostTokenList, type HostTokenListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Token = HostTokenListAnswer["tokens"][number];

const COLUMNS: readonly Column<Token>[] = [
  { title: "ID", cell: (token) => token.id },
  { title: "NAME", cell: (token) => token.name },
  { title: "CREATED", cell: (token) => dateText(token.created_at) },
  { title: "EXPIRES", cell: (token) => dateText(token.expires_at) },
  { title: "USED", cell: ({ used_at: at }) => (at === null ? "" : dateText(at)) },
  { title: "CREDENTIAL", cell: (token) => token.credential_id },
];

export async function listTokens(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await hostTokenList(connect(options));
  printAnswer(answer, options, ({ tokens }) => renderTable(tokens, COLUMNS, "There are no join tokens."));
}
