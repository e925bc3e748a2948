import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { asId, type UserId, type WebhookId } from "../../../base/ids.ts";
import { mailOf } from "./rules/mail.ts";
import { findNotificationType, NOTIFICATION_TYPES } from "../rules/notification-types.ts";
import { planDeliveries } from "./rules/plan.ts";

const [ANN, BOB] = [asId<UserId>(1), asId<UserId>(2)];
const AT = new Date(0);
const hook = (id: number, userId: UserId, ...eventTypes: readonly string[]) => ({
  id: asId<WebhookId>(id),
  userId,
  name: undefined,
  url: "https://example.com/",
  eventTypes,
  createdAt: AT,
  updatedAt: AT,
});

test("a notification goes by the channels that its user wants for its kind, to the webhooks that subscribed to it", () => {
  const notification = (id: bigint, userId: UserId, kind: string) => ({ id, userId, kind });
  const plan = planDeliveries(
    [
      notification(1n, ANN, "client:low_credit"),
      notification(2n, ANN, "client:outbid"),
      notification(3n, BOB, "client:low_credit"),
      notification(4n, BOB, "client:instance_started"),
      notification(5n, BOB, "client:team_invite"),
      notification(6n, BOB, "client:of_a_later_version"),
    ],
    {
      preferences: [
        { userId: ANN, kind: "client:low_credit", email: false, webhooks: true },
        { userId: ANN, kind: "client:outbid", email: true, webhooks: false },
        { userId: BOB, kind: "client:team_invite", email: false, webhooks: false },
      ],
      webhooks: [
        hook(7, ANN, "client:low_credit", "client:outbid"),
        hook(8, ANN, "client:low_credit"),
        hook(9, BOB, "client:low_credit"),
      ],
      canMail: true,
    },
  );
  assert.deepEqual(
    plan.map(({ notificationId, webhookId }) => [notificationId, webhookId]),
    [
      [1n, 7],
      [1n, 8],
      [2n, undefined],
      [3n, undefined],
      [5n, undefined],
    ],
  );
});

test("without a mail server no mail is planned", () => {
  const notifications = [{ id: 1n, userId: ANN, kind: "client:low_credit" }];
  assert.deepEqual(planDeliveries(notifications, { preferences: [], webhooks: [], canMail: false }), []);
});

test("every kind that the server tells is in the list of types, and every type is told somewhere", () => {
  const root = path.join(import.meta.dirname, "../../..");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.endsWith("notification-types.ts"),
  );
  const kinds = files.flatMap((file) =>
    [...readFileSync(path.join(root, file), "utf8").matchAll(/["`]((?:client|host):[a-z][a-z0-9_]+)["`]/g)].map(
      ([, kind = ""]) => kind,
    ),
  );
  const untold = NOTIFICATION_TYPES.filter(({ key }) => !kinds.includes(key));
  assert.deepEqual(untold, []);
  const unknown = kinds.filter((kind) => kind !== "client:webhook_test" && findNotificationType(kind) === undefined);
  assert.deepEqual(unknown, []);
});

test("each notification type is documented, with whether it is mailed, and no other type is", () => {
  const text = readFileSync(path.join(import.meta.dirname, "../../../../../docs/notifications.md"), "utf8");
  const rows = [...text.matchAll(/^\| `((?:client|host):\w+)` +\| (\w+) +\|/gm)];
  const told = NOTIFICATION_TYPES.map(({ key, defaults, isEmailMandatory }) => {
    const mailed = defaults.email ? "yes" : "no";
    return `${key} ${isEmailMandatory ? "always" : mailed}`;
  });
  assert.deepEqual(rows.map(([, key, mailed]) => `${key} ${mailed}`).toSorted(), told.toSorted());
});

test("a subject cannot become another header, and a repeated mail has the same id", () => {
  const event = {
    eventId: "evt_5",
    userId: ANN,
    kind: "client:outbid",
    subject: "Hello\r\nBcc: everybody@example.com\u2028\u0000!",
    message: "one\r\ntwo",
    createdAt: AT,
  };
  const mail = mailOf(event, { to: "ann@example.com", from: "Berth <berth@market.example>" });
  assert.equal(mail.subject, "Hello Bcc: everybody@example.com !");
  assert.equal(mail.messageId, "<evt_5@market.example>");
  assert.ok(mail.text.startsWith("one\ntwo\n\n-- \n"));
});
