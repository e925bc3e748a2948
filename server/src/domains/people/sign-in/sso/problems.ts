import { AppError } from "../../../../base/errors.ts";

export type SsoProblem =
  | "sso_not_configured"
  | "sso_unreachable"
  | "sso_misconfigured"
  | "sso_denied"
  | "sso_over"
  | "sso_untrusted"
  | "sso_no_account"
  | "sso_address_unverified"
  | "sso_other_person"
  | "sso_administrator"
  | "sso_failed";

/** Reasons why single sign-on signed nobody in, each with its sentence. */
const PROBLEMS: Readonly<Record<SsoProblem, AppError>> = {
  sso_not_configured: new AppError(
    "not_found",
    "sso_not_configured",
    "This server has no single sign-on. Sign in another way; its operator sets it up with BERTH_OIDC_ISSUER.",
  ),
  sso_unreachable: new AppError(
    "unavailable",
    "sso_unreachable",
    "The service that signs you in did not answer, or not in time. Try again in a minute, or sign in another way.",
  ),
  sso_misconfigured: new AppError(
    "unavailable",
    "sso_misconfigured",
    "The service that signs you in answers in a way that this server cannot use. Sign in another way; the operator finds the reason in the log.",
  ),
  sso_denied: new AppError(
    "forbidden",
    "sso_denied",
    "The service did not sign you in, or you stopped it. Begin again, or sign in another way.",
  ),
  sso_over: new AppError(
    "invalid",
    "sso_over",
    "This sign-in took too long, was finished before, or began in another browser. Begin again on the sign-in page.",
  ),
  sso_untrusted: new AppError(
    "forbidden",
    "sso_untrusted",
    "The answer of the service that signs you in does not hold, so nobody was signed in. Begin again; if it stays so, ask the operator.",
  ),
  sso_no_account: new AppError(
    "forbidden",
    "sso_no_account",
    "You have no account here, and this server makes accounts by invitation only. Ask its operator for one.",
  ),
  sso_address_unverified: new AppError(
    "forbidden",
    "sso_address_unverified",
    "An account here has your e-mail address, and the service does not vouch that the address is yours. Sign in to that account another way, or have the service verify your address.",
  ),
  sso_other_person: new AppError(
    "forbidden",
    "sso_other_person",
    "The account of your e-mail address belongs to another person of this service. Sign in another way, or ask the operator.",
  ),
  sso_administrator: new AppError(
    "forbidden",
    "sso_administrator",
    "The account of your e-mail address is an administrator's, which an address alone does not open. Sign in another way.",
  ),
  sso_failed: new AppError(
    "internal",
    "sso_failed",
    "Something went wrong on this server. Begin again; the operator finds the reason in the log.",
  ),
};

/** The error of a problem; `cause` is for the log. */
export function ssoProblem(code: SsoProblem, cause?: unknown): AppError {
  const { kind, publicMessage } = PROBLEMS[code];
  return new AppError(kind, code, publicMessage, { cause });
}

export function isSsoProblem(code: string): code is SsoProblem {
  return Object.hasOwn(PROBLEMS, code);
}

/** All problems with their sentences, for a page that shows one. */
export function listSsoProblems(): readonly { readonly code: string; readonly msg: string }[] {
  return Object.values(PROBLEMS).map(({ code, publicMessage: msg }) => ({ code, msg }));
}
