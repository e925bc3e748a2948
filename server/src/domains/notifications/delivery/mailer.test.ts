import assert from "node:assert/strict";
import { test } from "node:test";
import { aCaller } from "../../../../../test/support/fixtures.ts";
import { aReceiver, notificationsHttp } from "../../../../../test/support/notifications.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { anSmtpServer } from "../../../../../test/support/network/smtp-server.ts";
import { until } from "../../../../../test/support/until.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { setProven } from "../../people/accounts/emails/store.ts";
import { createMailer } from "./mailer.ts";
import { postNotifications } from "../notification-store.ts";

const FROM = "Berth <berth@market.example>";

test("a notification is mailed once as plain text to its user only, with any subject", async (t) => {
  const smtp = await anSmtpServer(t);
  const mailer = createMailer({ smtpUrl: smtp.url, from: FROM });
  const http = await notificationsHttp(t, await testDatabase(t), { mailer });
  const caller = await aCaller(http.scope.database, { email: "ann@example.com", username: "ann" });
  await withTransaction(http.scope.database, http.clock, (tx) =>
    postNotifications(tx, [
      {
        userId: caller.id,
        kind: "client:low_credit",
        subject: "Guthaben für zwei Stunden\r\nBcc: everybody@example.com",
        message: "Dear Ann,\n.\nyour credit lasts for two hours.",
        key: "one",
      },
      { userId: caller.id, kind: "client:instance_started", subject: "s", message: "not asked for", key: "two" },
    ]),
  );
  await http.deliver();
  await http.deliver();
  const [mail, ...others] = smtp.mails;
  assert.ok(mail !== undefined && others.length === 0);
  assert.deepEqual([mail.from, mail.to], ["berth@market.example", ["ann@example.com"]]);
  const head = mail.text.slice(0, mail.text.indexOf("\r\n\r\n"));
  assert.ok(!/^bcc:/im.test(head), head);
  assert.match(head, /^Content-Type: text\/plain; charset=utf-8/m);
  assert.match(head, /^Message-ID: <evt_\d+@market\.example>/im);
  assert.match(head, /^Auto-Submitted: auto-generated/m);
  assert.match(mail.text, /your credit lasts for two hours\./);
  const { body } = await http.call({ url: "/api/v0/notices/", secret: caller.secret });
  assert.deepEqual(
    body.notices.map(({ deliveries }: { readonly deliveries: readonly { readonly state: string }[] }) =>
      deliveries.map(({ state }) => state),
    ),
    [[], ["delivered"]],
  );
});

test("an unproven address is mailed nothing, and the account reads why", async (t) => {
  const smtp = await anSmtpServer(t);
  const [mailer, receiver] = [createMailer({ smtpUrl: smtp.url, from: FROM }), await aReceiver(t)];
  const http = await notificationsHttp(t, await testDatabase(t), { mailer });
  const caller = await aCaller(http.scope.database, { email: "stranger@example.com", provenBy: undefined });
  const hook = { webhook_url: receiver.url, event_types: ["client:low_credit"] };
  await http.call({ method: "POST", url: "/api/v0/webhooks/", secret: caller.secret, body: hook });
  const notification = { userId: caller.id, kind: "client:low_credit" as const, subject: "s", message: "m" };
  const tell = async (key: string) => {
    await withTransaction(http.scope.database, http.clock, (tx) => postNotifications(tx, [{ ...notification, key }]));
    await http.deliver();
  };
  await tell("one");
  assert.deepEqual([smtp.mails.length, receiver.calls.length], [0, 1]);
  const { text } = await http.call({ url: "/api/v0/notices/", secret: caller.secret });
  assert.match(text, /the account has proven no address/);
  await withTransaction(http.scope.database, http.clock, (tx) => setProven(tx, caller.id, "mail"));
  await tell("two");
  assert.deepEqual([smtp.mails.length, receiver.calls.length], [1, 2]);
});

test("a mail that the server refuses for good is given up; a postponed mail, or one to a server that is gone, is tried again", async (t) => {
  const smtp = await anSmtpServer(t, (recipient) =>
    recipient.startsWith("nobody") ? "550 no such mailbox" : recipient.startsWith("later") ? "451 later" : undefined,
  );
  const mail = { subject: "s", text: "t", messageId: "<a@b.example>" };
  const mailer = createMailer({ smtpUrl: smtp.url, from: FROM });
  t.after(() => mailer.close());
  assert.deepEqual(await mailer.send({ ...mail, to: "nobody@example.com" }), {
    kind: "refused",
    text: "the mail server answered 550",
  });
  assert.deepEqual(await mailer.send({ ...mail, to: "later@example.com" }), {
    kind: "retry",
    text: "the mail server answered 451",
  });
  const closing: (() => Promise<void> | void)[] = [];
  const gone = await anSmtpServer({ after: (close) => void closing.push(close) });
  for (const close of closing) await close();
  const toGone = createMailer({ smtpUrl: gone.url, from: FROM });
  t.after(() => toGone.close());
  assert.equal((await toGone.send({ ...mail, to: "ann@example.com" })).kind, "retry");
});

test("an address is one recipient, with any characters in it", async (t) => {
  const smtp = await anSmtpServer(t);
  const mailer = createMailer({ smtpUrl: smtp.url, from: FROM });
  t.after(() => mailer.close());
  await mailer.send({ to: "a@example.com, b@example.com", subject: "s", text: "t", messageId: "<a@b.example>" });
  assert.ok(smtp.mails.every(({ to }) => to.length <= 1));
});

test("a mail server that hangs delays no webhook, and no stop of the server", async (t) => {
  const hanging = { from: FROM, send: () => new Promise<never>(() => {}), close: () => {} };
  const http = await notificationsHttp(t, await testDatabase(t), { mailer: hanging });
  const { database } = http.scope;
  const crowd = await Promise.all(Array.from({ length: 20 }, () => aCaller(database)));
  const receiver = await aReceiver(t);
  const [first] = crowd;
  assert.ok(first !== undefined);
  const body = { webhook_url: receiver.url, event_types: ["client:low_credit"] };
  await http.call({ method: "POST", url: "/api/v0/webhooks/", secret: first.secret, body });
  await withTransaction(database, http.clock, (tx) =>
    postNotifications(
      tx,
      crowd.map(({ id }) => ({ userId: id, kind: "client:low_credit", subject: "s", message: "m", key: "k" })),
    ),
  );
  await http.deliverer.run();
  await until("the webhook is called", () => receiver.calls.length === 1);
  await http.deliverer.stop();
  const { rows } = await database.pool.query(
    "select outcome, count(*)::integer as count from notice_deliveries where channel = 'email' group by 1 order by 1",
  );
  assert.deepEqual(rows, [
    { outcome: "", count: 12 },
    { outcome: "interrupted by a stop of the server", count: 8 },
  ]);
});
