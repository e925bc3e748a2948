// The tour of docs/tour.md against simulated hosts, with nothing but curl (and `berth admin`, which is the operator's).
// What is expected of each body is written down here from the contract, not taken from the server's own schemas.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Type } from "typebox";
import { discard, startBerth, untilOffered, type Answer, type Berth } from "../support/berth.ts";
import { curl } from "../support/network/curl.ts";
import { bodyOf } from "../support/shape.ts";
import { until } from "../support/until.ts";

const HOSTS = 3;
const Text = Type.String();
const Int = Type.Integer();
const Success = Type.Literal(true);

const Offer = Type.Object({
  id: Int,
  ask_contract_id: Int,
  machine_id: Int,
  host_id: Int,
  gpu_name: Text,
  num_gpus: Int,
  gpu_ram: Type.Number(),
  dph_total: Type.Number(),
  min_bid: Type.Number(),
  disk_space: Type.Number(),
  rentable: Type.Boolean(),
  rented: Type.Boolean(),
  is_simulated: Type.Literal(true),
});
const Offers = Type.Object({ offers: Type.Array(Offer, { minItems: 1 }) });
const Template = Type.Object({ id: Int, hash_id: Type.String({ pattern: "^[0-9a-f]{32}$" }), name: Text });
const OneTemplate = Type.Object({ success: Success, template: Template });
const Templates = Type.Object({ templates: Type.Array(Template) });
const Shown = Type.Object({
  instances: Type.Object({
    id: Int,
    actual_status: Type.Union([Text, Type.Null()]),
    intended_status: Text,
    status_msg: Type.Union([Text, Type.Null()]),
    image_uuid: Text,
    extra_env: Type.Array(Type.Tuple([Text, Text])),
    num_gpus: Int,
    is_simulated: Type.Literal(true),
  }),
});
const InvoiceReport = Type.Object({
  invoices: Type.Array(Type.Object({ id: Int, type: Text, service: Text, amount: Type.Number(), timestamp: Int })),
  username: Text,
  bill_to: Text,
  email: Text,
  fullname: Text,
  address1: Text,
  address2: Text,
  city: Text,
  zip: Text,
  country: Text,
  taxinfo: Text,
  current: Type.Object({
    charges: Type.Number(),
    service_fee: Type.Number(),
    total: Type.Number(),
    credit: Type.Number(),
  }),
});
const Deleted = Type.Object({
  success: Success,
  deleted_workers: Type.Array(Int),
  failed_workers: Type.Array(Int),
  msg: Text,
});
const Addresses = Type.Object({
  success: Success,
  results: Type.Array(
    Type.Object({
      id: Int,
      user_id: Int,
      ip_address: Text,
      timestamp: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT" }),
    }),
  ),
});

