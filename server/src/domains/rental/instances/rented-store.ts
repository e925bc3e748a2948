// How much of a machine is rented, as SQL for the store of hosts that counts presence.
import { sql } from "kysely";
import type { RentalsInSql } from "../../supply/hosts/for-instances.ts";
import { liveGrantCount } from "../../supply/market/for-instances.ts";

export const rentals: RentalsInSql = {
  rentedDeviceCount: ({ id, hostId }) =>
    liveGrantCount(
      id,
      (instanceId) =>
        sql`exists (select from instances where instances.id = ${instanceId} and instances.user_id <> ${hostId})`,
    ),
  isRented: ({ id, hostId }) =>
    sql`exists (
      select from instances
      where instances.machine_id = ${id} and instances.ended_at is null and instances.user_id <> ${hostId}
    )`,
};
