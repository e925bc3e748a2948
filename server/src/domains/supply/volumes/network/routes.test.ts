import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { aCaller, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { makeFundedUser } from "../../../../../../test/support/money/ledger.ts";
import { aMachine } from "../../../../../../test/support/hosts/machines.ts";
import { testDatabase, type TestDatabase } from "../../../../../../test/support/database/postgres.ts";
import { aRequestKey, serveRoutes, type Served } from "../../../../../../test/support/network/serve.ts";
import { systemClock } from "../../../../base/clock.ts";
import { nanos } from "../../../../base/money.ts";
import { creditOf, postTransfers } from "../../../money/ledger/index.ts";
import { networkVolumeRoutes } from "../for-assembly.ts";

const PATHS = ["/api/v0/network_volume/", "/api/v0/network_volumes/"] as const;

let env: TestDatabase;
let served: Served;
let admin: TestCaller;
let host: TestCaller;
let renter: TestCaller;
let pauper: TestCaller;

before(async () => {
  env = await testDatabase();
  const { database } = env;
  admin = await aCaller(database, { isAdmin: true });
  host = await aCaller(database);
  renter = await aCaller(database);
  pauper = await aCaller(database);
  await giveCredit(renter);
  served = await serveRoutes(database, (scope) => networkVolumeRoutes(scope));
});
after(() => served.close());

async function giveCredit(caller: TestCaller): Promise<void> {
  const rich = await makeFundedUser(env.database, 1_000_000_000n);
  const transfer = {
    key: crypto.randomUUID(),
    debit: creditOf(rich),
    credit: creditOf(caller.id),
    amount: nanos(1_000_000_000n),
    code: "credit_transfer" as const,
    cause: {},
    description: "",
  };
  await inTransaction(env.database, (tx) => postTransfers(tx, [transfer]));
}

async function aDisk(size = 100, owner: TestCaller = host): Promise<number> {
  const body = { email: owner.email, size };
  const answer = await served.call("POST", "/api/v0/admin/disks/", { as: admin, body });
  assert.equal(answer.status, 200, answer.text);
  const { disk_id: diskId, ...stable } = answer.body;
  assert.deepEqual(stable, { user_id: owner.id, email: owner.email, size });
  return Number(diskId);
}

const list = (body: object, as: TestCaller = host, path: string = PATHS[0]) => served.call("POST", path, { as, body });
const soon = () => Math.floor(systemClock.now().getTime() / 1000) + 86_400;

/** Lists a disk and returns the listing's id, read from the text as a client would. */
async function aListing(body: object): Promise<number> {
  const answer = await list(body);
  assert.equal(answer.status, 200, answer.text);
  return Number(/listing (\d+)/.exec(String(answer.body["disk_id"]))?.[1]);
}

async function offer(id: number) {
  const body = { limit: 10_000 };
  const answer = await served.call("POST", "/api/v0/network_volumes/search/", { as: renter, body });
  assert.equal(answer.status, 200, answer.text);
  return (answer.body["offers"] as Record<string, unknown>[]).find((row) => row["id"] === id);
}

for (const path of PATHS) {
  test(`${path} creates a listing and names its id and size`, async () => {
    const diskId = await aDisk();
    const body = { disk_id: diskId, price_disk: 0.2, size: 50.5, credit_discount_max: 0.25, end_date: soon() };
    const answer = await list(body, host, path);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), ["success", "disk_id", "msg"]);
    const text = String(answer.body["disk_id"]);
    assert.match(text, /^Created network volume listing \d+: 50\.5 GB of network disk \d+\.$/);
    assert.equal(answer.body["msg"], text);
    const id = Number(/listing (\d+)/.exec(text)?.[1]);
    const row = await offer(id);
    assert.deepEqual(
      [row?.["disk_space"], row?.["storage_cost"], row?.["credit_discount_max"], row?.["end_date"], row?.["host_id"]],
      [50.5, 0.2, 0.25, body.end_date, host.id],
    );
  });

  test(`${path} without a slash is the same operation`, async () => {
    const answer = await list({ disk_id: await aDisk() }, host, path.slice(0, -1));
    assert.equal(answer.status, 200);
  });
}

test("a listing without further fields has the documented defaults", async () => {
  const id = await aListing({ disk_id: await aDisk(), size: null, price_disk: null });
  const row = await offer(id);
  assert.deepEqual([row?.["disk_space"], row?.["storage_cost"], row?.["credit_discount_max"]], [15, 0.15, 0.4]);
  const days = Number(row?.["duration"]) / 86_400;
  assert.ok(days > 29.9 && days <= 30);
});

