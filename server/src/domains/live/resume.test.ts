import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { soon, testApp, type TestApp } from "../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../test/support/fixtures.ts";
import { LiveFollower } from "../../../../test/support/live-follower.ts";
import { rent } from "../../../../test/support/rentals.ts";
import "../../../../test/support/seed.ts";

const LOOK_MS = 250;
const SECONDS_MS = 3_000;
const INSERT = `insert into notices (user_id, kind, subject, message, key, created_at)
  values ($1, 'client:outbid', $2, 'It changed.', $2, now()) returning id::integer`;

describe("a stream", () => {
  let app: TestApp;
  let other: TestApp;
  /** Closing functions of each server, in the order in which they run. */
  const cleanups: (() => Promise<void>)[][] = [[], []];
  const followers: LiveFollower[] = [];
  let keyCount = 0;

  before(async () => {
    const t = (index: number) => ({ after: (fn: unknown) => void cleanups[index]?.push(fn as () => Promise<void>) });
    app = await testApp(t(0));
    other = await testApp(t(1), { env: app.env, clock: app.clock });
  });
  after(async () => {
    await Promise.all(followers.map((follower) => follower.close()));
    // The database belongs to the first one.
    for (const cleanup of cleanups.toReversed().flat()) await cleanup();
  });

  const follow = async (
    secret: string,
    options: { readonly kinds?: string; readonly after?: string; readonly at?: TestApp } = {},
  ) => {
    const { at = app, ...asked } = options;
    const follower = await LiveFollower.connect(`http://${at.origin}`, { secret, ...asked });
    followers.push(follower);
    await soon("a stream to begin", () => follower.of("ready").length > 0);
    return follower;
  };
  const passing = (what: string, probe: () => boolean, stepMs = LOOK_MS) =>
    soon(what, () => {
      if (probe()) return true;
      app.clock.advance(stepMs);
      return false;
    });
  const post = async (user: TestCaller, text = `event ${(keyCount += 1)}`): Promise<number> => {
    const { rows } = await app.env.pool.query<{ id: number }>(INSERT, [user.id, text]);
    return rows[0]?.id ?? 0;
  };
  const status = (secret: string, query: string, headers: Readonly<Record<string, string>> = {}) =>
    app.call({ method: "GET", url: `/api/v0/events/?${query}`, secret, headers });

  test("does not tell of changes that came before anybody followed", async () => {
    const user = await app.caller();
    await post(user);
    const follower = await follow(user.secret, { kinds: "notification" });
    const id = await post(user);
    await passing("the change that came later", () => follower.of("notification").length > 0);
    assert.deepEqual(
      follower.of("notification").map(({ data }) => data["id"]),
      [id],
    );
  });

  test("resumes at another server behind what was heard, and hears each change once", async () => {
    const user = await app.caller();
    const first = await follow(user.secret, { kinds: "notification" });
    const ids = [await post(user), await post(user)];
    await passing("two events", () => first.of("notification").length === 2);
    await first.close();
    ids.push(await post(user), await post(user));
    const second = await follow(user.secret, { kinds: "notification", after: first.lastEventId ?? "", at: other });
    ids.push(await post(user));
    await passing("the rest", () => second.of("notification").length >= 3);
    const told = [...first.changes("notification"), ...second.changes("notification")];
    assert.deepEqual(
      told,
      ids.map((id) => `created ${id}`),
    );
    assert.deepEqual(second.of("ready")[0]?.data, { resumed: true });
  });

  test("loses nothing when transactions commit in another order than they wrote", async () => {
    const user = await app.caller();
    const [here, there] = [
      await follow(user.secret, { kinds: "notification" }),
      await follow(user.secret, { kinds: "notification", at: other }),
    ];
    const slow = await app.env.pool.connect();
    try {
      await slow.query("begin");
      const { rows } = await slow.query<{ id: number }>(INSERT, [user.id, `slow ${user.id}`]);
      const quick = await post(user);
      await passing("the quick one", () => here.of("notification").length > 0 && there.of("notification").length > 0);
      const place = here.lastEventId ?? "";
      await slow.query("commit");
      const expected = [`created ${quick}`, `created ${rows[0]?.id}`];
      for (const follower of [here, there]) {
        await passing("the slow one", () => follower.of("notification").length > 1);
        assert.deepEqual(follower.changes("notification"), expected);
      }
      const late = await follow(user.secret, { kinds: "notification", after: place });
      assert.deepEqual(late.changes("notification"), expected.slice(1));
    } finally {
      // A step that failed must not leave its transaction to the pool.
      slow.release(true);
    }
  });

  test("tells a client that was away too long, or comes from another database, to read everything again", async () => {
    const user = await app.caller();
    const first = await follow(user.secret, { kinds: "notification" });
    await post(user);
    await passing("an event", () => first.of("notification").length === 1);
    const place = first.lastEventId ?? "";
    await post(user);
    await app.env.pool.query("update live_changes set written_at = now() - interval '2 hours'");
    await app.runLoop("forget-live-changes");
    for (const after of [place, "999999999999"]) {
      const late = await follow(user.secret, { kinds: "notification", after });
      assert.deepEqual(
        late.heard.map(({ event }) => event),
        ["reset", "ready"],
      );
      assert.ok(Number(late.lastEventId) > 0);
    }
  });

  test("shows a key no more than it may read", async () => {
    const user = await app.caller();
    const [one, two] = [await rent(app, user, await app.host()), await rent(app, user, await app.host())];
    const keyWith = async (api: object) =>
      (await inTransaction(app.env.database, (tx) => aKey(tx, user, { permissions: { api } }))).secret;
    const narrow = await keyWith({ instance_read: { "api.instance.show": { constraints: { id: { eq: one } } } } });
    const inside = await keyWith({});
    await app.env.pool.query("update api_keys set instance_id = $1 where id = (select max(id) from api_keys)", [one]);
    const [byNarrow, byInstance] = [await follow(narrow), await follow(inside)];
    for (const id of [one, two]) {
      await app.env.pool.query("update instances set label = 'changed' where id = $1", [id]);
    }
    await post(user);
    const all = await follow(user.secret, { after: "0" });
    await passing("the last one", () => all.of("notification").length > 0);
    for (const follower of [byNarrow, byInstance]) {
      await passing("its instance", () => follower.of("instance").length > 0);
      assert.deepEqual(new Set(follower.of("instance").map(({ data }) => data["id"])), new Set([one]));
      assert.deepEqual([...follower.of("notification"), ...follower.of("balance")], []);
    }
    assert.deepEqual((await status(narrow, "kinds=balance")).status, 403);
    assert.deepEqual((await status(inside, "kinds=offer")).status, 403);
    const without = await keyWith({});
    assert.deepEqual((await status(without, "kinds=instance")).status, 403);
    assert.deepEqual((await status(without, "kinds=offer&follow=false")).status, 200, "offers are public");
  });

  test("refuses what it does not understand, and names the field", async () => {
    const { secret } = await app.caller();
    for (const [query, field] of [
      ["kinds=instance,nothing", "kinds"],
      ["kinds=", "kinds"],
      ["last_event_id=x", "last_event_id"],
      ["last_event_id=-1", "last_event_id"],
      ["follow=maybe", "follow"],
    ] as const) {
      const answer = await status(secret, query);
      assert.deepEqual([answer.status, answer.body.field], [400, field], query);
    }
    assert.equal((await status(secret, "", { "last-event-id": "1;2" })).status, 400);
    assert.equal((await status("wrong", "")).status, 401);
  });

  test("ends within seconds when its key is deleted or its account is frozen", async () => {
    for (const change of [
      "update api_keys set deleted_at = now() where user_id = $1",
      "update users set deleted_at = now() where id = $1",
      'update api_keys set permissions = \'{"api": {"user_read": {}}}\' where user_id = $1',
    ]) {
      const user = await app.caller();
      const [mine, others] = [await follow(user.secret), await follow((await app.caller()).secret)];
      await app.env.pool.query(change, [user.id]);
      await passing("its end", () => mine.isOver, SECONDS_MS);
      assert.equal(others.isOver, false);
    }
  });

  test(
    "gives a picture that equals the database, through any changes and lost connections",
    { timeout: 900_000 },
    async () => {
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.constant("post" as const) },
        { weight: 3, arbitrary: fc.constant("read" as const) },
        { weight: 2, arbitrary: fc.constant("look" as const) },
        { weight: 1, arbitrary: fc.constant("reconnect here" as const) },
        { weight: 1, arbitrary: fc.constant("reconnect there" as const) },
      );
      const run = async (steps: readonly string[]) => {
        const user = await app.caller();
        let follower = await follow(user.secret, { kinds: "notification" });
        const heard = [follower];
        for (const one of steps) {
          if (one === "post") await post(user);
          if (one === "read") {
            await app.env.pool.query(
              "update notices set read_at = now() where id = (select min(id) from notices where user_id = $1 and read_at is null)",
              [user.id],
            );
          }
          if (one === "look") app.clock.advance(LOOK_MS);
          if (one.startsWith("reconnect")) {
            await follower.close();
            const at = one.endsWith("here") ? app : other;
            follower = await follow(user.secret, { kinds: "notification", after: follower.lastEventId ?? "", at });
            heard.push(follower);
          }
        }
        const last = await post(user);
        await passing("the last change", () => follower.changes("notification").includes(`created ${last}`));
        const events = heard.flatMap((each) => each.of("notification"));
        const picture = new Map(events.map(({ data }) => [data["id"], data["is_read"]]));
        const { rows } = await app.env.pool.query(
          "select id::integer, read_at is not null as is_read from notices where user_id = $1 order by id",
          [user.id],
        );
        assert.deepEqual(picture, new Map(rows.map(({ id, is_read: isRead }) => [id, isRead])));
        const places = events.map(({ id }) => Number(id));
        assert.deepEqual(
          places,
          [...new Set(places)].toSorted((a, b) => a - b),
          "each once, in order",
        );
        await follower.close();
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), run), { numRuns: 15 });
    },
  );
});
