import type { OperationWords } from "../operation-words.ts";

const ANSWER = { id: "rFh1p0Zk", rawId: "rFh1p0Zk", type: "public-key" };

/** Passkeys, and single sign-on. */
export const PASSKEY_OPERATIONS: OperationWords = {
  "api.passkey.options": {
    description:
      "Returns the options with which a browser makes a passkey for the account, for `navigator.credentials.create`, and a cookie that ties them to that browser. They hold for five minutes. It takes a session of at most ten minutes, or the authorization of `POST /api/v0/tfa/authorize-new-method/`: 403 `session_needed` for an API key, 403 `sign_in_again` for an older session. 409 `passkeys_unavailable` says why the address of this server takes no passkeys, 409 `too_many_passkeys` beyond 20.",
  },
  "api.passkey.create": {
    description:
      "Adds the passkey that a browser made from the options. 400 `passkey_challenge_over` for an answer that comes after five minutes, a second time, or from another browser; 400 `passkey_refused` for one that does not hold. Else refused as the options are.",
    request: {
      label: "laptop",
      response: {
        ...ANSWER,
        response: {
          clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4",
          attestationObject: "o2NmbXRkbm9uZQ",
          transports: ["internal"],
        },
      },
    },
  },
  "api.passkey.sign_in_options": {
    description:
      "Returns the options with which a browser signs in with any passkey that it has for this site, for `navigator.credentials.get`, and a cookie that ties them to that browser. They hold for five minutes. 409 `passkeys_unavailable`.",
  },
  "api.passkey.sign_in": {
    description:
      "Opens a session for the account of a passkey and sets it as the cookie `berth_session`. A passkey that made sure of its person, by a finger or a PIN, counts as two factors; another one is answered with `msg` = `2fa_required` where the account has a second factor. 400 `passkey_challenge_over`, 401 `passkey_refused`, 401 `passkey_went_back` when the passkey counts backwards as a copy of it would, 403 `cross_site_request`.",
    request: {
      response: {
        ...ANSWER,
        response: {
          clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4",
          authenticatorData: "SZYN5YgOjGh0NBcP",
          signature: "MEUCIQDx",
          userHandle: "q83vEjRW",
        },
      },
    },
  },
  "api.passkey.list": {
    description:
      "Returns the passkeys of the account, oldest first, without their keys. 403 `team_user_forbidden` for the key of a team.",
  },
  "api.passkey.update": {
    description: "Renames a passkey of the account. 404 `no_such_passkey`.",
    request: { label: "work laptop" },
  },
  "api.passkey.delete": {
    description:
      "Deletes a passkey of the account. 409 `last_way_in` for the only one of an account that has no password and no single sign-on. 404 `no_such_passkey`.",
  },
  "api.sso.start": {
    description:
      "Sends a browser to the issuer of single sign-on to sign in, with a cookie that it brings back. When the issuer is out of reach, sends it to `/sign-in?error=…` with a code of `GET /api/v0/auth/sso/problems/`. 404 `sso_not_configured`.",
  },
  "api.sso.callback": {
    description:
      "Takes a browser that comes back from the issuer: it ends at `/` with the cookie of its session, at `/sign-in#second_factor=…` with the secret for `POST /api/v0/auth/browser/tfa/` where the account has a second factor, or at `/sign-in?error=…`. 404 `sso_not_configured`.",
  },
  "api.sso.problems": {
    description: "Returns the codes at the sign-in page after a failed single sign-on, each with its sentence.",
  },
};