test("listing a disk again updates its one listing and keeps absent fields", async () => {
  const diskId = await aDisk();
  const id = await aListing({ disk_id: diskId, size: 40, price_disk: 0.3, credit_discount_max: 0 });
  const answer = await list({ disk_id: diskId, size: 60 }, host, PATHS[1]);
  assert.match(String(answer.body["disk_id"]), new RegExp(`^Updated network volume listing ${id}: 60 GB`));
  const row = await offer(id);
  assert.deepEqual([row?.["disk_space"], row?.["storage_cost"], row?.["credit_discount_max"]], [60, 0.3, 0]);
});

test("two first listings of one disk at once make one listing", async () => {
  const diskId = await aDisk();
  const ids = await Promise.all([1, 2, 3, 4].map((size) => aListing({ disk_id: diskId, size })));
  assert.equal(new Set(ids).size, 1);
});

const INVALID_IDS = [undefined, null, "12", "abc", 0, -1, 1.5, 1e308, 2 ** 31, true, [1], {}];
for (const diskId of INVALID_IDS) {
  test(`disk_id ${JSON.stringify(diskId)} is an invalid disk id`, async () => {
    for (const path of PATHS) {
      const { status, body } = await list({ disk_id: diskId, size: "x" }, host, path);
      assert.deepEqual([status, body["error"], body["msg"]], [400, "invalid_args", "Invalid disk ID"]);
    }
  });
}

test("another user's disk and an absent one get the same 403", async () => {
  const foreign = await aDisk(100, renter);
  for (const diskId of [foreign, 2_000_000_000]) {
    const { status, body } = await list({ disk_id: diskId });
    const { request_id: _, ...stable } = body;
    assert.equal(status, 403);
    assert.deepEqual(stable, {
      success: false,
      error: "not_authorized",
      msg: "No network disk with that ID is associated with the user",
    });
  }
});

const REFUSED: readonly (readonly [string, unknown])[] = [
  ["size", 0],
  ["size", -5],
  ["size", 100.1],
  ["size", "15"],
  ["size", 1e308],
  ["price_disk", -0.01],
  ["price_disk", 1e308],
  ["price_disk", "0.15"],
  ["credit_discount_max", 1.1],
  ["credit_discount_max", -1],
  ["credit_discount_max", true],
  ["end_date", 1],
  ["end_date", -1],
  ["end_date", 1e308],
  ["end_date", "tomorrow"],
];
for (const [field, value] of REFUSED) {
  test(`listing with ${field} ${JSON.stringify(value)} is a 400 that names it and lists nothing`, async () => {
    const diskId = await aDisk();
    const { status, body } = await list({ disk_id: diskId, [field]: value });
    assert.deepEqual([status, body["error"], body["field"]], [400, "invalid_args", field]);
    assert.match(String(body["msg"]), new RegExp(field));
    const { rowCount } = await env.pool.query("select 1 from network_volume_offers where network_disk_id = $1", [
      diskId,
    ]);
    assert.equal(rowCount, 0);
  });
}

test("one idempotency key lists once, and gets the same answer again", async () => {
  const options = { as: host, body: { disk_id: await aDisk() }, key: aRequestKey() };
  const first = await served.call("POST", PATHS[0], options);
  const second = await served.call("POST", PATHS[0], options);
  assert.match(String(first.body["msg"]), /^Created/);
  assert.deepEqual(second.body, first.body);
});

test("renting takes space from the listing until none is left", async () => {
  const diskId = await aDisk();
  const id = await aListing({ disk_id: diskId, size: 40 });
  const rent = (body: object, as: TestCaller = renter) =>
    served.call("PUT", "/api/v0/network_volumes/", { as, body: { id, ...body } });
  const first = await rent({ size: 30, name: "models_1" });
  assert.equal(first.status, 200, first.text);
  const { end_date: endDate, ...said } = first.body;
  assert.equal(typeof endDate, "number");
  const price = { storage_cost: 0.15, storage_total_cost: 0.00625 };
  assert.deepEqual(said, { success: true, id: said["id"], volume_name: `V.${String(said["id"])}`, ...price });
  assert.equal((await offer(id))?.["disk_space"], 10);
  const second = await rent({});
  assert.deepEqual([second.status, second.body["field"]], [400, "size"]);
  assert.equal((await rent({ size: 10 })).status, 200);
  assert.equal(await offer(id), undefined, "a listing without space is not found");

  const shrunk = await list({ disk_id: diskId, size: 39 });
  assert.deepEqual([shrunk.status, shrunk.body["field"]], [400, "size"]);
  assert.equal((await list({ disk_id: diskId, size: 45 })).status, 200);
  assert.equal((await offer(id))?.["disk_space"], 5);
});

test("concurrent rentals never take more than the space", async () => {
  const id = await aListing({ disk_id: await aDisk(), size: 50 });
  const rents = Array.from({ length: 12 }, () =>
    served.call("PUT", "/api/v0/network_volumes/", { as: renter, body: { id, size: 10 } }),
  );
  const statuses = (await Promise.all(rents)).map((answer) => answer.status);
  const countOf = (status: number) => statuses.filter((found) => found === status).length;
  assert.deepEqual([countOf(200), countOf(400)], [5, 7]);
});

