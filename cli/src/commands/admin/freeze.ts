import { adminFreezeAccount, adminFreezes, adminLiftFreeze } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

type Reasoned = ConnectionOptions & { readonly reason: string };

export async function listFreezes({ all, ...options }: ConnectionOptions & { readonly all?: true }): Promise<void> {
  printJsonLine(await adminFreezes(connect(options), { query: all === true ? { all: "true" } : {} }));
}

export async function freeze(user: string, { reason, ...options }: Reasoned): Promise<void> {
  printJsonLine(await adminFreezeAccount(connect(options), { body: { user, reason } }));
}

export async function unfreeze(id: number, { reason, ...options }: Reasoned): Promise<void> {
  printJsonLine(await adminLiftFreeze(connect(options), { id, body: { reason } }));
}
