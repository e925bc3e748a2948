import type { FastifyRequest } from "fastify";
import { AppError, invalid } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { forgetAnswer } from "../../../../db/idempotency-store.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import type { HttpScope } from "../../../../http/server.ts";
import type { SignInMeans } from "../means.ts";
import { MailCodeBody, PhoneCodeBody, SentResponse } from "../schema.ts";
import type { SmsMessage } from "../sms.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { requireWindow } from "./add-method.ts";
import { dropCode } from "./challenge-store.ts";
import { challengeNotFound, hashSecret, standingOf } from "./challenges.ts";
import { methodIdOf, readPhone } from "./requests.ts";
import { sendMailCode, sendPhoneCode, type Sent } from "./send-code.ts";

/** Routes that send codes. They work with a key, and with the secret of a sign-in in place of one. */
export function codeRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, mutate } = scope;
  const access = { permission: "optional", keyPermission: "user_write", limit: "keys" } as const;

  app.post(
    "/api/v0/tfa/email/",
    {
      config: { access: { operation: "api.tfa.send_mail", ...access } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Have a code mailed",
        body: MailCodeBody,
        response: { 200: SentResponse },
      },
    },
    async (request) => {
      const { identity, body } = request;
      const { secret } = await mutate(request, (tx) => mailCode(tx, { identity, secret: body.secret }, means));
      return { success: true as const, msg: "A code is on its way to your e-mail address.", secret };
    },
  );

  const paths = [
    { path: "sms", isAlias: false, isRepeat: false },
    { path: "test", isAlias: true, isRepeat: false },
    { path: "sms/resend", isAlias: false, isRepeat: true },
    { path: "resend", isAlias: true, isRepeat: true },
  ] as const;
  for (const { path, isAlias, isRepeat } of paths) {
    const operation = isRepeat ? "api.tfa.resend_sms" : "api.tfa.send_sms";
    app.post(
      `/api/v0/tfa/${path}/`,
      {
        config: { access: { operation, ...access, isAlias } },
        schema: {
          tags: SIGN_IN_TAGS,
          summary: isRepeat ? "Have another code sent to a phone" : "Have a code sent to a phone",
          body: PhoneCodeBody,
          response: { 200: SentResponse },
        },
      },
      async (request) => {
        const { identity, body } = request;
        const asked = {
          ...{ identity, isRepeat, secret: body.secret },
          methodId: methodIdOf(body.tfa_method_id),
          newNumber: readPhone(body.phone_number),
        };
        const secret = await delivered(scope, request, means, (note) =>
          mutate(request, async (tx) => note(await phoneCode(tx, asked, means))),
        );
        return { success: true as const, msg: "A code is on its way to the phone.", secret };
      },
    );
  }
}

/**
 * Hands the text message of `work` to the provider once `work` is committed; a repetition of the request has none. A code
 * that the provider did not take is taken back with the answer to the request, so that a repetition sends another one.
 */
export async function delivered<T extends { readonly secret: string }>(
  { database, clock, repeatable }: Pick<HttpScope, "database" | "clock" | "repeatable">,
  request: FastifyRequest,
  { sms }: SignInMeans,
  work: (note: (sent: Sent) => { readonly secret: string }) => Promise<T>,
): Promise<string> {
  let outgoing: SmsMessage | undefined;
  const { secret } = await work((sent) => {
    outgoing = sent.outgoing;
    return { secret: sent.secret };
  });
  if (outgoing === undefined || sms === undefined || (await sms(outgoing))) return secret;
  const repeated = repeatable(request);
  await withTransaction(database, clock, async (tx) => {
    await dropCode(tx, hashSecret(secret));
    if (repeated !== undefined) await forgetAnswer(tx, repeated);
  });
  throw new AppError(
    "unavailable",
    "service_unavailable",
    "The provider of text messages did not take the code. Try again in a minute, or use another method.",
  );
}

async function mailCode(
  tx: Tx,
  asked: { readonly identity: Identity | undefined; readonly secret: string | undefined },
  means: SignInMeans,
): Promise<{ readonly secret: string }> {
  const standing = await standingOf(tx, asked);
  const purpose = standing.challenge?.purpose ?? "verify";
  // Mail authorizes the first method alone, and authorize-new-method sends that code.
  if (purpose !== "verify" && purpose !== "sign_in") throw challengeNotFound();
  const { secret } = await sendMailCode(tx, standing, { purpose, secret: asked.secret }, means);
  return { secret };
}

async function phoneCode(
  tx: Tx,
  asked: {
    readonly identity: Identity | undefined;
    readonly secret: string | undefined;
    readonly methodId: ReturnType<typeof methodIdOf>;
    readonly newNumber: string | undefined;
    readonly isRepeat: boolean;
  },
  means: SignInMeans,
): Promise<Sent> {
  const { newNumber, methodId } = asked;
  const standing = await standingOf(tx, asked);
  if (newNumber !== undefined && methodId !== undefined) {
    throw invalid("phone_number", "phone_number and tfa_method_id exclude each other", "bad_request");
  }
  const isNew = newNumber !== undefined;
  if (isNew) await requireWindow(tx, standing.userId);
  const purpose = standing.challenge?.purpose ?? (isNew ? "phone" : "verify");
  // A code that went to a new number proves that number and nothing else.
  if (isNew !== (purpose === "phone")) throw challengeNotFound();
  return sendPhoneCode(tx, standing, { ...asked, purpose }, means);
}
