import { writeFileSync } from "node:fs";
import { adminExportDocuments, adminListDocuments } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printJsonLine } from "../../output.ts";
import { allPages } from "../billing/pages.ts";

type Options = ConnectionOptions & { readonly month: string; readonly kind?: string; readonly output?: string };

/** Prints `{"results": […]}`, or writes a table for a spreadsheet and prints where it is. */
export async function listDocuments({ month, kind, output, ...options }: Options): Promise<void> {
  const client = connect(options);
  const filter = { month, ...given({ kind }) };
  if (output !== undefined) {
    writeFileSync(output, await adminExportDocuments(client, { query: filter }));
    return printJsonLine({ success: true, month, file: output });
  }
  printJsonLine(await allPages((page) => adminListDocuments(client, { query: { limit: 500, ...filter, ...page } })));
}
