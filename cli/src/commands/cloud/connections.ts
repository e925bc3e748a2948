import { readFileSync } from "node:fs";
import { cloudConnect, cloudDisconnect, cloudList, type CloudListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

const COLUMNS: readonly Column<CloudListAnswer[number]>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "NAME", cell: ({ user_given_name: name }) => name },
  { title: "KIND", cell: ({ cloud_type: kind }) => kind },
  { title: "PLACE", cell: ({ endpoint, region, namespace }) => endpoint ?? region ?? namespace ?? "" },
];

export async function listConnections(options: Options): Promise<void> {
  printAnswer(await cloudList(connect(options)), options, (rows) =>
    renderTable(rows, COLUMNS, "You have no cloud connection. Add one with: berth cloud add"),
  );
}

type AddOptions = Options & {
  readonly keyId: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly namespace?: string;
};

/** Stores a connection. The secret comes from standard input, where no other user of the computer can read it. */
export async function addConnection(
  { provider, name }: { readonly provider: "s3" | "b2" | "hf"; readonly name: string },
  { keyId, endpoint, region, namespace, ...options }: AddOptions,
): Promise<void> {
  if (process.stdin.isTTY) {
    throw new UserError("The secret of the key is missing.", "Pipe it in: berth cloud add … < file", 2);
  }
  const secret = readFileSync(0, "utf8").trim();
  const keys =
    provider === "b2" ? { key_id: keyId, application_key: secret } : { access_key: keyId, secret_access_key: secret };
  const more = Object.entries({ endpoint, region, namespace }).filter(([, value]) => value !== undefined);
  const body = { provider, user_given_name: name, ...keys, ...Object.fromEntries(more) };
  printAnswer(await cloudConnect(connect(options), { body }), options, ({ msg }) => msg);
}

export async function deleteConnection(id: number, options: Options): Promise<void> {
  const answer = await cloudDisconnect(connect(options), { body: { id } });
  printAnswer(answer, options, () => `Cloud connection ${id} is deleted with its keys.`);
}
