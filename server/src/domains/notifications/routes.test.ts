import assert from "node:assert/strict";
import { test } from "node:test";
import { aCaller, inTransaction } from "../../../../test/support/fixtures.ts";
import { notificationsHttp } from "../../../../test/support/notifications.ts";
import { testDatabase } from "../../../../test/support/database/postgres.ts";
import { NOTIFICATION_TYPES } from "./rules/notification-types.ts";
import { postNotifications, postWantedNotifications } from "./notification-store.ts";

const WEBHOOKS = "/api/v0/webhooks/";
const PREFERENCES = "/api/v0/users/me/notification-prefs/";
const NOTIFICATIONS = "/api/v0/notices/";
const HOOK = { webhook_url: "https://example.com/hook", event_types: ["client:low_credit"] };

test("the list of types holds every published slug, with defaults, and each once", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { secret } = await aCaller(http.scope.database);
  const { status, body } = await http.call({ url: "/api/v0/notification-types/", secret });
  assert.equal(status, 200);
  const types: readonly Record<string, unknown>[] = body.notification_types;
  const keys = types.map(({ key }) => key);
  for (const slug of ["client:low_credit", "client:outbid", "client:maintenance_scheduled"])
    assert.ok(keys.includes(slug));
  for (const slug of ["host:machine_offline", "host:machine_error"]) assert.ok(keys.includes(slug));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(
    types.find(({ key }) => key === "client:low_credit"),
    {
      key: "client:low_credit",
      slug: "low_credit",
      context: "client",
      topic: "billing",
      category: "billing",
      display_name: "Low credit",
      default_preferences: { email: true, webhooks: false },
      mandatory_email: false,
    },
  );
});

test("preferences are replaced as a whole: kinds that a document leaves out return to their default", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { secret, id } = await aCaller(http.scope.database);
  const put = (document: unknown) =>
    http.call({ method: "PUT", url: PREFERENCES, secret, body: { notification_preferences: document } });
  const first = await put({ client: { low_credit: { email: false, webhooks: true }, outbid: { webhooks: true } } });
  assert.equal(first.status, 200, first.text);
  const { client, host } = first.body.notification_preferences;
  assert.deepEqual(client.low_credit, { email: false, webhooks: true });
  assert.deepEqual(client.outbid, { email: true, webhooks: true });
  assert.deepEqual(host.machine_offline, { email: true, webhooks: false });
  assert.equal(Object.keys(client).length + Object.keys(host).length, NOTIFICATION_TYPES.length);
  const second = await put({ host: { machine_offline: { email: false } } });
  assert.deepEqual(second.body.notification_preferences.client.low_credit, { email: true, webhooks: false });
  for (const user of ["me", id]) {
    const shown = await http.call({ url: `/api/v0/users/${user}/notification-prefs/`, secret });
    assert.deepEqual(shown.body, second.body);
  }
});

test("a wrong preference is refused, named, and changes nothing", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { secret } = await aCaller(http.scope.database);
  const before = (await http.call({ url: PREFERENCES, secret })).body;
  const wrong: readonly [unknown, string][] = [
    [{ client: { low_credits: { email: true } } }, "notification_preferences.client.low_credits"],
    [{ guest: { low_credit: { email: true } } }, "notification_preferences.guest.low_credit"],
    [{ host: { low_credit: { email: true } } }, "notification_preferences.host.low_credit"],
    [{ client: { outbid: { sms: true } } }, "notification_preferences.client.outbid.sms"],
    [{ client: { team_invite: { email: false } } }, "notification_preferences.client.team_invite.email"],
    [{ client: { outbid: { email: "yes" } } }, "notification_preferences.client.outbid.email"],
    [undefined, "notification_preferences"],
  ];
  for (const [document, field] of wrong) {
    const body = document === undefined ? {} : { notification_preferences: document };
    const sent = await http.call({ method: "PUT", url: PREFERENCES, secret, body });
    assert.deepEqual([sent.status, sent.body.field], [400, field], sent.text);
  }
  assert.deepEqual((await http.call({ url: PREFERENCES, secret })).body, before);
});

