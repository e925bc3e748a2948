import { adminAuditFacts } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";

const LINKS_PER_PAGE = 200;

/** Writes all links, one line of JSON each, which is also the format that `audit verify` and `audit --against` read. */
export async function exportFacts(options: ConnectionOptions & { readonly after?: number }): Promise<void> {
  const client = connect(options);
  for (let after = options.after ?? 0; ;) {
    const { links, public_key: publicKey } = await adminAuditFacts(client, { query: { after, limit: LINKS_PER_PAGE } });
    for (const link of links) process.stdout.write(`${JSON.stringify({ ...link, public_key: publicKey })}\n`);
    const last = links.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}
