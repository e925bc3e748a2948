// Prices, sizes and traffic at their allowed maxima fit in all amounts, and larger ones are refused.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { giveCredit, NO_CEILINGS, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { assertLines, settleNow } from "../../../../../test/support/money/charges.ts";
import { prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import type { TestAnswer } from "../../../../../test/support/network/http.ts";
import { askFor } from "../../../../../test/support/rentals.ts";
import { audit } from "../audit/audit-service.ts";

const MINUTE_MS = 60_000;
const GPUS = 32;
/** The end of the year 9999. */
const LAST_S = 253_402_300_799;

/** An allowed value, or one beyond the limit; `most` itself is allowed. */
const upTo = (most: number) =>
  fc.oneof(
    fc.constantFrom(most, most, most, 0, most * 1.000001, most * 10, 1e300, Number.MAX_SAFE_INTEGER, -1),
    fc.double({ min: 0, max: most, noNaN: true }),
  );
const listing = fc.record({
  price_gpu: upTo(10_000),
  price_disk: upTo(1_000),
  price_inetu: upTo(1_000),
  price_inetd: upTo(1_000),
  vol_price: upTo(1_000),
  end_date: fc.constantFrom(LAST_S, LAST_S, LAST_S + 1, 1e300),
});
const wishes = fc.record({
  diskGb: upTo(1_000_000),
  volumeGb: upTo(1_000_000),
  networkGb: fc.oneof(upTo(999_000_000), upTo(1_000_000)),
});

/** A request with every field at its maximum, sent when the drawn request is refused. */
const MOST = { price_gpu: 10_000, price_disk: 1_000, price_inetu: 1_000, price_inetd: 1_000, vol_price: 1_000 };

const MOST_SPACE = { diskGb: 1_000_000, volumeGb: 1_000_000, networkGb: 999_000_000 };

type Market = {
  readonly world: TestApp;
  readonly host: FakeHost;
  readonly owner: TestCaller;
  readonly user: TestCaller;
  readonly diskId: number;
};

async function aMarket(t: TestContext): Promise<Market> {
  const world = await testApp(t, { ceilings: NO_CEILINGS });
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller({ dollars: 0 })];
  // The most that one user can be given; the ledger holds nine billion dollars in all.
  for (let count = 0; count < 8; count += 1) await giveCredit(world, user, 1_000_000_000);
  const facts = { disk_bytes: Number.MAX_SAFE_INTEGER, inet_up_mbps: 100_000, inet_down_mbps: 100_000 };
  const host = await world.host({ owner, gpus: GPUS, facts });
  const post = async (body: object) => {
    const answer = await world.call({ method: "POST", url: "/api/v0/network_disk/", secret: owner.secret, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const made = await post({ machines: [host.machineId], mount_point: "/mnt/nfs", size: 1_000_000_000 });
  return { world, host, owner, user, diskId: Number(made.disk_id) };
}

/** Asserts that a request succeeded, or was refused with the name of a field that it sent. */
function isDone(answer: TestAnswer, body: object): boolean {
  if (answer.status === 200) return true;
  assert.equal(answer.status, 400, answer.text);
  const field = String(answer.body.field);
  assert.ok(Object.hasOwn(body, field.split(".")[0] ?? ""), `${field} was not sent: ${answer.text}`);
  assert.ok(String(answer.body.msg).includes(field), `it does not name ${field}: ${answer.text}`);
  return false;
}

async function list({ world, host, owner }: Market, wanted: object): Promise<boolean> {
  const url = "/api/v0/machines/create_asks/";
  const body = { machine: host.machineId, min_chunk: 1, vol_size: 4_000_000, ...wanted };
  const answer = await world.call({ method: "PUT", url, secret: owner.secret, body });
  await world.settled();
  return isDone(answer, body);
}

/** Rents space on the machine, or on the network disk. */
async function rentSpace(market: Market, path: string, { offer, size }: { offer: number; size: number }) {
  const { world, user } = market;
  const body = { id: offer, size };
  return isDone(await world.call({ method: "PUT", url: `/api/v0/${path}/`, secret: user.secret, body }), body);
}

async function offerOfMachine({ world, host, user }: Market): Promise<number> {
  const url = "/api/v0/volumes/search/";
  const { body } = await world.call({ method: "POST", url, secret: user.secret, body: {} });
  return body.offers.find((one: { machine_id: number }) => one.machine_id === host.machineId)?.id;
}

async function offerOfDisk({ world, owner, diskId }: Market, price: number): Promise<number> {
  const url = "/api/v0/network_volume/";
  const body = { disk_id: diskId, size: 1_000_000_000, price_disk: price, end_date: LAST_S };
  const answer = await world.call({ method: "POST", url, secret: owner.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return Number(/listing (\d+)/.exec(String(answer.body.disk_id))?.[1]);
}

/** Prepays as much as the user has. */
async function prepayFor({ world, user }: Market, id: number): Promise<void> {
  const answer = await prepay(world, user, id, 1_000_000_000);
  const { rows } = await world.env.pool.query("select price_nanos_per_hour as price from instances where id = $1", [
    id,
  ]);
  // An instance that costs nothing cannot be prepaid: the refusal names the instance in the path.
  if (rows[0].price === 0n) assert.deepEqual([answer.status, answer.body.field], [400, "id"], answer.text);
  else isDone(answer, { amount: 1 });
}

/** Runs for more than a day at the highest traffic that any uplink is believed to carry, and settles it at once. */
async function liveADay({ world, host }: Market): Promise<void> {
  await host.obey();
  const beganMs = world.clock.monotonicMs();
  for (let hour = 0; hour < 26; hour += 1) {
    world.clock.jump(60 * MINUTE_MS);
    const ranMs = world.clock.monotonicMs() - beganMs;
    const counters = { running_ms: ranMs, received_bytes: ranMs * 12_500_000, sent_bytes: ranMs * 12_500_000 };
    await host.report(
      host.obedience().map((one) => ({ ...one, counters, status_msg: `hour ${hour}` })),
      { volumes: host.obedientVolumes() },
    );
  }
  await world.env.pool.query("update volumes set settle_at = $1 where settle_at > $1", [world.clock.now()]);
  await settleNow(world);
  await world.runLoop("settle-volumes");
}

async function assertReadable({ world, user }: Market): Promise<void> {
  for (const path of ["v0/users/current/", "v0/instances/", "v0/volumes/", "v0/charges/", "v0/invoices/"]) {
    const { status, text } = await world.call({ url: `/api/${path}`, secret: user.secret });
    assert.ok(status < 500, `${path}: ${text}`);
  }
  world.clock.jump(MINUTE_MS);
  for (const loop of ["add-up-charges", "watch-credit", "follow-arrears"]) await world.runLoop(loop);
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
  await assertLines(world);
  await world.assertBooks();
  assert.deepEqual(world.complaints, []);
}

test("any listing and any request is either refused with the name of a field, or charged for a day without overflow", async (t) => {
  await fc.assert(
    fc.asyncProperty(listing, wishes, async (wanted, { diskGb, volumeGb, networkGb }) => {
      const market = await aMarket(t);
      const { world, host, user } = market;
      if (!(await list(market, wanted))) assert.ok(await list(market, { ...MOST, end_date: LAST_S }));
      const price = wanted.vol_price >= 0 && wanted.vol_price <= 1_000 ? wanted.vol_price : 1_000;
      const [local, network] = [await offerOfMachine(market), await offerOfDisk(market, price)];
      await rentSpace(market, "volumes", { offer: local, size: volumeGb });
      // The most that any price may be.
      assert.ok(await rentSpace(market, "network_volumes", { offer: network, size: 1_000_000 }));
      await rentSpace(market, "network_volumes", { offer: network, size: networkGb });
      const body = { size: GPUS, disk: diskGb };
      const forecast = await askFor(world, user, host, { ...body, dry_run: true });
      const rented = await askFor(world, user, host, body);
      assert.equal(isDone(forecast, body), isDone(rented, body));
      if (rented.status === 200) await prepayFor(market, rented.body.new_contract);
      await liveADay(market);
      await assertReadable(market);
      await world.close();
    }),
    {
      numRuns: 5,
      endOnFailure: true,
      examples: [
        [{ ...MOST, end_date: LAST_S }, MOST_SPACE],
        [{ ...MOST, price_gpu: 1e-200, end_date: LAST_S }, MOST_SPACE],
      ],
    },
  );
});
