import { Type } from "typebox";
import { epochSeconds } from "../../../base/clock.ts";
import { asId, MAX_ID, type UserId } from "../../../base/ids.ts";
import { PERSONAL_ROWS_MAX, type PersonalData } from "../../../base/personal-data.ts";
import { callerOf, type HttpScope } from "../../../http/server.ts";
import { deleteAccount, exportAccount, type ClosingPorts } from "./service.ts";

const TAGS = ["Administration"];

const Params = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });
const Body = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "Reason, such as the request of the person, for the audit log",
    examples: ["The person asked for it on 3 March."],
  }),
});

const ExportResponse = Type.Object({
  success: Type.Literal(true),
  user_id: Type.Integer({ description: "Id of the account", examples: [7] }),
  exported_at: Type.Number({
    description: "Time of the copy, in seconds since the epoch",
    examples: [1_767_225_600],
  }),
  data: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown())), {
    description:
      "Rows by kind: account, keys, ssh_keys, saved_searches, secret_names, addresses, acts, passkeys, second_factors, single_sign_on, notifications, instances and documents; the newest 10,000 of each",
  }),
  truncated: Type.Array(Type.String(), {
    description: "Kinds of which there may be more rows than the 10,000 in this copy",
    examples: [[]],
  }),
});

const DeletedResponse = Type.Object({
  success: Type.Literal(true),
  user_id: Type.Integer({ description: "Id of the account that was deleted", examples: [7] }),
});

/** Routes by which administrators give a person a copy of their data, and delete an account on request. */
export function closingRoutes({ app, mutate }: HttpScope, ports: ClosingPorts): void {
  app.post(
    "/api/v0/admin/users/:id/export/",
    {
      config: { access: { operation: "api.admin.user.export", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Take a copy of everything that is known of an account",
        params: Params,
        body: Body,
        response: { 200: ExportResponse },
      },
    },
    async (request) => {
      await ports.flushActs();
      return mutate(request, async (tx) => {
        const id = asId<UserId>(request.params.id);
        const data = await exportAccount(tx, callerOf(request), { id, reason: request.body.reason }, ports);
        // Times as JSON has them, since rows come as they are stored.
        const truncated = Object.keys(data).filter((kind) => (data[kind]?.length ?? 0) >= PERSONAL_ROWS_MAX);
        return { success: true as const, user_id: id, exported_at: epochSeconds(tx.now), data: plain(data), truncated };
      });
    },
  );

  app.post(
    "/api/v0/admin/users/:id/delete/",
    {
      config: { access: { operation: "api.admin.user.delete", permission: "admin", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Delete the account of a person, with all data that no law keeps",
        params: Params,
        body: Body,
        response: { 200: DeletedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<UserId>(request.params.id);
        await deleteAccount(tx, callerOf(request), { id, reason: request.body.reason }, ports);
        return { success: true as const, user_id: id };
      }),
  );
}

type Rows = Record<string, Record<string, unknown>[]>;

function plain(data: PersonalData): Rows {
  return JSON.parse(
    JSON.stringify(data, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  );
}
