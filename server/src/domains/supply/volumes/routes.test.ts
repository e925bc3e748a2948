import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { aCaller, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { makeFundedUser } from "../../../../../test/support/money/ledger.ts";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { testDatabase, type TestDatabase } from "../../../../../test/support/database/postgres.ts";
import { aRequestKey, serveRoutes, type Served } from "../../../../../test/support/network/serve.ts";
import { systemClock } from "../../../base/clock.ts";
import { asId, type InstanceId, type MachineId, type UserId } from "../../../base/ids.ts";
import { createLog } from "../../../base/log.ts";
import { nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { creditOf, postTransfers } from "../../money/ledger/index.ts";
import { attachVolumes, detachVolumes, planVolumeLink, recordVolumes } from "./for-instances.ts";
import { SpaceTable, volumeRoutes } from "./for-assembly.ts";

let env: TestDatabase;
let served: Served;
let host: TestCaller;
let renter: TestCaller;
let pauper: TestCaller;
/** Tasks of hosts in this test have no credentials. */
const NO_ENCRYPTION: Encryption = { encrypt: (text) => text, decrypt: () => undefined };

let machine: MachineId;
let space: SpaceTable;

before(async () => {
  env = await testDatabase();
  const { database } = env;
  host = await aCaller(database);
  renter = await aCaller(database);
  pauper = await aCaller(database);
  await giveCredit(renter.id);
  machine = await newMachine();
  space = new SpaceTable(database, { clock: systemClock, log: createLog("silent") });
  served = await serveRoutes(database, (scope) =>
    volumeRoutes(scope, { space, means: { random: randomBytes, encryption: NO_ENCRYPTION } }),
  );
});
after(() => served.close());

async function giveCredit(userId: UserId): Promise<void> {
  const rich = await makeFundedUser(env.database, 1_000_000_000n);
  const transfer = {
    key: crypto.randomUUID(),
    debit: creditOf(rich),
    credit: creditOf(userId),
    amount: nanos(1_000_000_000n),
    code: "credit_transfer" as const,
    cause: {},
    description: "",
  };
  await inTransaction(env.database, (tx) => postTransfers(tx, [transfer]));
}

const newMachine = (owner: TestCaller = host) => inTransaction(env.database, (tx) => aMachine(tx, owner.id));
const listSpace = (body: object, as: TestCaller = host) => served.call("POST", "/api/v0/volumes/", { as, body });
const rent = (body: object, as: TestCaller = renter) => served.call("PUT", "/api/v0/volumes/", { as, body });

async function anOffer(body: object): Promise<number> {
  const answer = await listSpace(body);
  assert.equal(answer.status, 200, answer.text);
  return Number(/\d+/.exec(String(answer.body["msg"]))?.[0]);
}

async function aVolume(body: object = {}): Promise<number> {
  const offer = await anOffer({ machine: await newMachine(), size: 100 });
  const answer = await rent({ id: offer, ...body });
  assert.equal(answer.status, 200, answer.text);
  return Number(answer.body["id"]);
}

async function search(body: object = { limit: 10_000 }) {
  await space.load();
  const answer = await served.call("POST", "/api/v0/volumes/search/", { as: renter, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body["offers"] as Record<string, unknown>[];
}

async function volumes(query = "", as: TestCaller = renter) {
  const answer = await served.call("GET", `/api/v0/volumes${query}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body["volumes"] as Record<string, unknown>[];
}

test("a host lists space of several machines at once, with the documented defaults", async () => {
  const machines = [await newMachine(), await newMachine()];
  const answer = await listSpace({ machine: machines });
  assert.match(String(answer.body["msg"]), /^Listed Volume \d+, \d+\.$/);
  const rows = (await search()).filter((row) => machines.includes(asId<MachineId>(Number(row["machine_id"]))));
  assert.deepEqual(
    rows.map((row) => [row["disk_space"], row["storage_cost"], row["host_id"], row["rentable"]]),
    machines.map(() => [15, 0.1, host.id, undefined]),
  );
  assert.ok(rows.every((row) => Number(row["duration"]) > 89.9 * 86_400));
});

test("the answer to a listing says of each machine which listing is new or changed, and `machines` counts first", async () => {
  const machines = [await newMachine(), await newMachine()];
  const request = { machine: 1, machines, size: 20, hidden_listing: false };
  const { body } = await listSpace({ ...request, price_gpu: 1 });
  assert.deepEqual(body["you_sent"], request, "without fields that it does not have");
  const results = body["results"] as readonly Readonly<Record<"new_contracts", readonly { readonly id: number }[]>>[];
  const ids = results.map((row) => row.new_contracts[0]?.id ?? 0);
  assert.equal(body["msg"], `Listed Volume ${ids.join(", ")}.`);
  const row = (index: number) => ({ machine_id: machines[index], user_id: host.id, extended: 0 });
  assert.deepEqual(
    results,
    ids.map((id, index) => ({ ...row(index), new_contracts: [{ id, size: 20 }], upd_contracts: [] })),
  );
  await rent({ id: ids[0], size: 5 });
  const later = Math.ceil(Date.now() / 1000) + 200 * 86_400;
  const again = await listSpace({ machines: machines.slice(0, 1), size: 30, end_date: later });
  assert.deepEqual(again.body["results"], [{ ...row(0), extended: 1, new_contracts: [], upd_contracts: [ids[0]] }]);
  const dearer = await listSpace({ machine: machines[0], price_disk: 0.3 });
  assert.equal(dearer.status, 200, dearer.text);
  const [{ new_contracts: [replacing] = [], upd_contracts: kept } = {}] = dearer.body["results"] as readonly {
    readonly new_contracts?: readonly { readonly id: number; readonly size: number }[];
    readonly upd_contracts?: readonly number[];
  }[];
  assert.deepEqual([replacing?.size, replacing?.id === ids[0], kept], [30, false, []]);
});

test("listing a machine again updates its one listing", async () => {
  const first = await anOffer({ machine, size: 20, price_disk: 0.2 });
  assert.equal(await anOffer({ machine, size: 30 }), first);
  const row = (await search()).find((candidate) => candidate["id"] === first);
  assert.deepEqual([row?.["disk_space"], row?.["storage_cost"]], [30, 0.2]);
});

test("a machine that is not the caller's looks like one that does not exist", async () => {
  for (const id of [await newMachine(renter), 2_000_000_000]) {
    const answer = await listSpace({ machine: [machine, id], size: 77 });
    assert.deepEqual([answer.status, answer.body["error"]], [404, "no_such_machine"]);
  }
  assert.ok(
    (await search()).every((row) => row["disk_space"] !== 77),
    "all or none",
  );
});

const REFUSED: readonly (readonly [string, unknown])[] = [
  ["machine", undefined],
  ["machine", "1"],
  ["machine", []],
  ["machines", []],
  ["hidden_listing", true],
  ["size", 501],
  ["size", 0],
  ["price_disk", -1],
  ["end_date", 5],
];
for (const [field, value] of REFUSED) {
  test(`listing with ${field} ${JSON.stringify(value)} is a 400 that names it`, async () => {
    const { status, body } = await listSpace({ machine, [field]: value });
    assert.deepEqual([status, body["error"], body["field"]], [400, "invalid_args", field]);
  });
}

test("a rented volume is shown with the fields that clients decode", async () => {
  const id = await aVolume({ size: 15.5, name: "models" });
  const row = (await volumes("?owner=me")).find((volume) => volume["id"] === id);
  assert.deepEqual(
    [row?.["label"], row?.["disk_space"], row?.["status"], row?.["instances"], row?.["host_id"], row?.["storage_cost"]],
    ["models", 15.5, "available", [], host.id, 0.1],
  );
  assert.ok(Number(row?.["start_date"]) > 1e9);
  assert.equal(row?.["storage_total_cost"], Math.floor((0.1 * 15.5 * 1e9) / 720) / 1e9);
  assert.ok((await volumes("?type=local_volume")).some((volume) => volume["id"] === id));
  assert.deepEqual(await volumes("?type=network_volume"), []);
  assert.deepEqual(await volumes("", pauper), []);
  const wrong = await served.call("GET", "/api/v0/volumes/?type=tape", { as: renter });
  assert.deepEqual([wrong.status, wrong.body["field"]], [400, "type"]);
});

test("the size defaults to 15 GB, the label to the handle", async () => {
  const id = await aVolume();
  const row = (await volumes()).find((volume) => volume["id"] === id);
  assert.deepEqual([row?.["disk_space"], row?.["label"]], [15, `V.${id}`]);
});

test("renting is refused for unknown offers, bad sizes and names, and without credit", async () => {
  const id = await anOffer({ machine: await newMachine(), size: 20 });
  const unknown = await rent({ id: 2_000_000_000 });
  assert.deepEqual([unknown.status, unknown.body["error"]], [404, "no_such_volume_offer"]);
  for (const [field, value] of [
    ["size", 20.5],
    ["size", 0],
    ["size", "5"],
    ["name", "a b"],
    ["id", "x"],
  ] as const) {
    const answer = await rent({ id, [field]: value });
    assert.deepEqual([answer.status, answer.body["field"]], [400, field]);
  }
  const poor = await rent({ id }, pauper);
  assert.deepEqual([poor.status, poor.body["error"]], [400, "insufficient_credit"]);
});

test("one idempotency key rents one volume", async () => {
  const id = await anOffer({ machine: await newMachine(), size: 100 });
  const options = { as: renter, body: { id, size: 10 }, key: aRequestKey() };
  const first = await served.call("PUT", "/api/v0/volumes/", options);
  const second = await served.call("PUT", "/api/v0/volumes/", options);
  assert.deepEqual(second.body, first.body);
  assert.equal((await search()).find((row) => row["id"] === id)?.["disk_space"], 90);
});

test("a volume is deleted by query or by body, and gives its space back when its host has deleted the data", async () => {
  const machineId = await newMachine();
  const offer = await anOffer({ machine: machineId, size: 40 });
  const [first, second] = [await rent({ id: offer, size: 20 }), await rent({ id: offer, size: 20 })];
  assert.equal(
    (await search()).find((row) => row["id"] === offer),
    undefined,
  );
  const remove = (path: string, body?: object, as: TestCaller = renter) =>
    served.call("DELETE", path, { as, ...(body === undefined ? {} : { body }) });
  const foreign = await remove("/api/v0/volumes/", { id: first.body["id"] }, host);
  assert.deepEqual([foreign.status, foreign.body["error"]], [404, "no_such_volume"]);
  const byQuery = await remove(`/api/v0/volumes/?id=${String(first.body["id"])}`);
  assert.deepEqual([byQuery.status, byQuery.body["success"]], [200, true]);
  assert.equal((await remove("/api/v0/volumes/", { id: second.body["id"] })).status, 200);
  const freeGb = async () => (await search()).find((row) => row["id"] === offer)?.["disk_space"];
  assert.equal(await freeGb(), undefined);
  await inTransaction(env.database, (tx) =>
    recordVolumes(
      tx,
      [first, second].map(({ body: { id } }) => {
        return { machineId, seen: { volume_id: Number(id), state: "absent", used_bytes: 0, message: "" } };
      }),
    ),
  );
  assert.equal(await freeGb(), 40);
  const again = await remove("/api/v0/volumes/", { id: second.body["id"] });
  assert.deepEqual([again.status, again.body["msg"]], [404, "Volume with that ID does not exist."]);
  const none = await remove("/api/v0/volumes/");
  assert.deepEqual([none.status, none.body["msg"]], [400, "Please provide a valid volume ID."]);
});

test("a volume in use cannot be deleted before its instance is gone", async () => {
  const id = await aVolume();
  const instance = await attach(id);
  const refused = await served.call("DELETE", "/api/v0/volumes/", { as: renter, body: { id } });
  assert.deepEqual([refused.status, refused.body["error"], refused.body["volume_id"]], [409, "volume_in_use", id]);
  const row = (await volumes()).find((volume) => volume["id"] === id);
  assert.deepEqual([row?.["status"], row?.["instances"]], ["attached", [instance]]);
  const reason = refused.body["msg"];
  assert.deepEqual(row?.["allowed_actions"], { delete: { allowed: false, reason }, clone: { allowed: true } });
  await inTransaction(env.database, (tx) => detachVolumes(tx, [instance]));
  assert.equal((await served.call("DELETE", "/api/v0/volumes/", { as: renter, body: { id } })).status, 200);
});

async function attach(volumeId: number): Promise<InstanceId> {
  const row = (await volumes()).find((volume) => volume["id"] === volumeId);
  const machineId = asId<MachineId>(Number(row?.["machine_id"]));
  return inTransaction(env.database, async (tx) => {
    const instance = await anInstanceRow(tx, renter.id, machineId);
    const volumeInfo = { volume_id: volumeId };
    const mounts = await planVolumeLink(tx, { userId: renter.id, capScopes: [], machineId, volumeInfo, links: [] });
    await attachVolumes(tx, instance, mounts);
    return instance;
  });
}

test("only its host unlists an offer, and once", async () => {
  const id = await anOffer({ machine: await newMachine(), size: 20 });
  const unlist = (as: TestCaller, body: object = { id }) => served.call("POST", "/api/v0/volumes/unlist", { as, body });
  for (const answer of [await unlist(renter), await unlist(host, { id: 2_000_000_000 })]) {
    assert.deepEqual([answer.status, answer.body["msg"]], [400, "Volume listing does not exist"]);
  }
  assert.deepEqual((await unlist(host)).body, { success: true, msg: `Unlisted Volume ${id}.` });
  assert.equal((await unlist(host)).status, 400);
  assert.equal((await rent({ id, size: 1 })).status, 404);
});

test("offers of machines that are away are not found", async () => {
  const away = await newMachine();
  const id = await anOffer({ machine: away, size: 20 });
  await env.pool.query("update machines set is_connected = false where id = $1", [away]);
  assert.equal(
    (await search()).find((row) => row["id"] === id),
    undefined,
  );
});

test("a search understands the requests of published clients", async () => {
  const id = await anOffer({ machine: await newMachine(), size: 333 });
  const defaults = { verified: { eq: true }, external: { eq: false }, disk_space: { gte: 333 } };
  const found = async (body: object) => (await search(body)).map((row) => row["id"]);
  assert.deepEqual(await found({ ...defaults, order: [["score", "desc"]], limit: 10, allocated_storage: 1.0 }), [id]);
  assert.deepEqual(await found({ ...defaults, geolocation: { in: "NO" }, driver_version: { gte: 535086005 } }), [id]);
  assert.deepEqual(await found({ ...defaults, geolocation: { notin: ["NO"] } }), []);
  assert.deepEqual(await found({ ...defaults, cuda_vers: { gte: 13 } }), []);
  const query = encodeURIComponent(JSON.stringify(defaults));
  const answer = await served.call("POST", `/api/v0/volumes/search/?q=${query}`, { as: renter, body: {} });
  assert.deepEqual(
    (answer.body["offers"] as { id: number }[]).map((row) => row.id),
    [id],
  );
  const [row] = await search({ ...defaults, allocated_storage: 720 });
  assert.equal(row?.["storage_total_cost"], 0.1);
});

test("no operation answers without a key, nor to one without the permission", async () => {
  const stranger = await aCaller(env.database, { permissions: { api: { billing_read: {} } } });
  for (const [method, path] of [
    ["GET", "/api/v0/volumes/"],
    ["POST", "/api/v0/volumes/"],
    ["PUT", "/api/v0/volumes/"],
    ["DELETE", "/api/v0/volumes/"],
    ["POST", "/api/v0/volumes/search/"],
    ["POST", "/api/v0/volumes/unlist/"],
  ] as const) {
    assert.equal((await served.call(method, path)).status, 401, path);
    assert.equal((await served.call(method, path, { as: stranger })).status, 403, path);
  }
});

test("an account has a limited number of volumes, also with concurrent rentals", async () => {
  const tenant = await aCaller(env.database);
  await giveCredit(tenant.id);
  const offers: number[] = [];
  for (let count = 0; count < 5; count += 1) offers.push(await anOffer({ machine: await newMachine(), size: 100 }));
  await env.pool.query("update account_rules set volumes_max = 2");
  const answers = await Promise.all(offers.map((id) => rent({ id }, tenant)));
  await env.pool.query("update account_rules set volumes_max = 1000");
  const [made, refused] = [200, 400].map((status) => answers.filter((answer) => answer.status === status));
  assert.deepEqual([made?.length, refused?.length], [2, 3], answers.map(({ text }) => text).join());
  for (const { body } of refused ?? []) {
    assert.deepEqual([body["error"], body["field"]], ["too_many", "id"]);
    assert.match(String(body["msg"]), /at most 2 volumes/);
  }
  const again = () => rent({ id: offers[4] }, tenant);
  await env.pool.query("update account_rules set volumes_max = 1");
  assert.equal((await again()).status, 400, "what an account has beyond a lowered limit stays");
  const url = `/api/v0/volumes/?id=`;
  for (const { body } of made ?? []) {
    assert.equal((await served.call("DELETE", `${url}${String(body["id"])}`, { as: tenant })).status, 200);
  }
  assert.equal((await again()).status, 200, "a deleted one makes room before its host has confirmed it");
  await env.pool.query("update account_rules set volumes_max = 1000");
});
