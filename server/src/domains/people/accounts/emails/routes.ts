import { notFound } from "../../../../base/errors.ts";
import { parseId, type UserId } from "../../../../base/ids.ts";
import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { confirmProof, proveAsOperator, requestProof } from "./service.ts";
import { parseEmail } from "../users/profile.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import { ConfirmEmailBody, MessageResponse, ProveEmailBody, UserIdParams } from "../schema.ts";

/** Routes by which an account proves its address. */
export function emailRoutes(scope: HttpScope, means: AccountPorts): void {
  const { app, mutate } = scope;
  ownEmailRoutes(scope, means);

  app.post(
    "/api/v0/admin/users/:user_id/prove_email/",
    {
      config: { access: { operation: "api.admin.user.prove_email", permission: "admin", limit: "keys" } },
      schema: {
        tags: ["Administration"],
        summary: "Vouch for the address of an account",
        params: UserIdParams,
        body: ProveEmailBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const userId = parseId<UserId>(request.params.user_id);
        if (userId === undefined) throw notFound("no_such_user", `There is no user ${request.params.user_id}.`);
        const email = parseEmail(request.body.email);
        await proveAsOperator(tx, callerOf(request), { userId, email });
        return { success: true as const, msg: `${email} is proven to be the address of account ${userId}.` };
      }),
  );
}

function ownEmailRoutes({ app, mutate }: HttpScope, means: AccountPorts): void {
  for (const name of ["me", "current"]) {
    const isAlias = name !== "me";
    app.post(
      `/api/v0/users/${name}/email/proof/`,
      {
        config: {
          access: { operation: "api.user.request_email_proof", permission: "user_write", limit: "keys", isAlias },
        },
        schema: {
          tags: ACCOUNT_TAGS,
          summary: "Mail a token to own e-mail address, to prove it",
          response: { 200: MessageResponse },
        },
      },
      (request) =>
        mutate(request, async (tx) => {
          const { email, isEmailProven } = await requestProof(tx, callerOf(request), means);
          const msg = isEmailProven ? `${email} is proven already.` : `A token is on its way to ${email}.`;
          return { success: true as const, msg };
        }),
    );

    app.post(
      `/api/v0/users/${name}/email/confirm/`,
      {
        config: {
          access: { operation: "api.user.confirm_email", permission: "user_write", limit: "keys", isAlias },
        },
        schema: {
          tags: ACCOUNT_TAGS,
          summary: "Prove own e-mail address with the token that was mailed there",
          body: ConfirmEmailBody,
          response: { 200: MessageResponse },
        },
      },
      (request) =>
        mutate(request, async (tx) => {
          const email = await confirmProof(tx, callerOf(request), request.body.token);
          return { success: true as const, msg: `${email} is proven to be your address.` };
        }),
    );
  }
}