describe("a simulated market, walked through with curl", () => {
  let berth: Berth;
  let [key, friendKey] = ["", ""];
  let [userId, friendId] = [0, 0];

  const as = (by: string) => (method: string, path: string, body?: unknown) =>
    curl(method, `${berth.url}${path}`, { key: by, ...(body === undefined ? {} : { body }) });
  const call = (method: string, path: string, body?: unknown): Promise<Answer> => as(key)(method, path, body);
  const searchOffers = async () =>
    bodyOf(Offers, await call("POST", "/api/v0/bundles/", { num_gpus: { gte: 1 }, rentable: { eq: true }, limit: 20 }))
      .offers;
  const show = async (id: number) => bodyOf(Shown, await call("GET", `/api/v0/instances/${id}/`)).instances;

  before(async () => {
    berth = await startBerth({ args: ["--simulate", String(HOSTS)] });
    await untilOffered(berth, HOSTS);
    const user = await berth.admin("user", "create", "you@example.com", "--credit", "25");
    const friend = await berth.admin("user", "create", "friend@example.com");
    [key, friendKey] = [String(user["api_key"]), String(friend["api_key"])];
    [userId, friendId] = [Number(user["id"]), Number(friend["id"])];
  });
  after(async () => {
    await discard(berth);
  });

  test("offers are found by filters, in both forms of the search, and say that they are simulated", async () => {
    const offers = await searchOffers();
    assert.ok(offers.length > 0);
    for (const offer of offers) {
      assert.ok(offer.num_gpus >= 1 && offer.rentable && !offer.rented && offer.dph_total > 0);
      assert.equal(offer.id, offer.ask_contract_id);
    }
    const [first] = offers;
    assert.ok(first !== undefined);
    const query = encodeURIComponent(
      JSON.stringify({ num_gpus: { eq: first.num_gpus }, gpu_name: { eq: first.gpu_name } }),
    );
    const found = bodyOf(Offers, await call("GET", `/api/v0/bundles/?q=${query}`)).offers;
    assert.ok(found.every(({ gpu_name, num_gpus }) => gpu_name === first.gpu_name && num_gpus === first.num_gpus));
    assert.ok(found.some(({ id }) => id === first.id));
  });

  test("template to rental to bill: created, running with the merged settings, destroyed, on the invoice", async () => {
    const made = bodyOf(
      OneTemplate,
      await call("POST", "/api/v0/template/", {
        name: "tour",
        image: "ubuntu:24.04",
        env: "-e FROM_TEMPLATE=kept -e SHARED=template -p 8080:8080",
        onstart: "echo started",
      }),
    ).template;
    const filters = encodeURIComponent(JSON.stringify({ name: { eq: "tour" }, creator_id: { eq: userId } }));
    const found = bodyOf(Templates, await call("GET", `/api/v0/template/?select_filters=${filters}`)).templates;
    assert.deepEqual(
      found.map(({ id, hash_id, name }) => ({ id, hash_id, name })),
      [{ id: made.id, hash_id: made.hash_id, name: "tour" }],
    );

    const [offer] = await searchOffers();
    assert.ok(offer !== undefined);
    const created = bodyOf(
      Type.Object({ success: Success, new_contract: Int }),
      await call("PUT", `/api/v0/asks/${offer.id}/`, {
        template_hash_id: made.hash_id,
        env: "-e SHARED=request -e FROM_REQUEST=added",
        disk: 10,
      }),
    );
    const id = created.new_contract;
    const running = await until(`instance ${id} runs`, async () => {
      const instance = await show(id);
      return instance.actual_status === "running" ? instance : undefined;
    });
    assert.equal(running.intended_status, "running");
    assert.equal(running.image_uuid, "ubuntu:24.04");
    assert.equal(running.num_gpus, offer.num_gpus);
    const env = Object.fromEntries(running.extra_env);
    assert.partialDeepStrictEqual(env, { FROM_TEMPLATE: "kept", SHARED: "request", FROM_REQUEST: "added" });
    assert.ok(!(await searchOffers()).some((other) => other.id === offer.id), "a rented offer is still on the market");

    // Usage shows in the balance at once; it is charged by the hour, or when the run ends.
    await until("the balance to fall", async () => {
      const { balance } = bodyOf(Type.Object({ balance: Type.Number() }), await call("GET", "/api/v0/users/current/"));
      return balance < 25;
    });
    bodyOf(Type.Object({ success: Success }), await call("DELETE", `/api/v0/instances/${id}/`));
    await until("the last charge", async () => {
      const report = bodyOf(InvoiceReport, await call("GET", "/api/v0/users/me/invoices/?inc_charges=true"));
      return report.invoices.some(({ type, amount }) => type === "charge" && amount > 0);
    });
    await until("the instance to be gone from the list", async () => {
      const Listing = Type.Object({ instances: Type.Array(Type.Object({ id: Int })) });
      return bodyOf(Listing, await call("GET", "/api/v0/instances/")).instances.length === 0;
    });
    await until("its GPUs to be on the market again", async () =>
      (await searchOffers()).some(
        ({ machine_id, num_gpus }) => machine_id === offer.machine_id && num_gpus === offer.num_gpus,
      ),
    );

    const report = bodyOf(InvoiceReport, await call("GET", `/api/v0/users/${userId}/invoices/?inc_charges=true`));
    assert.equal(report.email, "you@example.com");
    assert.ok(report.current.charges > 0 && report.current.credit < 25);
    const payments = bodyOf(InvoiceReport, await call("GET", "/api/v0/users/me/invoices/")).invoices;
    assert.deepEqual(
      payments.map(({ type, amount }) => ({ type, amount })),
      [{ type: "payment", amount: 25 }],
    );
  });

  test("credit moves once between two users, and both see it", async () => {
    const done = await call("PUT", "/api/v0/commands/transfer_credit/", {
      client_id: "me",
      recipient: "friend@example.com",
      amount: 1.25,
    });
    assert.deepEqual(bodyOf(Type.Object({ success: Success }), done), { success: true });
    const theirs = bodyOf(InvoiceReport, await as(friendKey)("GET", "/api/v0/users/me/invoices/"));
    assert.equal(theirs.current.credit, 1.25);
    assert.deepEqual(
      theirs.invoices.map(({ amount, service }) => ({ amount, service })),
      [{ amount: 1.25, service: "transfer" }],
    );
    const mine = bodyOf(InvoiceReport, await call("GET", "/api/v0/users/me/invoices/"));
    assert.ok(mine.invoices.some(({ amount, service }) => amount === -1.25 && service === "transfer"));
    for (const refused of [
      { recipient: "nobody@example.com", amount: 1 },
      { recipient: "you@example.com", amount: 1 },
      { recipient: "friend@example.com", amount: 0.001 },
      { recipient: "friend@example.com", amount: 1e6 },
    ]) {
      const answer = await call("PUT", "/api/v0/commands/transfer_credit/", refused);
      assert.equal(answer.status, 400, JSON.stringify(refused));
      assert.equal(answer.body.success, false);
    }
  });

  test("a network disk is listed, listed again with other terms, and refused to strangers in the contract's words", async () => {
    const { disk_id } = await berth.admin("disk", "create", "you@example.com", "--size", "500");
    const Listed = Type.Object({ success: Success, disk_id: Text });
    const listing = { disk_id, price_disk: 0.1, size: 200, credit_discount_max: 0.2, end_date: 4_000_000_000 };
    assert.match(bodyOf(Listed, await call("POST", "/api/v0/network_volume/", listing)).disk_id, /200 GB/);
    const again = await call("POST", "/api/v0/network_volumes/", { ...listing, size: 300 });
    assert.match(bodyOf(Listed, again).disk_id, /300 GB/);
    const foreign = await as(friendKey)("POST", "/api/v0/network_volume/", listing);
    const { error, msg } = foreign.body;
    assert.deepEqual(
      [foreign.status, error, msg],
      [403, "not_authorized", "No network disk with that ID is associated with the user"],
    );
    const bad = await call("POST", "/api/v0/network_volume/", { ...listing, disk_id: "seven" });
    assert.deepEqual([bad.status, bad.body.error, bad.body.msg], [400, "invalid_args", "Invalid disk ID"]);
  });

  test("an endpoint group is created with the contract's defaults and deleted with its workers", async () => {
    const { result } = bodyOf(
      Type.Object({ success: Success, result: Int }),
      await call("POST", "/api/v0/endptjobs/", {}),
    );
    const group = await call("GET", `/api/v0/endptjobs/${result}/`);
    assert.partialDeepStrictEqual(group.body.result, {
      endpoint_name: "default-endpoint",
      min_load: 10,
      target_util: 0.9,
      cold_mult: 2.5,
      cold_workers: 5,
      max_workers: 20,
    });
    const gone = bodyOf(Deleted, await call("DELETE", `/api/v0/endptjobs/${result}/`));
    assert.deepEqual([gone.deleted_workers, gone.failed_workers], [[], []]);
    assert.equal((await call("GET", `/api/v0/endptjobs/${result}/`)).status, 404);
  });

  test("a bid changes between its limits, for an interruptible instance only", async () => {
    const [offer] = await searchOffers();
    assert.ok(offer !== undefined);
    const Created = Type.Object({ new_contract: Int });
    const rented = await call("PUT", `/api/v0/asks/${offer.id}/`, { image: "ubuntu", price: offer.dph_total });
    const id = bodyOf(Created, rented).new_contract;
    const bid = (price: number) => call("PUT", `/api/v0/instances/bid_price/${id}/`, { client_id: "me", price });
    assert.deepEqual(bodyOf(Type.Object({ success: Success }), await bid(offer.dph_total * 2)), { success: true });
    for (const price of [0, 0.0009, 32.001]) assert.equal((await bid(price)).status, 400, String(price));
    await call("DELETE", `/api/v0/instances/${id}/`);
  });

  test("a template is edited under a new hash, keeps what was left out, and is deleted by its number", async () => {
    const create = await call("POST", "/api/v0/template/", { name: "edited", image: "alpine", env: "-e A=1" });
    const { id, hash_id } = bodyOf(OneTemplate, create).template;
    const edited = await call("PUT", "/api/v0/template/", { hash_id, desc: "changed" });
    const Full = Type.Object({ template: Type.Object({ id: Int, hash_id: Text, env: Text, desc: Text }) });
    const { template } = bodyOf(Full, edited);
    assert.notEqual(template.hash_id, hash_id);
    assert.deepEqual([template.id, template.env, template.desc], [id, "-e A=1", "changed"]);
    const foreign = await as(friendKey)("DELETE", "/api/v0/template/", { template_id: id });
    assert.equal(foreign.status, 404);
    bodyOf(Type.Object({ success: Success }), await call("DELETE", "/api/v0/template/", { template_id: id }));
  });

  test("the address of the caller is in the user's history, and in nobody else's", async () => {
    const { results } = bodyOf(Addresses, await call("GET", "/api/v0/users/me/ipaddrs/"));
    assert.deepEqual(
      results.map(({ user_id, ip_address }) => ({ user_id, ip_address })),
      [{ user_id: userId, ip_address: "127.0.0.1" }],
    );
    bodyOf(Addresses, await call("GET", `/api/v0/users/${userId}/ipaddrs/`));
    assert.equal((await call("GET", `/api/v0/users/${friendId}/ipaddrs/`)).status, 403);
    assert.equal((await call("GET", "/api/v0/users/4711/ipaddrs/")).status, 403);
    const byAdmin = await as(berth.adminKey)("GET", `/api/v0/users/${friendId}/ipaddrs/`);
    assert.ok(bodyOf(Addresses, byAdmin).results.every(({ user_id }) => user_id === friendId));
  });

  test("each path answers with and without its last slash, without a redirect", async () => {
    const reads = [
      "/api/v0/users/me/ipaddrs",
      "/api/v0/template",
      "/api/v0/users/me/invoices",
      "/api/v0/instances",
      "/api/v0/endptjobs",
    ];
    for (const path of reads) {
      const [bare, slashed] = [await call("GET", path), await call("GET", `${path}/`)];
      assert.deepEqual([bare.status, bare.contentType, slashed.status], [200, "application/json", 200], path);
    }
    const writes: readonly [string, string, unknown][] = [
      ["POST", "/api/v0/template", { name: "slash", image: "alpine" }],
      ["PUT", "/api/v0/template", { hash_id: "0".repeat(32) }],
      ["DELETE", "/api/v0/template", { template_id: 4711 }],
      ["PUT", "/api/v0/asks/4711", { image: "alpine" }],
      ["PUT", "/api/v0/instances/bid_price/4711", { client_id: "me", price: 1 }],
      ["POST", "/api/v0/network_volume", { disk_id: 4711 }],
      ["POST", "/api/v0/endptjobs", { endpoint_name: "slash" }],
      ["DELETE", "/api/v0/endptjobs/4711", undefined],
      ["PUT", "/api/v0/commands/transfer_credit", { recipient: "nobody@example.com", amount: 1 }],
      ["POST", "/api/v0/bundles", {}],
    ];
    for (const [method, path, body] of writes) {
      const [bare, slashed] = [await call(method, path, body), await call(method, `${path}/`, body)];
      assert.equal(bare.status, slashed.status, `${method} ${path}: ${bare.text}`);
      assert.equal(bare.contentType, "application/json", `${method} ${path}`);
      assert.notEqual(bare.status, 307, path);
      assert.notEqual(bare.body.error, "not_found", `${method} ${path}: ${bare.text}`);
    }
  });

  test("without a key, or with a wrong one, the answer is the contract's 401", async () => {
    for (const wrong of [{}, { key: "wrong" }]) {
      const answer = await curl("GET", `${berth.url}/api/v0/template/`, wrong);
      assert.equal(answer.status, 401);
      assert.equal(answer.contentType, "application/json");
      const Refused = Type.Object({ success: Type.Literal(false), error: Text, msg: Text });
      bodyOf(Refused, { ...answer, status: 200 });
    }
  });
});
