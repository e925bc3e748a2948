import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { createKeyAsAdmin } from "../keys/service.ts";
import type { AccountPorts } from "../route-ports.ts";
import { AdminCreateKeyBody, AdminCreateUserBody, AdminKeyResponse } from "../schema.ts";
import { createAccountAsAdmin } from "../users/service.ts";

const TAGS = ["Administration"];

/** Routes behind `berth admin`. */
export function adminRoutes({ app, mutate }: HttpScope, { random, grantCredit }: AccountPorts): void {
  app.post(
    "/api/v0/admin/users/",
    {
      config: { access: { operation: "api.admin.user.create", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Create an account for somebody",
        body: AdminCreateUserBody,
        response: { 200: AdminKeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const ports = { random, grantCredit };
        const account = await createAccountAsAdmin(tx, callerOf(request), request.body, ports);
        return { id: account.userId, email: account.email, api_key: account.secret, key_id: account.keyId };
      }),
  );

  app.post(
    "/api/v0/admin/keys/",
    {
      config: { access: { operation: "api.admin.key.create", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Create an API key for a user",
        body: AdminCreateKeyBody,
        response: { 200: AdminKeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const issued = await createKeyAsAdmin(tx, callerOf(request), request.body, random);
        return { id: issued.userId, email: issued.email, api_key: issued.secret, key_id: issued.keyId };
      }),
  );
}
