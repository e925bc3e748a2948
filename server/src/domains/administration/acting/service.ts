import { conflict, invalid } from "../../../base/errors.ts";
import type { Caller } from "../../../base/identity.ts";
import type { InstanceId, MachineId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { postNotifications } from "../../notifications/index.ts";
import { recordAudit } from "../../people/accounts/index.ts";
import { stopByOperator } from "../../rental/instances/for-administration.ts";
import { takeOffMarket, tellRentersToMove } from "../../supply/listings/for-administration.ts";

/** Stops an instance with its data kept, and tells its renter why. Throws `nothing_to_stop`. */
export async function stopForReason(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: { readonly id: InstanceId; readonly reason: string },
): Promise<void> {
  const userId = await stopByOperator(tx, id, identity.userId);
  if (userId === undefined) {
    throw conflict("nothing_to_stop", `Instance ${id} does not run and does not wait for GPUs, or there is none.`);
  }
  const args = { id, user_id: userId, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.instance.stop", args });
  await postNotifications(tx, [
    {
      userId,
      kind: "client:stopped_by_operator",
      subject: `Instance ${id} was stopped`,
      message: `An administrator stopped instance ${id}; its data is kept. Reason: ${reason}`,
      key: `stopped_by_operator:${id}:${tx.now.getTime()}`,
    },
  ]);
}

/** Takes a machine off the market, and tells its host why. Throws `no_such_machine`. */
export async function unlistForReason(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: { readonly id: MachineId; readonly reason: string },
): Promise<void> {
  await takeOffMarket(tx, id, reason);
  const args = { machine_id: id, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.machine.unlist", args });
}

/** Asks the renters on a machine to move until a time. Throws `no_such_machine`, and `invalid_args` for a past time. */
export async function askToMove(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, until, reason }: { readonly id: MachineId; readonly until: number; readonly reason: string },
): Promise<number> {
  const untilAt = new Date(until * 1000);
  if (untilAt <= tx.now) throw invalid("until", "until must be in the future");
  const count = await tellRentersToMove(tx, id, { untilAt, reason });
  const args = { machine_id: id, until, reason, renter_count: count };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.machine.ask_to_move", args });
  return count;
}
