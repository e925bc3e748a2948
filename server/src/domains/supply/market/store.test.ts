import assert from "node:assert/strict";
import { test } from "node:test";
import { aUser } from "../../../../../test/support/fixtures.ts";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import type { InstanceId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { systemClock } from "../../../base/clock.ts";
import { listMachines } from "../hosts/index.ts";
import { insertGpuGrants, releaseGpuGrants } from "./store.ts";

const EARLY = new Date("2026-01-01T00:00:00.000Z");
const LATE = new Date("2026-01-01T00:00:05.000Z");

test("the recorded times of one device's GPU grants never overlap, for any times that their transactions read", async (t) => {
  const { database, pool } = await testDatabase(t);
  const at = (now: Date) => ({ ...systemClock, now: () => now });
  const { machineId, deviceId, first, second } = await withTransaction(database, at(EARLY), async (tx) => {
    const host = await aUser(tx);
    const id = await aMachine(tx, host.id);
    const device = (await listMachines(tx.db, [id])).get(id)?.devices[0];
    assert.ok(device);
    const instances = [await anInstanceRow(tx, host.id, id), await anInstanceRow(tx, host.id, id)] as const;
    return { machineId: id, deviceId: device.id, first: instances[0], second: instances[1] };
  });
  const grant = (instanceId: InstanceId, now: Date) =>
    withTransaction(database, at(now), (tx) =>
      insertGpuGrants(tx, [
        { deviceId, machineId, instanceId, generation: 1, isBid: false, priceNanosPerDeviceHour: 1n },
      ]),
    );
  await grant(first, LATE);
  await withTransaction(database, at(EARLY), (tx) => releaseGpuGrants(tx, [first]));
  await grant(second, EARLY);
  const { rows } = await pool.query("select granted_at, released_at from leases order by id");
  assert.deepEqual(rows, [
    { granted_at: LATE, released_at: LATE },
    { granted_at: LATE, released_at: null },
  ]);
});
