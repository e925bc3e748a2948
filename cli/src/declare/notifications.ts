import { Option, type Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseCount, parseId } from "../parse.ts";

/** Notifications, their channels, and webhooks. */
export function declareNotificationCommands(program: Command): void {
  serverCommand(program, "notices", "read your notifications, newest first")
    .option("--unread", "only unread ones")
    .option("--limit <count>", "number to show, 100 at most", parseCount, 25)
    .option("--mark-read", "mark the shown notifications, and all older ones, as read")
    .action(async (options) => (await import("../commands/notification/list.ts")).listNotifications(options));
  declarePreferences(program);
  declareWebhooks(program);
}

function declarePreferences(program: Command): void {
  const notification = program.command("notification").description("notification types, and the channel of each");
  serverCommand(notification, "list", "list the notification types with your channels for each").action(
    async (options) => (await import("../commands/notification/list-preferences.ts")).listPreferences(options),
  );
  const channel = (flag: string, what: string) => new Option(`${flag} <on or off>`, what).choices(["on", "off"]);
  serverCommand(notification, "set", "choose the channels of a notification type")
    .argument("<type>", "such as client:low_credit, from `berth notification list`")
    .addOption(channel("--email", "by e-mail"))
    .addOption(channel("--webhooks", "by the webhooks that subscribe to it"))
    .action(async (type, options) =>
      (await import("../commands/notification/set-preference.ts")).setPreference(type, options),
    );
}

function declareWebhooks(program: Command): void {
  const webhook = program.command("webhook").description("addresses of yours that the server calls with notifications");
  serverCommand(webhook, "create", "add a webhook; its secret is shown this once")
    .argument("<address>", "an https address")
    .argument("<types...>", "notification types, such as client:low_credit")
    .option("--name <name>", "name of the webhook")
    .action(async (address, types, options) =>
      (await import("../commands/webhook/create.ts")).createWebhook(address, types, options),
    );
  serverCommand(webhook, "list", "list your webhooks").action(async (options) =>
    (await import("../commands/webhook/list.ts")).listWebhooks(options),
  );
  serverCommand(webhook, "update", "change a webhook; settings that are not given stay")
    .argument("<id>", "id of the webhook", parseId)
    .option("--address <address>", "another https address")
    .option("--types <types...>", "notification types from now on")
    .option("--name <name>", "another name; an empty text removes it")
    .action(async (id, options) => (await import("../commands/webhook/update.ts")).updateWebhook(id, options));
  const ofOne = (name: string, summary: string) =>
    serverCommand(webhook, name, summary).argument("<id>", "id of the webhook", parseId);
  ofOne("delete", "delete a webhook").action(async (id, options) =>
    (await import("../commands/webhook/delete.ts")).deleteWebhook(id, options),
  );
  ofOne("rotate", "give a webhook another secret; it is shown this once").action(async (id, options) =>
    (await import("../commands/webhook/rotate.ts")).rotateWebhook(id, options),
  );
  ofOne("deliveries", "list the newest deliveries to a webhook, with the answers").action(async (id, options) =>
    (await import("../commands/webhook/deliveries.ts")).listDeliveries(id, options),
  );
  ofOne("test", "call a webhook once with a test event").action(async (id, options) =>
    (await import("../commands/webhook/test.ts")).testWebhook(id, options),
  );
}
