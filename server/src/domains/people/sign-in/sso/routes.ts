import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../../../base/errors.ts";
import { setSessionCookie } from "../../../../http/callers/session-cookie.ts";
import { originOf } from "../../../../http/origin.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { clearBrowserCookie, readBrowserCookie, setBrowserCookie, type BrowserCookie } from "../browser-cookie.ts";
import type { SignInMeans } from "../means.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import type { SsoMeans } from "./means.ts";
import { isSsoProblem, listSsoProblems, ssoProblem } from "./problems.ts";
import { SsoCallbackQuery, SsoProblemsResponse } from "./schema.ts";
import { ATTEMPT_MS, beginSso, finishSso } from "./sign-in.ts";

const CALLBACK = "/api/v0/auth/sso/callback/";
/** The browser comes back from the issuer's site with it, so it is `Lax`. */
const COOKIE: BrowserCookie = {
  name: "berth_sso",
  path: "/api/v0/auth/sso/",
  seconds: ATTEMPT_MS / 1000,
  sameSite: "Lax",
};
const COOKIE_BYTES = 32;

/** Routes that take a browser to the issuer and back. They end at pages of the console, with a sentence for each failure. */
export function ssoRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, database, clock } = scope;
  const { random } = means;

  app.get(
    "/api/v0/auth/sso/start/",
    {
      config: { access: { operation: "api.sso.start", permission: "public", limit: "keys" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Go to the issuer to sign in", response: { 302: Type.Null() } },
    },
    async (request, reply) => {
      const sso = requireSso(means);
      const cookie = random(COOKIE_BYTES).toString("base64url");
      const redirectUri = new URL(CALLBACK, means.publicUrl ?? originOf(request)).href;
      return endAtPage({ request, reply }, sso, async () => {
        const url = await beginSso({ database, clock }, { cookie, redirectUri }, { sso });
        setBrowserCookie(reply, request, COOKIE, cookie);
        return url.href;
      });
    },
  );

  app.get(
    CALLBACK,
    {
      config: { access: { operation: "api.sso.callback", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Come back from the issuer",
        querystring: SsoCallbackQuery,
        response: { 302: Type.Null() },
      },
    },
    async (request, reply) => {
      const sso = requireSso(means);
      return endAtPage({ request, reply }, sso, async () => {
        const [, query = ""] = request.raw.url?.split(/\?(.*)/s) ?? [];
        const asked = { cookie: readBrowserCookie(request, COOKIE), query, ipAddress: request.ip };
        const outcome = await finishSso({ database, clock }, asked, { ...means, sso });
        // In the fragment, which neither servers nor the address of the next page see.
        if (outcome.kind === "second_factor") return `/sign-in#second_factor=${outcome.pending.secret}`;
        setSessionCookie(reply, request, outcome.opened, clock.now());
        clearBrowserCookie(reply, request, COOKIE);
        return "/";
      });
    },
  );

  app.get(
    "/api/v0/auth/sso/problems/",
    {
      config: { access: { operation: "api.sso.problems", permission: "public" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Show the reasons why single sign-on may fail",
        response: { 200: SsoProblemsResponse },
      },
    },
    () => ({ success: true as const, problems: [...listSsoProblems()] }),
  );
}

function requireSso({ sso }: Pick<SignInMeans, "sso">): SsoMeans {
  if (sso === undefined) throw ssoProblem("sso_not_configured");
  return sso;
}

/**
 * Sends the browser to the page that `work` names, or to the sign-in page with the code of the problem: a person stands
 * here, and no program. The cause goes to the log.
 */
async function endAtPage(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { log }: Pick<SsoMeans, "log">,
  work: () => Promise<string>,
): Promise<null> {
  let page: string;
  try {
    page = await work();
  } catch (error) {
    const code = error instanceof AppError && isSsoProblem(error.code) ? error.code : "sso_failed";
    if (code === "sso_failed") log.error({ err: error, request_id: request.id }, "single sign-on failed");
    else noteCause(log, request, code, error);
    page = `/sign-in?error=${code}`;
  }
  void reply.code(302).header("location", page);
  return null;
}

function noteCause(log: SsoMeans["log"], request: FastifyRequest, code: string, error: unknown): void {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause === undefined) return;
  log.warn({ code, err: cause, request_id: request.id }, "single sign-on signed nobody in");
}