test("a webhook is created, listed, changed and deleted, and its secret is shown at creation and replacement", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t), { isPrivateAllowed: false });
  const { secret } = await aCaller(http.scope.database);
  const made = await http.call({ method: "POST", url: WEBHOOKS, secret, body: { ...HOOK, name: "Ops" } });
  assert.equal(made.status, 200, made.text);
  const { webhook_secret: first, ...webhook } = made.body.webhook;
  assert.match(first, /^whsec_[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(made.body.enabled_notification_preferences, ["client:low_credit"]);
  assert.deepEqual((await http.call({ url: WEBHOOKS, secret })).body, { success: true, webhooks: [webhook] });
  const url = `${WEBHOOKS}${webhook.id}/`;
  const body = { name: null, event_types: ["client:low_credit", "client:outbid", "client:outbid"] };
  const changed = await http.call({ method: "PUT", url, secret, body });
  assert.deepEqual(changed.body.webhook, {
    ...webhook,
    name: null,
    event_types: ["client:low_credit", "client:outbid"],
  });
  assert.deepEqual(changed.body.enabled_notification_preferences, ["client:outbid"]);
  const rotated = await http.call({ method: "POST", url: `${url}rotate-secret/`, secret });
  assert.match(rotated.body.webhook.webhook_secret, /^whsec_/);
  assert.notEqual(rotated.body.webhook.webhook_secret, first);
  const shown = (await http.call({ url: PREFERENCES, secret })).body.notification_preferences;
  assert.deepEqual([shown.client.low_credit.webhooks, shown.client.outbid.webhooks], [true, true]);
  assert.deepEqual((await http.call({ method: "DELETE", url, secret })).body, { success: true });
  const { rows } = await http.scope.database.pool.query("select sealed_secret from webhooks");
  assert.deepEqual(rows, []);
});

test("a webhook's secret is encrypted in the database and in no log line", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { secret } = await aCaller(http.scope.database);
  const made = await http.call({ method: "POST", url: WEBHOOKS, secret, body: HOOK });
  const { webhook_secret: shown } = made.body.webhook;
  const { rows } = await http.scope.database.pool.query("select w::text as line from webhooks w");
  assert.equal(rows.length, 1);
  assert.ok(!rows[0].line.includes(shown) && !http.logged.join("").includes(shown));
});

test("a request for a webhook is checked, each mistake by its field", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t), { isPrivateAllowed: false });
  const { secret } = await aCaller(http.scope.database);
  const made = await http.call({ method: "POST", url: WEBHOOKS, secret, body: HOOK });
  const url = `${WEBHOOKS}${made.body.webhook.id}/`;
  const wrong: readonly [object, string][] = [
    [{ webhook_url: "http://example.com/" }, "webhook_url"],
    [{ webhook_url: "https://" }, "webhook_url"],
    [{ webhook_url: "example.com/hook" }, "webhook_url"],
    [{ webhook_url: "https://user:password@example.com/" }, "webhook_url"],
    [{ webhook_url: "https://example.com/a\nb" }, "webhook_url"],
    [{ webhook_url: `https://example.com/${"a".repeat(2048)}` }, "webhook_url"],
    [{ webhook_url: 5 }, "webhook_url"],
    [{ event_types: [] }, "event_types"],
    [{ event_types: ["client:low_credit", "low_credit"] }, "event_types[1]"],
    [{ event_types: ["client:webhook_test"] }, "event_types[0]"],
    [{ name: "n".repeat(121) }, "name"],
    [{ name: "a\u0007b" }, "name"],
  ];
  for (const [body, field] of wrong) {
    for (const [method, at, whole] of [
      ["POST", WEBHOOKS, { ...HOOK, ...body }],
      ["PUT", url, body],
    ] as const) {
      const answer = await http.call({ method, url: at, secret, body: whole });
      assert.deepEqual([answer.status, answer.body.field], [400, field], `${method} ${answer.text}`);
    }
  }
  for (const missing of ["webhook_url", "event_types"] as const) {
    const { [missing]: _, ...rest } = HOOK;
    const answer = await http.call({ method: "POST", url: WEBHOOKS, secret, body: rest });
    assert.deepEqual([answer.status, answer.body.field], [400, missing]);
  }
  assert.equal((await http.call({ url: WEBHOOKS, secret })).body.webhooks.length, 1);
});

test("an account gets at most four webhooks, also with concurrent requests", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { secret } = await aCaller(http.scope.database);
  const answers = await Promise.all(
    Array.from({ length: 7 }, () => http.call({ method: "POST", url: WEBHOOKS, secret, body: HOOK })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.error]),
    Array.from({ length: 3 }, () => [400, "max_webhooks"]),
  );
  assert.equal((await http.call({ url: WEBHOOKS, secret })).body.webhooks.length, 4);
});

