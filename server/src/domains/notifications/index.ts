export { Deliverer } from "./delivery/deliverer.ts";
export { mailQueue, type QueueMail } from "./delivery/direct-mail.ts";
export { DELIVER_LOOP, deliverLoop, mailLoop, notificationLoops } from "./loops.ts";
export { createMailer, type MailSettings } from "./delivery/mailer.ts";
export {
  NOTIFICATIONS_CHANNEL,
  postNotifications,
  postWantedNotifications,
  type Notification,
} from "./notification-store.ts";
export { notificationRoutes, type NotificationPorts } from "./routes.ts";
export { createWebhookClient, resolveBySystem, resolverByDns, type Resolve } from "./webhooks/client.ts";
