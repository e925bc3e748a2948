import type { Caller } from "../../../../base/identity.ts";
import type { Hello } from "../../../../../../protocol/index.ts";
import { notFound } from "../../../../base/errors.ts";
import type { HostFlagId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../../../people/accounts/index.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { closeFlag, upsertFlag, type HostFlag, type NewFlag } from "./store.ts";
import type { Nonsense } from "./fact-sense.ts";
import { lockKnownMachines, nameOf } from "../join/registration-store.ts";
import type { Credential } from "../store.ts";

/**
 * Flags a host, and notifies it when the flag is new; an open flag of the same kind and machine is counted up instead.
 */
export async function flagHost(tx: Tx, flag: NewFlag): Promise<HostFlagId> {
  const { id, isNew } = await upsertFlag(tx, flag);
  if (!isNew) return id;
  const subject = flag.machineId === undefined ? "Your account" : `Machine ${flag.machineId}`;
  await postNotifications(tx, [
    {
      userId: flag.hostId,
      kind: "host:host_flagged",
      subject: `${subject} is flagged: ${flag.kind.replaceAll("_", " ")}`,
      message: `${flag.detail} An administrator will look at it. "berth host flags" shows the measurements of flag ${id}.`,
      key: `host:host_flagged:${id}`,
    },
  ]);
  return id;
}

/** Clears a flag as an administrator; throws `no_such_flag` when no open flag has this id. */
export async function clearHostFlag(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: { readonly id: HostFlagId | undefined; readonly reason: string },
): Promise<HostFlag> {
  const flag = id === undefined ? undefined : await closeFlag(tx, { id, clearedBy: identity.userId, reason });
  if (flag === undefined) throw notFound("no_such_flag", "There is no open flag of this id.");
  const args = { flag_id: flag.id, host_id: flag.hostId, kind: flag.kind, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.flag.clear", args });
  await postNotifications(tx, [
    {
      userId: flag.hostId,
      kind: "host:host_flagged",
      subject: `Flag ${flag.id} is cleared`,
      message: `An administrator cleared flag ${flag.id} (${flag.kind.replaceAll("_", " ")}): ${reason}`,
      key: `host:flag_cleared:${flag.id}`,
    },
  ]);
  return flag;
}

/** Flags the host whose agent declared impossible facts, at its machine if that is known. */
export async function flagSenseless(
  tx: Tx,
  credential: Credential,
  { hello, nonsense }: { readonly hello: Hello; readonly nonsense: Nonsense },
): Promise<void> {
  const arrival = { credential, hello };
  const known = (await lockKnownMachines(tx, [arrival])).get(nameOf(arrival));
  await flagHost(tx, {
    hostId: credential.userId,
    machineId: known?.id,
    kind: "senseless_facts",
    detail: `The agent ${hello.host_key} was refused: ${nonsense.sentence}`,
    facts: { field: nonsense.field, host_key: hello.host_key },
  });
}
