import type { OperationWords } from "../operation-words.ts";

const CODE = "492039";
const SECRET = "o3Yq0JrE0mG5wWc1";

/** Sessions and second factors. */
export const SIGN_IN_OPERATIONS: OperationWords = {
  "api.session.create": {
    description:
      "Opens a session for the person behind a user name or e-mail address, for a week; `api_key` is its key. An account with a second factor gets `msg` = `2fa_required` with a `secret` for `POST /api/v0/tfa/` instead. 401 `auth_error` for a wrong name or password alike, 429 `sign_in_locked` after ten attempts in a quarter of an hour.",
    request: { username: "renter@example.com", password: "correct horse battery staple" },
  },
  "api.session.end": {
    description:
      "Ends the session that the key of the call belongs to. An API key stays as it is, and `sid` is empty then.",
  },
  "api.session.list": {
    description:
      "Returns the open sessions of the account, the newest first, without their keys. 404 `not_found` without any.",
  },
  "api.session.delete": {
    description:
      "Ends one session of the account, or all. The answer is the same for an id that is none. 400 `missing_input` when it names neither.",
    request: { key_id: 19 },
  },
  "api.team.sessions": {
    description:
      "Returns the sessions in which members act for the team, the newest first; `success` is false without any. 404 `not_found` for a key of no team.",
  },
  "api.browser.settings": {
    description: "Returns the ways to sign in to this server and to sign up, for the page that offers them.",
  },
  "api.browser.sign_in": {
    description:
      "Opens a session for a browser, by a password or an API key, and sets it as the cookie `berth_session`, which scripts cannot read. An account with a second factor gets `msg` = `2fa_required` with a `secret` for `POST /api/v0/auth/browser/tfa/` instead. Refused as `PUT /api/v0/users/current/` is, and with 403 `cross_site_request` for pages of other sites.",
    request: { username: "renter@example.com", password: "correct horse battery staple" },
  },
  "api.browser.confirm": {
    description:
      "Opens a session for a browser with a second factor, after the password, and sets its cookie. Refused as `POST /api/v0/tfa/` is, and with 403 `cross_site_request` for pages of other sites.",
    request: { tfa_method: "totp", code: CODE, secret: SECRET },
  },
  "api.browser.sign_out": {
    description:
      "Ends the session of the cookie and takes the cookie away. 403 `cross_site_request` without the header `X-Berth-Console`, and for pages of other sites.",
  },
  "api.browser.switch_account": {
    description:
      "Opens a session in which the person who is signed in acts for the team `team_id`, or without it for themselves, and sets its cookie in place of the present one, which ends. The new session lasts no longer than that one. 401 `session_over` without a session, 403 `not_authorized` in a session that an API key opened, 403 `cross_site_request` as `DELETE /api/v0/auth/browser/`, 404 `no_such_team` for a team without the person.",
    request: { team_id: 40 },
  },
  "api.browser.sign_up": {
    description:
      "Makes an account with a password, opens a session for its browser and sets the cookie. 403 `signup_closed` where sign-up needs an invitation and `token` is missing, or only single sign-on makes accounts; 400 `no_such_token`, `weak_password` or `invalid_email`; 409 `user_exists`.",
    request: { email: "renter@example.com", password: "correct horse battery staple" },
  },
  "api.browser.request_reset": {
    description:
      "Mails a link that resets the password to the account that has proven the address. The answer is the same for every address; an address gets three mails in a quarter of an hour. 409 `no_mail_server` where the server sends no mail.",
    request: { email: "renter@example.com" },
  },
  "api.browser.reset_password": {
    description:
      "Stores another password with the token of the mailed link, once within an hour, and ends all sessions of the person. A second factor stays needed. 400 `no_such_token` or `weak_password`.",
    request: { token: SECRET, password: "correct horse battery staple" },
  },
  "api.user.change_password": {
    description:
      "Changes the password of the account, and ends all sessions but the one that calls. It needs the present password, or a code of an app or a backup code; an account without a password gets its first one. 401 `wrong_password`, 400 `weak_password`, 403 `team_user_forbidden` for a team.",
    request: { password: "an older horse battery", new_password: "correct horse battery staple" },
  },
  "api.admin.sign_in_link.create": {
    description:
      "Makes a link that signs a person in once within 15 minutes, by default the administrator who asks. A second factor stays needed. The audit log names the account. 404 `no_such_user`.",
    request: {},
  },
  "api.admin.user.see_as": {
    description:
      "Binds the session of the administrator's browser to another account for 15 minutes, or for `minutes`. The console then shows what that person sees, without secrets, and everything that changes something is refused with 403 `view_is_read_only`. The person is notified with the reason, and both audit logs have beginning and end. 403 `session_needed` for a key, 403 `not_allowed` for the account of an administrator, 403 `team_user_forbidden` for a team, 409 `view_open` in a view, 404 `no_such_user`.",
    request: { reason: "Case 12: endpoint 7 does not start." },
  },
  "api.browser.leave_view": {
    description:
      "Gives the session of the cookie back to its administrator, and returns the account that they saw; null when they saw none. 403 `cross_site_request` as `DELETE /api/v0/auth/browser/`.",
  },
  "api.admin.invitation.create": {
    description: "Makes an invitation to sign up, good once within seven days, for one address if it names one.",
    request: { email: "newhire@example.com" },
  },
  "api.admin.invitation.list": {
    description: "Returns the invitations that were not revoked, the newest first, without their tokens.",
  },
  "api.admin.invitation.delete": {
    description: "Revokes an open invitation. 404 `not_found` for one that was used or revoked, or never was.",
  },
  "api.route.public_keys": {
    description: "Returns the public keys that check what this server signs for workers of endpoints.",
  },
  "api.tfa.status": {
    description:
      "Returns the second factors of the account. 403 `team_user_forbidden` for the key of a team, here and in all calls of second factors.",
  },
  "api.tfa.login": {
    description:
      "Opens a session of 24 hours with a second factor: after the password with the `secret` of the sign-in, or for the holder of the API key that calls. 400 `2fa_verification_failed` and 401 `invalid_backup_code` count; 429 `tfa_locked` after three wrong codes of a text message or mail and five of an app, at first for 15 minutes. 400 `challenge_not_found`, `2fa_expired`, `no_challenge_found`, `tfa_method_not_configured` or `missing_params`; 401 `missing_auth_value` with neither key nor secret.",
    request: { tfa_method: "totp", code: CODE, secret: SECRET },
  },
  "api.tfa.delete": {
    description:
      "Deletes a second factor after a proof by one of the account or a backup code; `target_id` names it, by default the one that proves. With the last one two-factor sign-in and its backup codes end. Refused as `POST /api/v0/tfa/` is, and 404 `not_found`.",
    request: { tfa_method: "totp", code: CODE, target_id: 3 },
  },
  "api.tfa.send_mail": {
    description:
      "Mails a code, valid for ten minutes, to the proven address of the account. 400 `email_not_verified`, `tfa_challenge_exists` within a minute, `tfa_method_not_configured` where the server cannot send mail; 429 `sms_rate_limited` after ten codes in a day.",
    request: { secret: SECRET },
  },
  "api.tfa.send_sms": {
    description:
      "Sends a code to the phone of a method, or to a new number within the 30 minutes of an authorization. 400 `tfa_method_not_configured` where the operator has set up no provider of text messages, 400 `tfa_challenge_exists` while a code is valid, 403 `authorization_required`, 429 `sms_rate_limited`, 503 `service_unavailable` when the provider did not take it.",
    request: { tfa_method_id: 4 },
  },
  "api.tfa.resend_sms": {
    description:
      "Sends another code in place of one that did not arrive, a minute later at the earliest. 400 `no_challenge_found` without an earlier one; else refused as the first.",
    request: { tfa_method_id: 4 },
  },
  "api.tfa.totp_setup": {
    description:
      "Returns a new secret for an authenticator app, valid for 30 minutes. It counts once `POST /api/v0/tfa/confirm-new/` has seen a code of it.",
  },
  "api.tfa.authorize": {
    description:
      "Begins to authorize another second factor. The first one is authorized by mail, or at once by `password`; further ones by a code of an existing one, or at once by a backup code. 400 `invalid_tfa_method` for another way.",
    request: { tfa_method: "totp" },
  },
  "api.tfa.finish_authorization": {
    description:
      "Lets the account add second factors for 30 minutes, after a code. 400 `no_pending_authorization`; wrong codes count as in `POST /api/v0/tfa/`.",
    request: { code: CODE, secret: SECRET },
  },
  "api.tfa.confirm_new": {
    description:
      "Adds a second factor with its first code. The first one turns two-factor sign-in on, and the answer shows ten backup codes this once. 403 `authorization_required`; 400 `challenge_not_found`, `phone_number_mismatch`, `duplicate_tfa_method` or `too_many`; wrong codes count as in `POST /api/v0/tfa/`.",
    request: { tfa_method: "totp", code: CODE, secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", label: "phone" },
  },
  "api.tfa.update": {
    description:
      "Gives a second factor another label, or makes it the primary one. 400 `invalid_params` when nothing would change, 404 `not_found`.",
    request: { tfa_method_id: 3, label: "tablet" },
  },
  "api.admin.user.remove_tfa": {
    description:
      "Deletes all second factors and backup codes of an account, for a person who has lost them; the audit logs of both name it. 404 `no_such_user`.",
  },
  "api.tfa.regen_backup_codes": {
    description:
      "Replaces all backup codes after a proof; the answer shows the new ones this once. Refused as `POST /api/v0/tfa/` is.",
    request: { tfa_method: "totp", code: CODE },
  },
};
