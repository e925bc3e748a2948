export { Deliverer } from "./deliverer.ts";
export { mailQueue, type QueueMail } from "./direct-mail.ts";
export { DELIVER_LOOP, deliverLoop, mailLoop, noticeLoops } from "./loops.ts";
export { createMailer, type MailSettings } from "./mailer.ts";
export { NOTICES_CHANNEL, postNotices, postWantedNotices, type Notice } from "./notice-store.ts";
export { noticeRoutes, type NoticePorts } from "./routes.ts";
export { createWebhookClient, resolveBySystem, resolverByDns, type Resolve } from "./webhook-client.ts";
