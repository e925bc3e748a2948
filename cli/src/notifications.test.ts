import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const WEBHOOK = {
  id: 3,
  user_id: 1,
  name: "Ops",
  webhook_url: "https://example.com/hook",
  event_types: ["client:low_credit", "client:outbid"],
  created_at: 0,
  updated_at: 0,
};

test("notifications are shown newest first with their deliveries, and marked as read when asked", async (t) => {
  const notice = {
    id: 9,
    event_id: "evt_9",
    type: "client:outbid",
    subject: "Instance 12 was outbid",
    message: "It has to leave.\u001b[31m",
    created_at: 1_777_593_600,
    read_at: null,
    deliveries: [
      {
        channel: "webhook",
        webhook_id: 3,
        state: "due",
        attempt_count: 1,
        outcome: "answered 503",
        next_attempt_at: 1_777_593_700,
        ended_at: null,
      },
    ],
  };
  const list = { success: true, notices: [notice], unread_count: 1, next_token: null };
  const { received, berth } = await answer(t, {
    "GET /api/v0/notices/": { body: list },
    "PUT /api/v0/notices/": { body: { success: true, marked: 1, unread_count: 0 } },
  });
  const shown = await berth("notices", "--limit", "5", "--unread", "--mark-read");
  assert.equal(
    shown.stdout,
    "2026-05-01 00:00 UTC  Instance 12 was outbid (new)  [client:outbid]\nIt has to leave.\u{FFFD}[31m\n  webhook 3: due, answered 503\n\n1 unread.\n",
  );
  assert.deepEqual(
    received.map(([call]) => call),
    ["GET /api/v0/notices/?limit=5&unread=true", "PUT /api/v0/notices/"],
  );
  assert.deepEqual(received[1]?.[1], { up_to_id: 9 });
});

test("a new webhook's secret is shown with how to try it, and a test that fails ends with 1", async (t) => {
  const created = {
    success: true,
    webhook: { ...WEBHOOK, webhook_secret: "whsec_x" },
    enabled_notification_preferences: [],
  };
  const { received, berth } = await answer(t, {
    "POST /api/v0/webhooks/": { body: created },
    "POST /api/v0/webhooks/3/test/": { body: { success: false, msg: "The test event was not delivered." } },
  });
  const made = await berth("webhook", "create", WEBHOOK.webhook_url, ...WEBHOOK.event_types, "--name", "Ops");
  assert.match(
    made.stdout,
    /^Webhook 3 gets notifications of client:low_credit, client:outbid\.\n.*: whsec_x\n.*webhook test 3\n$/,
  );
  assert.deepEqual(received, [
    ["POST /api/v0/webhooks/", { webhook_url: WEBHOOK.webhook_url, event_types: WEBHOOK.event_types, name: "Ops" }],
  ]);
  const tested = await berth("webhook", "test", "3");
  assert.deepEqual([tested.stdout, tested.code], ["The test event was not delivered.\n", 1]);
});

test("one preference is changed, and the others are sent along as they are", async (t) => {
  const path = "/api/v0/users/me/notification-prefs/";
  const present = {
    client: { outbid: { email: true, webhooks: false }, low_credit: { email: false, webhooks: true } },
    host: {},
  };
  const changed = { ...present, client: { ...present.client, outbid: { email: false, webhooks: false } } };
  const { received, berth } = await answer(t, {
    [`GET ${path}`]: { body: { success: true, notification_preferences: present } },
    [`PUT ${path}`]: { body: { success: true, notification_preferences: changed } },
  });
  const set = await berth("notification", "set", "client:outbid", "--email", "off");
  assert.equal(set.stdout, "client:outbid: e-mail off, webhooks off.\n");
  assert.deepEqual(received.at(-1), [`PUT ${path}`, { notification_preferences: changed }]);
  assert.notEqual((await berth("notification", "set", "client:outbid")).code, 0);
});
