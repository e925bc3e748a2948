import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { assertLines } from "../../../../../test/support/money/charges.ts";
import { DAY_MS, HOUR_MS, listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import { listMachine, ofMachine } from "../../../../../test/support/hosts/hosting.ts";
import { changeBid, destroy, rentAndRun } from "../../../../../test/support/rentals.ts";

const LOOPS = [
  "settle-runs",
  "switch-prices",
  "return-deposits",
  "delete-ended-contracts",
  "drop-price-increases",
  "end-contracts",
  "roll-listings",
  "keep-default-jobs",
];

test("loops of two servers and requests of hosts and renters at once neither fail nor lose money", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller({ dollars: 0 });
  const renters = [await world.caller({ dollars: 5_000 }), await world.caller({ dollars: 5_000 })];
  const hosts = await Promise.all([1, 2, 3].map(() => listedHost(world, { days: 20 }, { owner, gpus: 4 })));
  const rented: { readonly id: number; readonly renter: (typeof renters)[number]; readonly isBid: boolean }[] = [];
  for (const host of hosts) {
    for (const renter of renters) {
      rented.push({ id: await rentAndRun(world, renter, host), renter, isBid: false });
      rented.push({ id: await rentAndRun(world, renter, host, { price: 0.5 }), renter, isBid: true });
    }
  }
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all(hosts.map((host) => pass(world, host, 2 * DAY_MS + HOUR_MS)));
    const work = [
      ...[...LOOPS, ...LOOPS].map((name) => world.runLoop(name)),
      ...hosts.flatMap((host, index) => [
        listMachine(world, owner, host.machineId, { price_gpu: 1 + (round % 2), duration: `${20 + round} days` }),
        ofMachine(world, owner, host, ["PUT", "minbid/", { price: 0.1 + 0.05 * ((round + index) % 3) }]),
        ofMachine(world, owner, host, ["PUT", "cleanup/", {}]),
      ]),
      world.call({
        method: "PUT",
        url: "/api/v0/machines/defrag_offers/",
        secret: owner.secret,
        body: { machine_ids: hosts.map((host) => host.machineId).toReversed() },
      }),
      ...rented.map(({ id, renter, isBid }, index) =>
        index === round
          ? destroy(world, renter, id)
          : isBid
            ? changeBid(world, renter, id, 0.5 + round / 100)
            : prepay(world, renter, id, 20 + round),
      ),
    ];
    for (const answer of await Promise.all(work)) {
      const { status, text } = answer as { status?: number; text?: string };
      assert.ok(status === undefined || status < 500, text);
    }
  }
  await Promise.all(hosts.map((host) => host.obey()));
  for (let count = 1; count <= 2; count += 1) for (const name of LOOPS) await world.runLoop(name);
  await world.assertBooks();
  await assertLines(world);
});
