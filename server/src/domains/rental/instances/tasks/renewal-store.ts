import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { Instance } from "../instance.ts";

/** Has the container created again at its next start, from these settings if there are other ones. */
export async function renewContainer(
  tx: Tx,
  id: InstanceId,
  changed?: Pick<Instance, "launch" | "templateId" | "templateHashId">,
): Promise<void> {
  const columns = changed && {
    launch: JSON.stringify(changed.launch),
    template_id: changed.templateId ?? null,
    template_hash_id: changed.templateHashId ?? null,
  };
  await tx.db
    .updateTable("instances")
    .set((eb) => ({ ...columns, revision: eb("revision", "+", 1) }))
    .where("id", "=", id)
    .execute();
}
