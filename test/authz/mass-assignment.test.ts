// Fields that a request may not set: values under their names are ignored or refused, and never stored.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endpoints } from "./endpoints.ts";
import { callerOf, type Row } from "./row.ts";
import { listOperations, type ApiOperation } from "./openapi.ts";
import { anInstance, makeWorld, type World } from "./world.ts";

const CANARY_TEXT = "canary-mass-assignment";
const CANARY_NUMBER = 987_654_321;

/** Columns of the tables, names of the records, and names that reach into an object's prototype. */
const NAMES = [
  ..."id user_id userId owner owner_id creator_id creatorId host_id machine_id instance_id api_key_id key_id".split(
    " ",
  ),
  ..."is_admin isAdmin admin role rights is_trusted is_host_only team_id account_id client_id".split(" "),
  ..."balance balance_nanos held_nanos floor_nanos credit credit_balance amount_nanos price_nanos_per_hour".split(" "),
  ..."storage_nanos_per_gb_month min_bid dph_total discount discount_rate verification verified email_verified".split(
    " ",
  ),
  ..."created_at updated_at deleted_at end_at ended_at granted_at released_at expires_at".split(" "),
  ..."phase desired generation observed_state actual_status hold_id lease_id is_bid deadline_at state_machine".split(
    " ",
  ),
  ..."recommended is_recommended count_created recent_create_date recent_create_at hash password_hash".split(" "),
  ..."key key_sha256 key_prefix api_key secret new_api_key token token_sha256 session permissions_override".split(" "),
  ..."constructor prototype toString hasOwnProperty success error".split(" "),
];

describe("fields that nobody may set", () => {
  let world: World;
  let operations: readonly ApiOperation[];
  const cleanups: (() => Promise<void>)[] = [];

  before(async () => {
    world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
    operations = (await listOperations()).filter(({ body }) => body !== undefined);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  /** Names that mean nothing to this operation: those that it documents are left out. */
  const strangeNames = ({ body, parameters }: ApiOperation) => {
    const known = new Set([...Object.keys(body?.properties ?? {}), ...parameters.map(({ name }) => name)]);
    return NAMES.filter((name) => !known.has(name));
  };
  const rowsWith = async (text: string): Promise<readonly string[]> => {
    const { rows } = await world.database.pool.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by 1",
    );
    const found = await Promise.all(
      rows.map(async ({ name }) => {
        const query = `select t::text as line from ${name} t where t::text like '%' || $1 || '%' limit 3`;
        const { rows: lines } = await world.database.pool.query<{ line: string }>(query, [text]);
        return lines.map(({ line }) => `${name}: ${line}`);
      }),
    );
    return found.flat();
  };
  const privileges = async () => {
    const { rows } = await world.database.pool.query(
      `select (select count(*) from users where is_admin)::int as admins,
         (select count(*) from agent_credentials where not is_trusted and fingerprint is null)::int as untrusted,
         (select count(*) from agent_credentials where is_trusted and fingerprint is not null)::int as trusted,
         (select count(*) from join_tokens where is_trusted)::int as operators,
         (select count(*) from templates where is_recommended)::int as recommended`,
    );
    return rows[0];
  };

  for (const [kind, value] of [
    ["text", CANARY_TEXT],
    ["a number", CANARY_NUMBER],
    ["true", true],
    ["an object", { [CANARY_TEXT]: CANARY_TEXT }],
    ["null", null],
  ] as const) {
    test(`${kind} under such a name is never stored, and never comes back`, async () => {
      const before = await privileges();
      for (const operation of operations) {
        const row: Row | undefined = Object.entries(endpoints).find(([name]) => name === operation.name)?.[1];
        assert.ok(row !== undefined, operation.name);
        const target = await row.call(world);
        const names = strangeNames(operation);
        const body = { ...asObject(target.body), ...Object.fromEntries(names.map((name) => [name, value])) };
        const { secret } = await callerOf(row, world);
        const answer = await world.send(operation.method, { ...target, body }, secret);
        assert.ok(
          [200, row.answers].includes(answer.status) || (answer.status >= 400 && answer.status < 500),
          `${operation.name}: ${answer.text}`,
        );
        if (answer.status === 200) assert.ok(!answer.text.includes(CANARY_TEXT), `${operation.name}: ${answer.text}`);
      }
      assert.deepEqual(await rowsWith(CANARY_TEXT), []);
      assert.deepEqual(await rowsWith(String(CANARY_NUMBER)), []);
      assert.deepEqual(await privileges(), before);
    });
  }

  test("a key named __proto__ changes nothing for anybody", async () => {
    const poison = `{"name":"x","image":"alpine","__proto__":{"isAdmin":true,"${CANARY_TEXT}":1}}`;
    const response = await world.app.http.app.inject({
      method: "POST",
      url: "/api/v0/template/",
      headers: { authorization: `Bearer ${world.owner.secret}`, "content-type": "application/json" },
      payload: poison,
    });
    assert.equal(response.statusCode, 400);
    assert.equal(Reflect.get({}, CANARY_TEXT), undefined);
    assert.equal((await world.send("GET", { path: "/metrics" }, world.owner.secret)).status, 403);
  });

  test("the caller's own credit moves, even when client_id, user_id or apikey_id names somebody else", async () => {
    const { owner, stranger } = world;
    const creditOf = async (secret: string) =>
      Number((await world.done("GET", { path: "/api/v0/users/current/" }, { secret }))["credit"]);
    const before = [await creditOf(owner.secret), await creditOf(stranger.secret)] as const;
    const body = {
      recipient: stranger.email,
      amount: 7,
      client_id: String(stranger.id),
      user_id: stranger.id,
      apikey_id: String(stranger.key.id),
    };
    await world.done("PUT", { path: "/api/v0/commands/transfer_credit/", body }, owner);
    assert.deepEqual([await creditOf(owner.secret), await creditOf(stranger.secret)], [before[0] - 7, before[1] + 7]);
  });

  test("an id in the body does not aim a call elsewhere than its path", async () => {
    const { owner } = world;
    const [named, other] = [await anInstance(world, owner), await anInstance(world, owner)];
    const body = { id: other.id, instance_id: other.id, label: "aimed", state: "stopped" };
    await world.done("PUT", { path: `/api/v0/instances/${named.id}/`, body }, owner);
    const { rows } = await world.database.pool.query(
      "select id, label, desired from instances where id = any ($1) order by id",
      [[named.id, other.id]],
    );
    assert.deepEqual(rows, [
      { id: named.id, label: "aimed", desired: "stopped" },
      { id: other.id, label: null, desired: "running" },
    ]);
  });
});

function asObject(body: unknown): object {
  return typeof body === "object" && body !== null ? body : {};
}
