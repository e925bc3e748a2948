import assert from "node:assert/strict";
import { test } from "node:test";
import { aCaller } from "../../../../../test/support/fixtures.ts";
import { aReceiver, notificationsHttp } from "../../../../../test/support/notifications.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { notificationLoops } from "../loops.ts";
import { postNotifications } from "../notification-store.ts";

const DAY_MS = 86_400_000;

test("a notification can be read for 90 days, and one on its way is not deleted before it is delivered or given up", async (t) => {
  const env = await testDatabase(t);
  const http = await notificationsHttp(t, env);
  const caller = await aCaller(env.database);
  const receiver = await aReceiver(t, (_call, response) => {
    response.statusCode = 500;
    response.end();
  });
  const body = { webhook_url: receiver.url, event_types: ["client:low_credit"] };
  await http.call({ method: "POST", url: "/api/v0/webhooks/", secret: caller.secret, body });
  const [forget] = notificationLoops({ database: env.database, clock: http.clock });
  const tell = (key: string) =>
    withTransaction(env.database, http.clock, (tx) =>
      postNotifications(tx, [{ userId: caller.id, kind: "client:low_credit", subject: key, message: "m", key }]),
    );
  const left = async () => {
    await forget?.run();
    const { body: shown } = await http.call({ url: "/api/v0/notices/", secret: caller.secret });
    return shown.notices.map(({ subject }: { readonly subject: string }) => subject);
  };
  await tell("first");
  await http.deliver();
  http.clock.jump(90 * DAY_MS - 1);
  await tell("second");
  assert.deepEqual(await left(), ["second", "first"]);
  http.clock.jump(2);
  assert.deepEqual(await left(), ["second", "first"], "its delivery is due still");
  await http.deliver();
  assert.deepEqual(await left(), ["second"]);
  const { rows } = await env.pool.query("select count(*)::integer as count from notice_deliveries");
  assert.deepEqual(rows, [{ count: 1 }]);
});
