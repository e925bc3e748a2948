export { codeKey } from "./rules/codes.ts";
export { signInRoutes } from "./routes.ts";
export { viewLoops } from "./see-as/service.ts";
export { createSmsSender, type SmsSender, type SmsSettings } from "./sms.ts";
export { createIssuerClient } from "./sso/issuer-client.ts";
export type { SsoMeans } from "./sso/means.ts";
export type { GroupRole, SsoSettings } from "./sso/settings.ts";
export { issueToken, pathOf } from "./tokens/tokens.ts";
export type { BrowserSettings } from "./means.ts";
