import { Type } from "typebox";
import { asId, MAX_ID, type InstanceId, type MachineId } from "../../../base/ids.ts";
import { callerOf, type HttpScope } from "../../../http/server.ts";
import { askToMove, stopForReason, unlistForReason } from "./service.ts";

const TAGS = ["Administration"];
const SECONDS_MAX = 253_402_300_799;

const Params = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });
const reason = Type.String({
  minLength: 1,
  maxLength: 500,
  description: "Reason, which the people concerned read",
  examples: ["Its host reported smoke."],
});
const ReasonBody = Type.Object({ reason });
const MoveBody = Type.Object({
  reason,
  until: Type.Number({
    minimum: 0,
    maximum: SECONDS_MAX,
    description: "Time until which renters should have moved, in seconds since the epoch",
    examples: [1_767_225_600],
  }),
});

const Done = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer({ description: "Id of the instance or machine", examples: [12] }),
});
const Asked = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer({ description: "Id of the machine", examples: [12] }),
  renter_count: Type.Integer({ description: "Number of renters who were told", examples: [3] }),
});

/** Routes by which administrators act on single instances and machines. */
export function actingRoutes({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/instances/:id/stop/",
    {
      config: { access: { operation: "api.admin.instance.stop", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Stop an instance of any renter, with its data kept",
        params: Params,
        body: ReasonBody,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<InstanceId>(request.params.id);
        await stopForReason(tx, callerOf(request), { id, reason: request.body.reason });
        return { success: true as const, id };
      }),
  );

  app.post(
    "/api/v0/admin/machines/:id/unlist/",
    {
      config: { access: { operation: "api.admin.machine.unlist", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Take a machine of any host off the market",
        params: Params,
        body: ReasonBody,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<MachineId>(request.params.id);
        await unlistForReason(tx, callerOf(request), { id, reason: request.body.reason });
        return { success: true as const, id };
      }),
  );

  app.post(
    "/api/v0/admin/machines/:id/move_notice/",
    {
      config: { access: { operation: "api.admin.machine.ask_to_move", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Ask everybody who rents on a machine to move",
        params: Params,
        body: MoveBody,
        response: { 200: Asked },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<MachineId>(request.params.id);
        const renterCount = await askToMove(tx, callerOf(request), { id, ...request.body });
        return { success: true as const, id, renter_count: renterCount };
      }),
  );
}
