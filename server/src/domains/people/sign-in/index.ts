export { codeKey } from "./rules/codes.ts";
export { signInRoutes } from "./routes.ts";
export { createSmsSender, type SmsSender, type SmsSettings } from "./sms.ts";
