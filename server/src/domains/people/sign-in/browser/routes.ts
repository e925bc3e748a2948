import type { FastifyReply, FastifyRequest } from "fastify";
import { unauthenticated } from "../../../../base/errors.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { presentedCookie, clearSessionCookie, setSessionCookie } from "../../../../http/callers/session-cookie.ts";
import { refuseCrossSite, refuseOtherSite } from "../../../../http/callers/same-origin.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { recordAudit } from "../../accounts/index.ts";
import { endSessions, holderOfSession } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { FactorBody } from "../schema.ts";
import { recordOfBrowser } from "../sessions/account-record.ts";
import type { Opened } from "../sessions/open-session.ts";
import { countNetworkAttempt, type SignInOutcome } from "../sessions/sign-in-service.ts";
import { viewPending } from "../sessions/views.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { proofOf } from "../tfa/requests.ts";
import { signInWithFactor } from "../tfa/use-factor.ts";
import { resultOf } from "../tfa/verify.ts";
import {
  BrowserSettingsResponse,
  BrowserSignInBody,
  BrowserSignInResponse,
  SignedOutResponse,
  SignUpBody,
  SwitchBody,
} from "./schema.ts";
import { signInBrowser } from "./sign-in.ts";
import { readSignUp, signUp } from "./sign-up.ts";
import { switchAccount } from "./switch-account.ts";

/** Routes by which a browser gets, and gives back, a session in a cookie. */
export function browserRoutes(scope: HttpScope, means: SignInMeans): void {
  signInRoutes(scope, means);
  signUpRoute(scope, means);
  signOutRoute(scope, means);
  switchRoute(scope, means);

  scope.app.get(
    "/api/v0/auth/browser/settings/",
    {
      config: { access: { operation: "api.browser.settings", permission: "public" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Show the ways to sign in with a browser",
        response: { 200: BrowserSettingsResponse },
      },
    },
    () => {
      const { signUp, sso, version, isSimulated } = means.browser;
      return {
        success: true as const,
        sign_up: signUp,
        has_mail: means.queueMail !== undefined,
        sso: sso.map(({ id, name }) => ({ id, name })),
        version,
        is_simulated: isSimulated,
      };
    },
  );
}

function signUpRoute(scope: HttpScope, means: SignInMeans): void {
  scope.app.post(
    "/api/v0/auth/browser/sign-up/",
    {
      config: { access: { operation: "api.browser.sign_up", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Make an account and sign its browser in",
        body: SignUpBody,
        response: { 200: BrowserSignInResponse },
      },
    },
    async (request, reply) => {
      refuseOtherSite(request);
      await countNetworkAttempt(scope, request.ip);
      const wanted = await readSignUp(request.body, means);
      const opened = await scope.mutate(request, (tx) => signUp(tx, wanted, request.ip, means));
      return answerOpened(scope, { request, reply }, opened, means);
    },
  );
}

function signInRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, database, clock, mutate } = scope;

  app.post(
    "/api/v0/auth/browser/",
    {
      config: { access: { operation: "api.browser.sign_in", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Sign a browser in",
        body: BrowserSignInBody,
        response: { 200: BrowserSignInResponse },
      },
    },
    async (request, reply) => {
      refuseOtherSite(request);
      const { body, ip: ipAddress } = request;
      const result = await signInBrowser({ database, clock }, { body, ipAddress }, means);
      return answerSignIn(scope, { request, reply }, result, means);
    },
  );

  app.post(
    "/api/v0/auth/browser/tfa/",
    {
      config: { access: { operation: "api.browser.confirm", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Sign a browser in with a second factor",
        body: FactorBody,
        response: { 200: BrowserSignInResponse },
      },
    },
    async (request, reply) => {
      refuseOtherSite(request);
      const { body, ip: ipAddress } = request;
      const asked = { identity: undefined, secret: body.secret, ipAddress, isForBrowser: true };
      const signedIn = resultOf(await mutate(request, (tx) => signInWithFactor(tx, asked, proofOf(body), means)));
      const left = signedIn.backupCodesLeft;
      return {
        ...(await answerOpened(scope, { request, reply }, signedIn, means)),
        ...(left === null || left === 0 ? {} : { backup_codes_remaining: left }),
      };
    },
  );
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Sets the cookie of a new session and answers with its account, or with the second factor that is missing. */
export function answerSignIn(scope: HttpScope, exchange: Exchange, result: SignInOutcome, means: SignInMeans) {
  return result.kind === "open" ? answerOpened(scope, exchange, result.opened, means) : viewPending(result.pending);
}

/** Sets the cookie of a new session and answers with its account. */
async function answerOpened(
  { database, clock }: HttpScope,
  { request, reply }: Exchange,
  opened: Opened,
  means: SignInMeans,
) {
  const record = await recordOfBrowser({ database }, { opened, ipAddress: request.ip }, means);
  setSessionCookie(reply, request, opened, clock.now());
  return { ...record, session_expires_at: opened.expiresAtMs / 1000 };
}

function switchRoute(scope: HttpScope, means: SignInMeans): void {
  scope.app.post(
    "/api/v0/auth/browser/team/",
    {
      // No category is needed: a person gets back from every team, with every role.
      config: { access: { operation: "api.browser.switch_account", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Act for a team, or for oneself, in the session of a browser",
        body: SwitchBody,
        response: { 200: BrowserSignInResponse },
      },
    },
    async (request, reply) => {
      refuseCrossSite(request);
      const identity = await callerByCookie(request, means);
      if (identity?.session === undefined) throw unauthenticated("No session is open. Sign in.", "session_over");
      const wanted = {
        identity,
        session: identity.session,
        teamId: request.body.team_id === undefined ? undefined : asId<UserId>(request.body.team_id),
        ipAddress: request.ip,
      };
      const opened = await scope.mutate(request, (tx) => switchAccount(tx, wanted, means));
      return answerOpened(scope, { request, reply }, opened, means);
    },
  );
}

/** The caller of a public call, by the session that its cookie names. */
export async function callerByCookie(request: FastifyRequest, { identities }: SignInMeans) {
  const cookie = presentedCookie(request);
  if (cookie.kind !== "one") return undefined;
  return (await identities.authenticateCookie(cookie.value, { ipAddress: request.ip }))?.identity;
}

function signOutRoute({ app, mutate }: HttpScope, means: SignInMeans): void {
  const { identities } = means;
  app.delete(
    "/api/v0/auth/browser/",
    {
      // Frozen accounts sign out, too, and a cookie that is of no use is taken away.
      config: { access: { operation: "api.browser.sign_out", permission: "public", limit: "keys" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Sign a browser out", response: { 200: SignedOutResponse } },
    },
    async (request, reply) => {
      if (presentedCookie(request).kind === "none") return { success: true as const };
      refuseCrossSite(request);
      const identity = await callerByCookie(request, means);
      if (identity !== undefined) {
        const holder = holderOfSession(identity);
        await mutate(request, async (tx) => {
          const id = identity.apiKeyId;
          const ended = await endSessions(tx, holder, id);
          tx.afterCommit(() => identities.forgetUser(holder.userId));
          if (ended.length === 0) return;
          await recordAudit(
            tx,
            { ...holder, apiKeyId: id },
            { ipAddress: request.ip, action: "api.session.end", args: { id } },
          );
        });
      }
      clearSessionCookie(reply, request);
      return { success: true as const };
    },
  );
}
