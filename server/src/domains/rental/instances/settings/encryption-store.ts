import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Sealer } from "../../../../base/seal.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { SealedLaunch } from "../../templates/index.ts";
import { openSettings, sealSettings } from "./encrypted-settings.ts";

/** Seals the settings of a few instances from before they were sealed; returns how many. Locked rows wait for the next run. */
export async function sealEarlierInstances(tx: Tx, sealer: Sealer, limit: number): Promise<number> {
  const { rows } = await sql<{ readonly id: InstanceId; readonly launch: SealedLaunch }>`
    select id, launch from instances where launch ? 'env' order by id limit ${limit} for no key update skip locked
  `.execute(tx.db);
  if (rows.length === 0) return 0;
  const sealed = rows.map((row) => JSON.stringify(sealSettings(openSettings(row, sealer), row.id, sealer)));
  await sql`
    update instances set launch = said.launch
    from unnest(${rows.map(({ id }) => id)}::integer[], ${sealed}::jsonb[]) as said (id, launch)
    where instances.id = said.id
  `.execute(tx.db);
  return rows.length;
}
