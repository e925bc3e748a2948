import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { EncryptedLaunch } from "../../templates/index.ts";
import { decryptSettings, encryptSettings } from "./encrypted-settings.ts";

/**
 * Encrypts the settings of a few instances that older versions stored in clear; returns their number. Locked rows wait
 * for the next run.
 */
export async function encryptEarlierInstances(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows } = await sql<{ readonly id: InstanceId; readonly launch: EncryptedLaunch }>`
    select id, launch from instances where launch ? 'env' order by id limit ${limit} for no key update skip locked
  `.execute(tx.db);
  if (rows.length === 0) return 0;
  const encrypted = rows.map((row) =>
    JSON.stringify(encryptSettings(decryptSettings(row, encryption), row.id, encryption)),
  );
  await sql`
    update instances set launch = said.launch
    from unnest(${rows.map(({ id }) => id)}::integer[], ${encrypted}::jsonb[]) as said (id, launch)
    where instances.id = said.id
  `.execute(tx.db);
  return rows.length;
}
