export { Deliverer } from "./delivery/deliverer.ts";
export { mailQueue, type QueueMail } from "./delivery/direct-mail.ts";
export { DELIVER_LOOP, deliverLoop, mailLoop, noticeLoops } from "./loops.ts";
export { createMailer, type MailSettings } from "./delivery/mailer.ts";
export { NOTICES_CHANNEL, postNotices, postWantedNotices, type Notice } from "./notification-store.ts";
export { noticeRoutes, type NoticePorts } from "./routes.ts";
export { createWebhookClient, resolveBySystem, resolverByDns, type Resolve } from "./webhooks/client.ts";
