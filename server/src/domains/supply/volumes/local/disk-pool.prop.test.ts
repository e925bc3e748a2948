import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp } from "../../../../../../test/support/app.ts";
import { inTransaction } from "../../../../../../test/support/fixtures.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { listLocalSpace, listRentableSpace } from "./service.ts";

const GB = 1_000_000_000;
const DISK_GB = 60;

/** A request; sizes in GB, so that a few of them fill the disk. */
type Wish = {
  readonly kind: "instance" | "volume" | "instance with a new volume";
  readonly disk: number;
  readonly size: number;
  readonly who: number;
};
const aWish: fc.Arbitrary<Wish> = fc.record({
  kind: fc.constantFrom("instance", "volume", "instance with a new volume"),
  disk: fc.integer({ min: 8, max: 40 }),
  size: fc.integer({ min: 1, max: 50 }),
  who: fc.integer({ min: 0, max: 1 }),
});

test("instances and volumes together never have more than the disk, for any concurrent requests of two renters", async (t) => {
  const world = await testApp(t);
  const renters = [await world.caller(), await world.caller()];
  const wishes = fc.array(fc.array(aWish, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
  const check = async (rounds: readonly (readonly Wish[])[]) => {
    const host = await world.host({ gpus: 4, facts: { disk_bytes: DISK_GB * GB } });
    const { machineId } = host;
    const { rows } = await world.env.pool.query("select host_id from machines where id = $1", [machineId]);
    const owner = asId<UserId>(Number(rows[0].host_id));
    const [listed] = await inTransaction(world.env.database, (tx) =>
      listLocalSpace(tx, owner, { machine: machineId, size: DISK_GB }),
    );
    const listingId = listed?.offerId;
    for (const round of rounds) {
      const offers = [...(await world.offersOf(host)).values()];
      const answers = await Promise.all(
        round.map(({ kind, disk, size, who }, index) => {
          const secret = renters[who]?.secret ?? "";
          const volume = { id: listingId, size };
          if (kind === "volume") {
            return world.call({ method: "PUT", url: "/api/v0/volumes/", secret, body: volume });
          }
          const info = { volume_info: { create_new: true, volume_id: listingId, size, mount_path: "/data" } };
          const body = { image: "busybox", disk, ...(kind === "instance" ? {} : info) };
          return world.call({ method: "PUT", url: `/api/v0/asks/${offers[index % offers.length]}/`, secret, body });
        }),
      );
      for (const { status, text } of answers) assert.ok([200, 400, 404, 410].includes(status), text);
      const promised = await world.env.pool.query(
        `select coalesce((select sum(disk_bytes) from instances where machine_id = $1 and ended_at is null), 0)
          + coalesce((select sum(size_bytes) from volumes where machine_id = $1 and deleted_at is null), 0) as bytes`,
        [machineId],
      );
      const bytes = BigInt(promised.rows[0].bytes);
      assert.ok(bytes <= BigInt(DISK_GB * GB), `${bytes} bytes are promised`);
      // The machine's own offers show the rest.
      await world.settled();
      const shown = (await listRentableSpace(world.env.database.kysely, [machineId], world.clock.now())).get(machineId);
      assert.equal(BigInt(Math.round((shown?.sizeGb ?? 0) * GB)), BigInt(DISK_GB * GB) - bytes);
    }
  };
  await fc.assert(fc.asyncProperty(wishes, check), { numRuns: 12 });
});