test("a rental without credit is refused", async () => {
  const id = await aListing({ disk_id: await aDisk() });
  const { status, body } = await served.call("PUT", "/api/v0/network_volumes/", { as: pauper, body: { id, size: 1 } });
  assert.deepEqual([status, body["error"]], [400, "insufficient_credit"]);
  assert.match(String(body["msg"]), /first hours set aside/);
});

test("an unlisted offer is gone for renters, and unknown to everybody but its owner", async () => {
  const diskId = await aDisk();
  const id = await aListing({ disk_id: diskId });
  const unlist = (as: TestCaller) => served.call("POST", "/api/v0/network_volumes/unlist/", { as, body: { id } });
  const foreign = await unlist(renter);
  assert.deepEqual([foreign.status, foreign.body["msg"]], [400, "Volume listing does not exist"]);
  assert.deepEqual((await unlist(host)).body, { success: true, msg: `Unlisted Network Volume ${id}.` });
  const again = await unlist(host);
  assert.deepEqual([again.status, again.body["msg"]], [400, "Volume listing does not exist"]);
  assert.equal(await offer(id), undefined);
  const rent = await served.call("PUT", "/api/v0/network_volumes/", { as: renter, body: { id, size: 1 } });
  assert.deepEqual([rent.status, rent.body["error"]], [404, "no_such_volume_offer"]);
  assert.notEqual(await aListing({ disk_id: diskId }), id, "listed again it is a new offer");
});

test("a listing ends at its end", async () => {
  const diskId = await aDisk();
  const id = await aListing({ disk_id: diskId });
  await env.pool.query("update network_volume_offers set end_at = created_at where id = $1", [id]);
  assert.equal(await offer(id), undefined);
  const rent = await served.call("PUT", "/api/v0/network_volumes/", { as: renter, body: { id, size: 1 } });
  assert.equal(rent.status, 404);
  const stale = await list({ disk_id: diskId });
  assert.deepEqual([stale.status, stale.body["field"]], [400, "end_date"]);
  assert.equal(await aListing({ disk_id: diskId, end_date: soon() }), id);
});

test("a search filters, sorts and limits, and refuses malformed conditions", async () => {
  const [cheap, dear] = [
    await aListing({ disk_id: await aDisk(1000), size: 900, price_disk: 0.001 }),
    await aListing({ disk_id: await aDisk(1000), size: 901, price_disk: 0.5 }),
  ];
  const search = (body: object) => served.call("POST", "/api/v0/network_volumes/search/", { as: renter, body });
  const ids = async (body: object) => ((await search(body)).body["offers"] as { id: number }[]).map((row) => row.id);
  const big = { disk_space: { gte: 900 }, external: { eq: false }, unknown_field: { eq: 1 } };
  assert.deepEqual(await ids(big), [cheap, dear], "the best score first");
  assert.deepEqual(await ids({ ...big, order: [["storage_cost", "desc"]] }), [dear, cheap]);
  assert.deepEqual(await ids({ ...big, limit: 1 }), [cheap]);
  assert.deepEqual(await ids({ q: JSON.stringify({ ...big, limit: 1 }) }), [cheap]);
  assert.deepEqual(await ids({ q: "disk_space>=901 duration>1" }), [dear]);
  for (const body of [{ disk_space: 5 }, { disk_space: { above: 5 } }, { q: "[]" }, { limit: -1 }, { order: "x" }]) {
    assert.equal((await search(body)).status, 400, JSON.stringify(body));
  }
});

test("disks show their free space and the machines that mount them", async () => {
  const owner = await aCaller(env.database);
  const [first, second] = [await aDisk(100, owner), await aDisk(50, owner)];
  const machine = await inTransaction(env.database, (tx) => aMachine(tx, owner.id));
  const mount = { machines: [machine], mount_point: "/mnt/nfs/", disk_id: first };
  const mounted = await served.call("POST", "/api/v0/network_disk/", { as: owner, body: mount });
  assert.deepEqual(mounted.body, { success: true, disk_id: first });
  const listed = await list({ disk_id: first, size: 100 }, owner);
  const id = Number(/listing (\d+)/.exec(String(listed.body["disk_id"]))?.[1]);
  await served.call("PUT", "/api/v0/network_volumes/", { as: renter, body: { id, size: 30 } });
  const { status, body } = await served.call("GET", "/api/v0/network_disk/", { as: owner });
  assert.equal(status, 200);
  assert.deepEqual(body["data"], [
    {
      cluster_id: null,
      network_disks: [{ network_disk_id: first, free_space: 70, total_space: 100 }],
      machine_ids: [machine],
      mounts: { [machine]: "/mnt/nfs" },
    },
    {
      cluster_id: null,
      network_disks: [{ network_disk_id: second, free_space: 50, total_space: 50 }],
      machine_ids: [],
      mounts: {},
    },
  ]);
  assert.equal((await offer(id))?.["machine_id"], machine);
});