test("another user's webhook is not found by any request", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const [owner, other] = [await aCaller(http.scope.database), await aCaller(http.scope.database)];
  const made = await http.call({ method: "POST", url: WEBHOOKS, secret: owner.secret, body: HOOK });
  for (const id of [made.body.webhook.id, 999_999, "99999999999"]) {
    for (const [method, path] of [
      ["PUT", ""],
      ["DELETE", ""],
      ["POST", "rotate-secret/"],
      ["POST", "test/"],
    ] as const) {
      const answer = await http.call({ method, url: `${WEBHOOKS}${id}/${path}`, secret: other.secret });
      assert.deepEqual([answer.status, answer.body.error], [404, "no_such_webhook"], `${method} ${path}`);
    }
  }
  assert.equal((await http.call({ url: WEBHOOKS, secret: owner.secret })).body.webhooks.length, 1);
});

test("notifications are read newest first, page by page, counted while unread, and marked once", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { database } = http.scope;
  const [reader, other] = [await aCaller(database), await aCaller(database)];
  const say = (userId: typeof reader.id, number: number) =>
    ({ userId, kind: "client:low_credit", subject: `s${number}`, message: "m", key: `k${number}` }) as const;
  await inTransaction(database, (tx) =>
    postNotifications(tx, [...[1, 2, 3, 4, 5].map((number) => say(reader.id, number)), say(other.id, 1)]),
  );
  await inTransaction(database, (tx) => postNotifications(tx, [say(reader.id, 5)]));
  const { secret } = reader;
  const first = (await http.call({ url: `${NOTIFICATIONS}?limit=3`, secret })).body;
  const subjects = (page: { readonly notices: readonly { readonly subject: string }[] }) =>
    page.notices.map(({ subject }) => subject);
  assert.deepEqual([subjects(first), first.unread_count], [["s5", "s4", "s3"], 5]);
  const second = (await http.call({ url: `${NOTIFICATIONS}?limit=3&after_token=${first.next_token}`, secret })).body;
  assert.deepEqual([subjects(second), second.next_token], [["s2", "s1"], null]);
  const mark = (body: unknown, as = secret) => http.call({ method: "PUT", url: NOTIFICATIONS, secret: as, body });
  const ids = first.notices.map(({ id }: { readonly id: number }) => id);
  assert.equal((await mark({ ids }, other.secret)).body.marked, 0);
  assert.deepEqual((await mark({ ids: [ids[0]] })).body, { success: true, marked: 1, unread_count: 4 });
  assert.deepEqual((await mark({ up_to_id: ids[2] })).body, { success: true, marked: 3, unread_count: 1 });
  assert.deepEqual(subjects((await http.call({ url: `${NOTIFICATIONS}?unread=true`, secret })).body), ["s4"]);
  assert.equal((await mark({})).status, 400);
  assert.equal((await mark({ ids: [1], up_to_id: 1 })).status, 400);
  for (const body of [{ ids: [1e300] }, { up_to_id: 1e22 }, { ids: [-1] }]) {
    assert.equal((await mark(body)).status, 400, JSON.stringify(body));
  }
  const bad = await http.call({ url: `${NOTIFICATIONS}?after_token=x`, secret });
  assert.deepEqual([bad.status, bad.body.error], [400, "invalid_token"]);
});

test("a wanted notification is posted only to users who asked for its kind", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const { database } = http.scope;
  const [asked, silent] = [await aCaller(database), await aCaller(database)];
  const body = { ...HOOK, event_types: ["client:instance_started"] };
  await http.call({ method: "POST", url: WEBHOOKS, secret: asked.secret, body });
  await inTransaction(database, (tx) =>
    postWantedNotifications(
      tx,
      [asked, silent].map(({ id }) => ({
        userId: id,
        kind: "client:instance_started",
        subject: "started",
        message: "it did",
        key: "k",
      })),
    ),
  );
  const countOf = async (secret: string) => (await http.call({ url: NOTIFICATIONS, secret })).body.notices.length;
  assert.deepEqual([await countOf(asked.secret), await countOf(silent.secret)], [1, 0]);
});

test("a key without the category may neither read nor write", async (t) => {
  const http = await notificationsHttp(t, await testDatabase(t));
  const reader = await aCaller(http.scope.database, { permissions: { api: { user_read: {} } } });
  assert.equal((await http.call({ url: WEBHOOKS })).status, 401);
  assert.equal((await http.call({ url: WEBHOOKS, secret: reader.secret })).status, 200);
  assert.equal((await http.call({ method: "POST", url: WEBHOOKS, secret: reader.secret, body: HOOK })).status, 403);
});
