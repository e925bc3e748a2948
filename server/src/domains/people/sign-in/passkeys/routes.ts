import type { FastifyReply, FastifyRequest } from "fastify";
import { parseId, type PasskeyId } from "../../../../base/ids.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { refuseOtherSite } from "../../../../http/callers/same-origin.ts";
import { originOf } from "../../../../http/origin.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { answerSignIn } from "../browser/routes.ts";
import { BrowserSignInResponse } from "../browser/schema.ts";
import { readBrowserCookie, setBrowserCookie, type BrowserCookie } from "../browser-cookie.ts";
import type { SignInMeans } from "../means.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { CHALLENGE_MS, challengeOver, requireParty } from "./challenges.ts";
import { listOwnPasskeys, readPasskeyLabel, removePasskey, renamePasskey, requireOwn } from "./manage.ts";
import { beginRegistration, finishRegistration, registrationRefused } from "./register.ts";
import {
  CreatePasskeyBody,
  PasskeyDeletedResponse,
  PasskeyParams,
  PasskeyResponse,
  PasskeySignInBody,
  PasskeysResponse,
  RegistrationOptionsResponse,
  RenamePasskeyBody,
  SignInOptionsResponse,
} from "./schema.ts";
import { beginPasskeySignIn, finishPasskeySignIn, passkeyRefused, passkeyWentBack } from "./sign-in.ts";
import { viewPasskey } from "./views.ts";

/** Challenges are answered by the browser that asked for them: this cookie tells it. */
const COOKIE: BrowserCookie = {
  name: "berth_passkey",
  path: "/api/v0/auth/passkeys/",
  seconds: 2 * (CHALLENGE_MS / 1000),
  sameSite: "Strict",
};
const COOKIE_BYTES = 32;
/** The body of an answer with the longest fields that its schema takes, and room for the form. */
const BODY_BYTES_MAX = 65_536;

/** Routes of passkeys: to add one, to sign in with one, and to look after them. */
export function passkeyRoutes(scope: HttpScope, means: SignInMeans): void {
  registrationRoutes(scope, means);
  passkeySignInRoutes(scope, means);
  ownPasskeyRoutes(scope, means);
}

function registrationRoutes({ app, mutate }: HttpScope, means: SignInMeans): void {
  app.post(
    "/api/v0/auth/passkeys/options/",
    {
      config: { access: { operation: "api.passkey.options", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Begin to add a passkey",
        response: { 200: RegistrationOptionsResponse },
      },
    },
    async (request, reply) => {
      const party = requireParty(means, calledAt(request));
      const browser = giveCookie(request, reply, means);
      const options = await mutate(request, (tx) =>
        beginRegistration(tx, callerOf(request), { party, browser }, means),
      );
      return { success: true as const, options };
    },
  );

  app.post(
    "/api/v0/auth/passkeys/",
    {
      bodyLimit: BODY_BYTES_MAX,
      config: { access: { operation: "api.passkey.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Add a passkey",
        body: CreatePasskeyBody,
        response: { 200: PasskeyResponse },
      },
    },
    async (request) => {
      const party = requireParty(means, calledAt(request));
      const { response, label: text } = request.body;
      const asked = { response, label: readPasskeyLabel(text), party, browser: cookieOf(request) };
      const { registered, passkey } = await mutate(request, async (tx) => {
        const outcome = await finishRegistration(tx, callerOf(request), asked, means);
        if (outcome.kind !== "added") return { registered: outcome };
        const made = await requireOwn(tx.db, identityOf(request), outcome.passkeyId);
        return { registered: outcome, passkey: viewPasskey(made) };
      });
      if (registered.kind === "refused") throw registrationRefused(registered.why);
      if (passkey === undefined) throw challengeOver();
      return { success: true as const, msg: "You can sign in with this passkey from now on.", passkey };
    },
  );
}

function passkeySignInRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, database, clock } = scope;
  app.post(
    "/api/v0/auth/passkeys/sign-in/options/",
    {
      config: { access: { operation: "api.passkey.sign_in_options", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Begin to sign in with a passkey",
        response: { 200: SignInOptionsResponse },
      },
    },
    async (request, reply) => {
      const party = requireParty(means, calledAt(request));
      const browser = giveCookie(request, reply, means);
      const options = await withTransaction(database, clock, (tx) => beginPasskeySignIn(tx, { party, browser }, means));
      return { success: true as const, options };
    },
  );

  app.post(
    "/api/v0/auth/passkeys/sign-in/verify/",
    {
      bodyLimit: BODY_BYTES_MAX,
      config: { access: { operation: "api.passkey.sign_in", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Sign a browser in with a passkey",
        body: PasskeySignInBody,
        response: { 200: BrowserSignInResponse },
      },
    },
    async (request, reply) => {
      refuseOtherSite(request);
      const party = requireParty(means, calledAt(request));
      const { response } = request.body;
      const asked = { response, party, browser: cookieOf(request), ipAddress: request.ip };
      const outcome = await withTransaction(database, clock, (tx) => finishPasskeySignIn(tx, asked, means));
      if (outcome.kind === "over") throw challengeOver();
      if (outcome.kind === "refused") throw passkeyRefused();
      if (outcome.kind === "went_back") throw passkeyWentBack();
      return answerSignIn(scope, { request, reply }, outcome, means);
    },
  );
}

function ownPasskeyRoutes({ app, database, mutate }: HttpScope, means: SignInMeans): void {
  app.get(
    "/api/v0/auth/passkeys/",
    {
      config: { access: { operation: "api.passkey.list", permission: "user_read" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Show own passkeys", response: { 200: PasskeysResponse } },
    },
    async (request) => {
      const passkeys = await listOwnPasskeys(database.kysely, identityOf(request));
      return { success: true as const, passkeys: passkeys.map(viewPasskey) };
    },
  );

  app.put(
    "/api/v0/auth/passkeys/:id/",
    {
      config: { access: { operation: "api.passkey.update", permission: "user_write" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Rename a passkey",
        params: PasskeyParams,
        body: RenamePasskeyBody,
        response: { 200: PasskeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const asked = { id: parseId<PasskeyId>(request.params.id), label: readPasskeyLabel(request.body.label) };
        const passkey = await renamePasskey(tx, callerOf(request), asked);
        return { success: true as const, msg: "The passkey was renamed.", passkey: viewPasskey(passkey) };
      }),
  );

  app.delete(
    "/api/v0/auth/passkeys/:id/",
    {
      config: { access: { operation: "api.passkey.delete", permission: "user_write" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Delete a passkey",
        params: PasskeyParams,
        response: { 200: PasskeyDeletedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removePasskey(tx, callerOf(request), parseId<PasskeyId>(request.params.id), means);
        return { success: true as const, msg: "The passkey was deleted. It opens nothing here any more." };
      }),
  );
}

/** The address of a request, by its Host header and by its connection. */
function calledAt(request: FastifyRequest) {
  const { localAddress, localPort } = request.socket;
  return { origin: originOf(request), localAddress, localPort };
}

/** The cookie of this browser, which it keeps between tabs; a new one for a browser without. */
function giveCookie(request: FastifyRequest, reply: FastifyReply, { random }: Pick<SignInMeans, "random">): string {
  const value = readBrowserCookie(request, COOKIE) ?? random(COOKIE_BYTES).toString("base64url");
  setBrowserCookie(reply, request, COOKIE, value);
  return value;
}

/** The cookie of a browser that answers; without any, its answer is to no challenge. */
function cookieOf(request: FastifyRequest): string {
  const value = readBrowserCookie(request, COOKIE);
  if (value === undefined) throw challengeOver();
  return value;
}
