import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

export const PathQuery = Type.Object({ path: Type.Optional(Type.String()) }, { additionalProperties: true });
export const EntryQuery = Type.Object({ path: Type.String() }, { additionalProperties: true });
export const UploadQuery = Type.Object(
  { path: Type.String(), overwrite: Type.Optional(Type.Boolean()) },
  { additionalProperties: true },
);
export const FolderBody = Type.Object({ path: Type.String() }, { additionalProperties: true });

const FileType = Type.Union([
  Type.Literal("file"),
  Type.Literal("folder"),
  Type.Literal("link"),
  Type.Literal("other"),
]);

const FileEntry = model("FileEntry", {
  name: Type.String(),
  type: FileType,
  size_bytes: Type.Number(),
  modified_at: Type.Number(),
  mode: Type.String(),
  target: Type.Union([Type.String(), Type.Null()]),
  leads_to: Type.Union([FileType, Type.Null()]),
  is_addressable: Type.Boolean(),
});

export const Folder = Type.Object({
  success: Type.Literal(true),
  path: Type.String(),
  entries: Type.Array(FileEntry),
  is_complete: Type.Boolean(),
});

export const FileDone = Type.Object({ success: Type.Literal(true), path: Type.String() });
