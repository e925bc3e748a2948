// The rows of events, of notifications, of what is told by which channel, and of webhooks.
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, onUser, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

const PATH = "/api/v0/webhooks/";
/** An address that is never called, since it is not public. */
const BODY = { webhook_url: "https://192.0.2.1/hook", event_types: ["client:low_credit"] };

/** Deletes the user's webhooks, of which an account may have only some. */
async function clear(world: World, user: TestCaller): Promise<void> {
  const { webhooks } = await world.done("GET", at(PATH), user);
  for (const { id } of webhooks as readonly { readonly id: number }[]) {
    await world.done("DELETE", at(`${PATH}${id}/`), user);
  }
}

async function aWebhook(world: World, user: TestCaller): Promise<number> {
  await clear(world, user);
  const { webhook } = await world.done("POST", at(PATH, BODY), user);
  return (webhook as { readonly id: number }).id;
}

const onWebhook = (aim: (id: string | number) => string, body?: unknown): Row =>
  onObject("user_write", "id", aWebhook, (id) => at(aim(id), body));

const preferences = (id: string | number) => `/api/v0/users/${id}/notification-prefs/`;

export const notificationEndpoints = {
  // The key needs what the kinds need that it asks for.
  "GET /api/v0/events/": plain("user_read", "/api/v0/events/?follow=false&kinds=balance"),
  "GET /api/v0/notices/": plain("user_read", "/api/v0/notices/"),
  "PUT /api/v0/notices/": plain("user_write", "/api/v0/notices/", { up_to_id: 1_000_000 }),
  "GET /api/v0/notification-types/": plain("user_read", "/api/v0/notification-types/"),
  "GET /api/v0/users/{user_id}/notification-prefs/": onUser("user_read", preferences),
  "PUT /api/v0/users/{user_id}/notification-prefs/": onObject(
    "user_write",
    "user_id",
    async (_world, user) => user.id,
    (id) => at(preferences(id), { notification_preferences: { client: { outbid: { email: false } } } }),
  ),
  "GET /api/v0/webhooks/": plain("user_read", PATH),
  "POST /api/v0/webhooks/": {
    needs: "user_write",
    call: async (world) => {
      await clear(world, world.owner);
      return at(PATH, BODY);
    },
  },
  "GET /api/v0/webhooks/{id}/deliveries/": onObject("user_read", "id", aWebhook, (id) =>
    at(`${PATH}${id}/deliveries/`),
  ),
  "PUT /api/v0/webhooks/{id}/": onWebhook((id) => `${PATH}${id}/`, { name: "Ops" }),
  "DELETE /api/v0/webhooks/{id}/": onWebhook((id) => `${PATH}${id}/`),
  "POST /api/v0/webhooks/{id}/rotate-secret/": onWebhook((id) => `${PATH}${id}/rotate-secret/`),
  "POST /api/v0/webhooks/{id}/test/": onWebhook((id) => `${PATH}${id}/test/`),
} satisfies Readonly<Record<string, Row>>;
