import { adminSearch, type AdminSearchAnswer } from "../../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../../output.ts";

const COLUMNS: readonly Column<AdminSearchAnswer["results"][number]>[] = [
  { title: "KIND", cell: ({ kind }) => kind },
  { title: "ID", cell: ({ id }) => id },
  { title: "WHAT", cell: ({ title }) => title },
  { title: "DETAIL", cell: ({ detail }) => detail },
  { title: "ACCOUNT", cell: (hit) => hit.user_id },
];

/** Everything that matches a text: people, machines, instances, volumes, documents and payouts. */
export async function searchAll(q: string, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await adminSearch(connect(options), { query: { q } });
  printAnswer(answer, options, ({ results, is_cut: isCut }) =>
    [
      renderTable(results, COLUMNS, "Nothing matches."),
      isCut
        ? "\nThere are more: ask for a longer text, or with `berth admin user list`, `machines` or `instances`."
        : "",
    ].join(""),
  );
}
