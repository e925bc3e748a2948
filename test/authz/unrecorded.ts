// Changes without an entry in the audit log, each with its reason. The list only gets shorter.

/** Nobody is signed in yet, or the account is not known to be the caller's; what follows from the call is recorded. */
const BEFORE_A_SIGN_IN = "a step of signing in; the session that it opens is recorded";
const BY_A_PROGRAM = "an act of a program with a credential of its own, which its own rows record";

export const UNRECORDED: Readonly<Record<string, string>> = {
  "POST /api/v0/auth/browser/reset/": "asks for a mail; recorded when the address belongs to an account",
  "POST /api/v0/auth/passkeys/sign-in/options/": BEFORE_A_SIGN_IN,
  "DELETE /api/v0/auth/browser/": "without a cookie there is no session to end",
  "DELETE /api/v0/auth/browser/view/": "without a cookie there is no view to leave",
  "POST /api/v0/deployment/{id}/files/{token}/": BY_A_PROGRAM,
};