test("a host can create a disk of its own, and mount it only on its own machines", async () => {
  const [own, foreign] = await inTransaction(env.database, async (tx) => [
    await aMachine(tx, host.id),
    await aMachine(tx, renter.id),
  ]);
  const mount = (body: object) =>
    served.call("POST", "/api/v0/network_disk/", { as: host, body: { mount_point: "/mnt/a", ...body } });
  assert.equal((await mount({ machines: [own], size: 10 })).status, 200);
  assert.equal((await mount({ machines: [own], size: 10, mount_point: "/proc" })).body["field"], "mount_point");
  for (const machine of [foreign, 2_000_000_000]) {
    const answer = await mount({ machines: [own, machine], size: 10 });
    assert.deepEqual([answer.status, answer.body["error"]], [404, "no_such_machine"]);
  }
  assert.equal((await mount({ machines: [own], disk_id: await aDisk(5, renter) })).status, 403);
});

test("a new disk without a size is as large as the smallest disk of the machines that mount it", async () => {
  const owner = await aCaller(env.database);
  const machines = await inTransaction(env.database, async (tx) => [
    await aMachine(tx, owner.id, { disk_bytes: 800_000_000_000 }),
    await aMachine(tx, owner.id, { disk_bytes: 300_500_000_000 }),
  ]);
  const mount = (body: object) =>
    served.call("POST", "/api/v0/network_disk/", { as: owner, body: { mount_point: "/mnt/pool", ...body } });
  const made = await mount({ machines });
  assert.equal(made.status, 200, made.text);
  const { disk_id: diskId } = made.body;
  assert.equal((await mount({ machines, disk_id: diskId })).status, 200);
  const { body } = await served.call("GET", "/api/v0/network_disk/", { as: owner });
  const [group] = body["data"] as readonly { readonly network_disks: unknown }[];
  assert.deepEqual(group?.network_disks, [{ network_disk_id: diskId, free_space: 300.5, total_space: 300.5 }]);
  assert.equal((await mount({ machines, size: 0 })).body["field"], "size");
});

test("only administrators give a disk to a user", async () => {
  const give = (as: TestCaller, body: object) => served.call("POST", "/api/v0/admin/disks/", { as, body });
  assert.equal((await give(host, { email: host.email, size: 1 })).status, 403);
  assert.equal((await give(admin, { user_id: host.id, size: 1 })).body["email"], host.email);
  const unknown = await give(admin, { email: "nobody@example.com", size: 1 });
  assert.deepEqual([unknown.status, unknown.body["error"]], [404, "no_such_user"]);
  for (const body of [{ size: 1 }, { email: host.email, size: 0 }, { email: host.email }]) {
    assert.equal((await give(admin, body)).status, 400, JSON.stringify(body));
  }
});

test("no operation answers without a key, nor to one without the permission", async () => {
  const stranger = await aCaller(env.database, { permissions: { api: { billing_read: {} } } });
  for (const [method, path] of [
    ["POST", PATHS[0]],
    ["POST", PATHS[1]],
    ["PUT", PATHS[1]],
    ["POST", "/api/v0/network_volumes/search/"],
    ["POST", "/api/v0/network_volumes/unlist/"],
    ["GET", "/api/v0/network_disk/"],
    ["POST", "/api/v0/network_disk/"],
    ["POST", "/api/v0/admin/disks/"],
  ] as const) {
    assert.equal((await served.call(method, path)).status, 401, path);
    assert.equal((await served.call(method, path, { as: stranger })).status, 403, path);
  }
});

test("a host has a limited number of network disks", async () => {
  const owner = await aCaller(env.database);
  const machineId = await inTransaction(env.database, (tx) => aMachine(tx, owner.id));
  await env.pool.query(
    `insert into network_disks (user_id, size_bytes, created_at)
     select $1, 1000000000, now() from generate_series(1, 999)`,
    [owner.id],
  );
  const mount = () =>
    served.call("POST", "/api/v0/network_disk/", {
      as: owner,
      body: { machines: [machineId], mount_point: "/srv/disk", size: 10 },
    });
  const answers = await Promise.all([mount(), mount(), mount()]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400],
    answers.map(({ text }) => text).join(),
  );
  assert.deepEqual(answers.find(({ status }) => status === 400)?.body["error"], "too_many");
  const body = { user_id: owner.id, size: 10 };
  const given = await served.call("POST", "/api/v0/admin/disks/", { as: admin, body });
  assert.deepEqual([given.status, given.body["error"]], [400, "too_many"], "nor is one given more");
});
