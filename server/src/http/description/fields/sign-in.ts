import type { FieldWords } from "../schemas.ts";
import { PEOPLE_FIELDS } from "./people.ts";

const START = 1_767_225_600;
const SESSION = "berth_0000000000000000000000000000000000000000000_00000000";
const SECRET = "o3Yq0JrE0mG5wWc1";
const BACKUP_CODE = "K7QF-2MZA-XW5D";

/** A sign-in answers with the account's record. */
const ACCOUNT_OF_SIGN_IN: FieldWords = Object.fromEntries(
  Object.entries(PEOPLE_FIELDS).flatMap(([name, words]) =>
    name.startsWith("Account.")
      ? ["SignIn.", "BrowserSignIn."].map((prefix) => [name.replace("Account.", prefix), words])
      : [],
  ),
);

const TOKEN = "mG5wWc1o3Yq0JrE0mG5wWc1o3Yq0JrE0mG5wWc1o3Yq";

const INVITATION_FIELDS: FieldWords = Object.fromEntries(
  ["SignUpInvitation", "NewSignUpInvitation"].flatMap((model) => [
    [`${model}.id`, ["Id of the invitation", 5]],
    [`${model}.email`, ["The only address that may sign up with it; null for any", "a@example.com"]],
    [`${model}.user_id`, ["Id of the account that was made with it; null before", null]],
    [`${model}.created_at`, ["Time at which it was made, in seconds since the epoch", START]],
    [`${model}.expires_at`, ["Time at which it ends, in seconds since the epoch", START + 604_800]],
    [`${model}.used_at`, ["Time at which it was used, in seconds since the epoch; null before", null]],
  ]),
);

