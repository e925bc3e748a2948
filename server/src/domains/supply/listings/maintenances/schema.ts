import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { MAX_ID } from "../../../../base/ids.ts";
import { Category, MachineIds, MaintenanceRecord } from "../schema.ts";

const Id = Type.Integer({ minimum: 1, maximum: MAX_ID });

export const FindBody = Type.Object({
  machine_ids: MachineIds,
  ctime: Type.Optional(
    Type.Number({
      description: "Maintenances that are over by then are left out; in seconds since the epoch, now by default",
      examples: [1_767_225_600],
    }),
  ),
});
export const FindResponse = Type.Array(MaintenanceRecord);

export const CancelBody = Type.Object({
  maintenance_id: Type.Integer({ minimum: 1, maximum: MAX_ID, description: "Id of the maintenance", examples: [31] }),
});

const BATCH_MAX = 100;

export const BatchBody = Type.Object({
  machine_ids: Type.Array(Id, {
    minItems: 1,
    maxItems: BATCH_MAX,
    description: "Ids of own machines, at most 100",
    examples: [[12, 13]],
  }),
  sdate: Type.Optional(Type.Unknown()),
  duration: Type.Optional(
    Type.Number({
      description: "Duration in hours, 1 by default; one that is shorter counts as an hour",
      examples: [2],
    }),
  ),
  maintenance_reason: Type.Optional(
    Type.String({ maxLength: 1000, description: "The reason, which renters read", examples: ["new fans"] }),
  ),
  maintenance_category: Type.Optional(Category),
});

export const BatchResponse = Type.Object({
  success: Type.Boolean({ description: "True when at least one machine got the maintenance", examples: [true] }),
  results: Type.Array(
    model("MaintenanceBatchResult", {
      success: Type.Boolean(),
      machine_id: Type.Integer(),
      maintenance_id: Type.Optional(Type.Integer({ description: "Id of the new maintenance", examples: [31] })),
      notifications_sent: Type.Optional(
        Type.Integer({ description: "Number of renters who were told; absent for a refusal", examples: [2] }),
      ),
      error: Type.Optional(Type.String({ description: "Code of a refusal", examples: ["not_found"] })),
      msg: Type.Optional(Type.String({ description: "The reason of a refusal", examples: ["No such machine id 12."] })),
    }),
  ),
});

export const BatchCancelBody = Type.Object({
  maintenance_ids: Type.Array(Id, {
    minItems: 1,
    maxItems: BATCH_MAX,
    description: "Ids of maintenances of own machines, at most 100",
    examples: [[31, 32]],
  }),
});
export const BatchCancelResponse = Type.Object({
  success: Type.Boolean({ description: "True when at least one maintenance was cancelled", examples: [true] }),
  results: Type.Array(
    model("MaintenanceCancelResult", {
      success: Type.Boolean(),
      maintenance_id: Type.Integer({ description: "Id of the maintenance", examples: [31] }),
      msg: Type.String(),
    }),
  ),
});
