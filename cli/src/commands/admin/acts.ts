import { rmSync, writeFileSync } from "node:fs";
import {
  adminInstanceStop,
  adminMachineAskToMove,
  adminMachineUnlist,
  adminUserDelete,
  adminUserExport,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Reasoned = ConnectionOptions & { readonly json?: boolean; readonly reason: string };

/** Writes what is known of an account to a file that nobody else on this computer reads. */
export async function exportUser(id: number, options: Reasoned & { readonly output: string }): Promise<void> {
  const { reason, output } = options;
  const answer = await adminUserExport(connect(options), { id, body: { reason } });
  // A file that is there may be open to others, and would stay so.
  rmSync(output, { force: true });
  writeFileSync(output, `${JSON.stringify(answer.data, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
  const { truncated } = answer;
  const counts = Object.entries(answer.data).map(([kind, rows]) => `${rows.length} ${wordsOf(kind)}`);
  const cut = truncated.length === 0 ? "" : `\nOnly the newest are in it of: ${truncated.map(wordsOf).join(", ")}.`;
  const told = { success: true, user_id: id, file: output, truncated };
  printAnswer(told, options, () => `${output} has ${counts.join(", ")}.${cut}`);
}

function wordsOf(kind: string): string {
  return kind.replaceAll("_", " ");
}

export async function deleteUser(id: number, options: Reasoned): Promise<void> {
  const answer = await adminUserDelete(connect(options), { id, body: { reason: options.reason } });
  printAnswer(answer, options, () => `Account ${id} is deleted. Documents, bookings and the audit log stay.`);
}

export async function stopInstance(id: number, options: Reasoned): Promise<void> {
  const answer = await adminInstanceStop(connect(options), { id, body: { reason: options.reason } });
  printAnswer(answer, options, () => `Instance ${id} stops; its data is kept, and its renter is told.`);
}

export async function unlistMachine(id: number, options: Reasoned): Promise<void> {
  const answer = await adminMachineUnlist(connect(options), { id, body: { reason: options.reason } });
  printAnswer(answer, options, () => `Machine ${id} is off the market; its host is told.`);
}

export async function askToMove(id: number, options: Reasoned & { readonly until: number }): Promise<void> {
  const { reason, until } = options;
  const answer = await adminMachineAskToMove(connect(options), { id, body: { reason, until } });
  printAnswer(answer, options, ({ renter_count: count }) => `${count} renters on machine ${id} are told.`);
}