/** Fields of sessions and second factors. */
export const SIGN_IN_FIELDS: FieldWords = {
  ...ACCOUNT_OF_SIGN_IN,
  "SignIn.api_key": ["Key of the new session; absent when an API key opened it", SESSION],
  session_key: ["Key of the new session, shown this once", SESSION],
  session_expires_at: ["Time at which the session ends, in seconds since the epoch", START + 86_400],
  "SignIn.msg": ["`2fa_required` when a second factor is missing", "2fa_required"],
  "SignIn.secret": ["Secret with which the second factor finishes the sign-in, for 15 minutes", SECRET],
  "SignIn.methods": ["Second factors of the account, to choose from"],
  "BrowserSignIn.msg": ["`2fa_required` when a second factor is missing", "2fa_required"],
  "BrowserSignIn.secret": ["Secret with which the second factor finishes the sign-in, for 15 minutes", SECRET],
  "BrowserSignIn.methods": ["Second factors of the account, to choose from"],
  "BrowserSignInRequest.username": ["User name or e-mail address", "renter@example.com"],
  "BrowserSignInRequest.password": ["Password of the account", "correct horse battery staple"],
  "BrowserSignInRequest.api_key": ["An API key, in place of name and password", SESSION],
  "BrowserSignInRequest.team_id": ["Id of a team that the session acts for; the person's own account by default", 40],
  "BrowserSignInRequest.token": ["Token of a link, in place of name and password", TOKEN],
  "BrowserSignUpRequest.email": ["E-mail address", "renter@example.com"],
  "BrowserSignUpRequest.username": ["User name; the part of the address before the `@` by default", "renter"],
  "BrowserSignUpRequest.password": ["Password of at least ten characters", "correct horse battery staple"],
  "BrowserSignUpRequest.token": ["Token of an invitation, where sign-up needs one", TOKEN],
  "BrowserRequestResetRequest.email": ["E-mail address of the account", "renter@example.com"],
  "BrowserResetPasswordRequest.token": ["Token of the mailed link", TOKEN],
  "BrowserResetPasswordRequest.password": ["New password of at least ten characters", "correct horse battery staple"],
  "UserChangePasswordRequest.password": ["Present password; absent with a code", "an older horse battery"],
  new_password: ["New password of at least ten characters", "correct horse battery staple"],
  "AdminSignInLinkCreateRequest.user_id": ["Id of the account to sign in to; your own by default", 8],
  "SignInLink.user_id": ["Id of the account that the link signs in to", 8],
  "SignInLink.token": ["Token of the link, shown this once", TOKEN],
  "SignInLink.path": ["Path of the link on this server, with the token behind the `#`", `/sign-in#token=${TOKEN}`],
  "SignInLink.expires_at": ["Time at which the link ends, in seconds since the epoch", START + 900],
  "AdminInvitationCreateRequest.email": ["The only address that may sign up with it; any by default", "a@example.com"],
  ...INVITATION_FIELDS,
  "NewSignUpInvitation.token": ["Token of the invitation, shown this once", TOKEN],
  "NewSignUpInvitation.path": ["Path of its link on this server", `/sign-up#token=${TOKEN}`],
  "AdminInvitationListResponse.invitations": ["Invitations, the newest first"],
  "BrowserConfirmRequest.admin": ["Ignored", false, { type: "boolean" }],
  "BrowserConfirmRequest.secret": ["Secret of the sign-in", SECRET],
  sign_up: [
    "The way to get an account: `open` to everybody, by `invitation` of an administrator, or by single sign-on (`sso`)",
    "open",
  ],
  has_mail: ["True where this server sends mail, so that passwords can be reset", true],
  sso: ["Providers of single sign-on"],
  "SsoProvider.id": ["Name of the provider in addresses", "corp"],
  "SsoProvider.name": ["Name of the provider for people", "Example Corp"],
  "BrowserSettings.version": ["Version of this server", "0.1.0"],
  is_simulated: ["True when the hosts of this server are invented", false],
  num_backup_codes: ["Number of backup codes that are left", 10],
  backup_codes_remaining: ["Number of backup codes that are left", 9],

  "SessionCreateRequest.username": ["User name or e-mail address", "renter@example.com"],
  "SessionCreateRequest.email": ["E-mail address, in place of the user name", "renter@example.com"],
  "SessionCreateRequest.password": ["Password of the account", "correct horse battery staple"],
  "SessionCreateRequest.captcha": ["Ignored", ""],
  "SessionCreateRequest.team_id": ["Id of a team that the session acts for; the person's own account by default", 40],
  demands_tfa: ["True when operations that destroy something need a session with a second factor", false],
  sid: ["Id of the session; empty for an API key", "19"],

  sessions: ["Sessions, the newest first"],
  sessions_found: ["Number of sessions", 1],
  key_type: ["Always `session`", "session"],
  last_ipaddr: ["IP address from which the session was opened", "198.51.100.4"],
  location: ["Always empty: addresses are not located", ""],
  "Session.id": ["Id of the session", 19],
  "Session.expires_at": ["Time at which the session ends, in seconds since the epoch", START + 86_400],
  "Session.deleted_at": ["Always null: sessions that ended are not shown", null],
  "Session.has_tfa": ["True when a second factor opened the session", true],
  "Session.is_current": ["True for the session of this call", true],
  "TeamSession.id": ["Id of the session", 19],
  "TeamSession.user_id": ["Id of the member", 8],
  "TeamSession.expires_at": ["Time at which the session ends, in seconds since the epoch", START + 86_400],
  role_name: ["Name of the member's role", "Member"],
  "SessionDeleteRequest.all": ["True to end all sessions", false],
  "SessionDeleteRequest.key_id": ["Id of the session", 19],
  pubkeys: ["Public keys"],
  "PublicKey.id": ["Number of the key", 1],
  "PublicKey.algorithm": ["Algorithm of its signatures", "RSA-SHA256"],
  "PublicKey.public_key": ["The key in PEM", "-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n"],

  "TfaMethod.id": ["Id of the method", 3],
  "TfaMethod.method": ["Kind of the method", "totp"],
  "TfaMethod.label": ["Name that its owner gave", "phone"],
  "TfaMethod.phone_number": ["Phone number, of which the last two digits show; null for an app", null],
  is_primary: ["True for the method that is offered first", true],
  fail_count: ["Wrong codes since the last right one", 0],
  locked_until: ["Time until which no code is taken, in seconds since the epoch; null while codes are taken", null],
  last_used: ["Time of the last right code, in seconds since the epoch; null before", null],
  tfa_enabled: ["True when a sign-in needs a second factor", true],
  "TfaStatus.methods": ["Second factors, the oldest first"],
  new_method_authorized: ["True while second factors may be added", false],

  tfa_method: ["Kind of the second factor; `sms` by default", "totp"],
  tfa_method_id: ["Id of the method, where the account has several of a kind", 3],
  backup_code: ["A backup code, in place of a code", BACKUP_CODE],
  code: ["Code of six digits", "492039"],
  phone_number: ["Phone number in the form of E.164", "+46701234567"],
  target_id: ["Id of the method to delete", 3],
  delete_legacy: ["Refused when true: there are no old-style methods", false],
  remaining_methods: ["Number of methods that are left", 1],
  backup_codes: ["Backup codes, each good once; shown this once", [BACKUP_CODE]],
  "TfaLoginRequest.admin": ["Ignored", false, { type: "boolean" }],
  "TfaLoginRequest.secret": ["Secret of the sign-in, or of the code that was sent", SECRET],
  "TfaDeleteRequest.secret": ["Secret of the code that was sent", SECRET],
  "TfaRegenBackupCodesRequest.secret": ["Secret of the code that was sent", SECRET],
  "TfaSendMailRequest.secret": ["Secret of the sign-in, in place of a key", SECRET],
  "TfaSendSmsRequest.secret": ["Secret of the sign-in, in place of a key", SECRET],
  "TfaResendSmsRequest.secret": ["Secret of the sign-in or of the earlier code", SECRET],
  "TfaFinishAuthorizationRequest.secret": ["Secret that the authorization began with", SECRET],
  "TfaConfirmNewRequest.secret": ["Secret of the app, or of the code that was sent to the phone", SECRET],
  "TfaConfirmNewRequest.label": ["Name of the method, at most 30 characters", "phone"],
  "TfaUpdateRequest.tfa_method": ["Kind of the method, in place of its id", "totp"],
  "TfaUpdateRequest.label": ["New name, at most 30 characters", "tablet"],
  "TfaAuthorizeRequest.tfa_method": ["Kind of the method that authorizes; the primary one by default", "totp"],
  "TfaAuthorizeRequest.password": ["Password of the account, for its first method", "correct horse battery staple"],
  "SentCode.secret": ["Secret to send back with the code", SECRET],
  "TfaAuthorization.secret": ["Secret to send back with the code; absent when no code is needed", SECRET],
  "TotpSetup.secret": ["Secret of the app in base32, shown this once", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
  provisioning_uri: [
    "Address for a QR code that authenticator apps read",
    "otpauth://totp/Berth:renter%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Berth",
  ],
  "UpdatedTfaMethod.method": ["The method as it is now"],
};
