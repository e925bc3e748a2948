import { Type, type TSchema } from "typebox";
import { MAX_ID } from "../../../base/ids.ts";
import { model } from "../../../http/model.ts";

const id = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const orNull = <T extends TSchema>(schema: T, description: string, example: unknown) =>
  Type.Union([schema, Type.Null()], { description, examples: [example] });

const CONTRACT_ID = Type.Integer({
  minimum: 1,
  maximum: MAX_ID,
  description: "Id of the instance or the volume",
  examples: [77],
});

export const BackupQuery = Type.Object({ contract_id: Type.Optional(CONTRACT_ID) }, { additionalProperties: true });

export const BackupParams = Type.Object({ contract_id: CONTRACT_ID });

export const FileParams = Type.Object({ contract_id: CONTRACT_ID, name: Type.String({ maxLength: 64 }) });

export const FileQuery = Type.Object(
  { Authorization: Type.Optional(Type.String({ maxLength: 256 })) },
  { additionalProperties: true },
);

export const BackupsAnswer = Type.Object({
  success: Type.Literal(true),
  backups: Type.Array(
    model("InstanceBackup", {
      id: id("Id of the backup", 4),
      contract_id: id("Id of the instance or the volume", 77),
      type: orNull(Type.String(), "Kind of the contract: `instance` or `volume`", "instance"),
      machine_id: id("Id of the machine on which the files lay", 12),
      status: Type.Union([Type.Literal("pending"), Type.Literal("success"), Type.Literal("error")], {
        description: "State of the backup",
        examples: ["success"],
      }),
      created_at: orNull(
        Type.Number(),
        "Time at which the backup was wanted, in seconds since the epoch",
        1_767_225_600,
      ),
      info: orNull(
        Type.String(),
        "Reason of the backup and the day until which it is kept; for `error` why there is none",
        "the rental was about to end; kept until 2026-01-31",
      ),
    }),
    { description: "Backups of the caller's contracts, the newest first" },
  ),
  msg: Type.Optional(
    text("Sentence on why there are no backups, where this service makes none", "This service makes no backups."),
  ),
});

export const BackupFilesAnswer = Type.Object({
  authorization_token: text(
    "Value of the header `Authorization` with which the files are fetched",
    "7.1767229200.c2ln",
  ),
  expires_in_sec: Type.Number({ description: "Seconds for which the token is good", examples: [3600] }),
  truncated: Type.Boolean({ description: "True when there are more files than the list has", examples: [false] }),
  files: Type.Array(
    model("BackupFile", {
      name: text("Name of the file", "instance-77.tar.gz"),
      size: orNull(Type.Number(), "Size of the file, in bytes", 1024),
      url: text(
        "Address of the file, which needs the token in the header `Authorization` or in the query",
        "https://gpu.example.com/api/v0/instance_backups/77/files/instance-77.tar.gz",
      ),
    }),
    { description: "Files of the newest backup: one, or two where an instance and a volume have the same id" },
  ),
});

export const MachineParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: MAX_ID, description: "Id of the machine", examples: [12] }),
});

export const AskedAnswer = Type.Object({
  success: Type.Literal(true),
  queued: Type.Integer({ description: "Backups that are wanted now and were not before", examples: [3] }),
  msg: text("Sentence on what happens now", "3 backups of machine 12 are wanted; each is made when its turn comes."),
});
