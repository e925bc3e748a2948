import type { Static } from "typebox";
import type { Clock } from "../../../base/clock.ts";
import type { Identity } from "../../../base/identity.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader } from "../../../db/transaction.ts";
import { signedRequest } from "../delivery/rules/event.ts";
import type { TestedWebhook } from "../schema.ts";
import type { WebhookClient } from "./client.ts";
import { noSuchWebhook, toWebhookId } from "./service.ts";
import { listTargets, encryptionContextOf } from "./store.ts";

export type TestPorts = {
  readonly clock: Clock;
  readonly random: (byteCount: number) => Buffer;
  readonly encryption: Encryption;
  readonly callWebhook: WebhookClient;
};

/**
 * Calls a webhook once with the event `webhook_test`, and returns the outcome. The event is not stored and never
 * repeated.
 */
export async function testWebhook(
  db: Reader,
  { userId }: Identity,
  text: string,
  { clock, random, encryption, callWebhook }: TestPorts,
): Promise<Static<typeof TestedWebhook>> {
  const id = toWebhookId(text);
  const target = id && (await listTargets(db, [id])).get(id);
  if (id === undefined || target?.userId !== userId) throw noSuchWebhook(text);
  const named = { webhook_id: id, event_id: `evt_test_${random(12).toString("hex")}` };
  const secret = encryption.decrypt(target.encryptedSecret, encryptionContextOf(id));
  if (secret === undefined) {
    const msg = `The secret of webhook ${id} cannot be read any more. Rotate it, and try again.`;
    return { success: false, msg, ...named };
  }
  const now = clock.now();
  const event = {
    eventId: named.event_id,
    userId,
    kind: "client:webhook_test",
    subject: "A test of your webhook",
    message: `Webhook ${id} was asked to be tested. There is nothing to do.`,
    createdAt: now,
  };
  const request = signedRequest(event, { secret, attempt: 1, now });
  const outcome = await callWebhook(target.url, request, new AbortController().signal);
  return outcome.kind === "delivered"
    ? { success: true, msg: `The test event was delivered: the receiver ${outcome.text}.`, ...named }
    : { success: false, msg: `The test event was not delivered: the receiver ${outcome.text}.`, ...named };
}
