// Exports that only sign-in uses.
export {
  endSessions,
  endSessionsOfPerson,
  insertSession,
  isOpenedByKey,
  listSessions,
  listTeamSessions,
  lockOpener,
  type StoredSession,
  type TeamSession,
} from "./keys/session-store.ts";
export { holderOfSession } from "./keys/cookie-callers.ts";
export { renewCookiesOf } from "./keys/cookie-store.ts";
export { endViews, insertView, leaveView, type StoredView } from "./keys/view-store.ts";
export { findApiKey, type KeyHolder } from "./keys/store.ts";
export { newCookieKey } from "./keys/rules/keys.ts";
export { createIssuedAccount, readEmail } from "./users/issued-account.ts";
export { findUser as findLiveUser, listUsersByEmail } from "./users/store.ts";
export { lockAddress } from "./emails/store.ts";
export { tellAdministrators } from "./admin/administrators.ts";
export {
  findPasswordHash,
  findSignInAccount,
  hasOldHashes,
  replacePasswordHash,
  setAdmin,
  setPasswordHash,
  setTfa,
} from "./users/sign-in-store.ts";
export { hashPassword, isOutdatedHash, isPasswordOf } from "./users/password.ts";
export { createAccount, HOST_ONLY_PERMISSIONS, signupClosed } from "./users/service.ts";
export { findProvenUser, noSuchUser } from "./users/find-user.ts";
export { lockMembership } from "./team-accounts/member-store.ts";
export { notForTeams } from "./users/rules/user.ts";
export { parseEmail, parseNewProfile, UNFIT } from "./users/profile.ts";
export { CurrentUserResponse } from "./schema.ts";
export { readOwnRecord } from "./users/own-record.ts";
export type { ReadUserFacts } from "./views.ts";
