import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { Instance } from "../schema.ts";

const Flag = Type.Union([Type.String(), Type.Boolean()]);
const ResultUrl = Type.String({
  description:
    "Address of the text: it answers 404 until the text is there, then 200 for ten minutes, and needs no key",
});

export const LogsBody = Type.Object(
  {
    tail: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    filter: Type.Optional(Type.String()),
    daemon_logs: Type.Optional(Flag),
  },
  { additionalProperties: true },
);

export const LogsAnswer = Type.Object({ success: Type.Literal(true), result_url: ResultUrl, msg: Type.String() });

export const CommandBody = Type.Object({ command: Type.String() }, { additionalProperties: true });

export const CommandAnswer = Type.Object({
  success: Type.Literal(true),
  result_url: ResultUrl,
  writeable_path: Type.String(),
  msg: Type.String(),
});

export const SnapshotBody = Type.Object(
  {
    container_registry: Type.Optional(Type.String({ maxLength: 1024 })),
    personal_repo: Type.Optional(Type.String({ maxLength: 1024 })),
    docker_login_user: Type.Optional(Type.String()),
    docker_login_pass: Type.Optional(Type.String()),
    pause: Type.Optional(Flag),
  },
  { additionalProperties: true },
);

/** Settings are checked field by field by the templates domain. */
export const SettingsBody = Type.Object(
  {
    template_id: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
    template_hash_id: Type.Optional(Type.String({ maxLength: 64 })),
    image: Type.Optional(Type.String({ maxLength: 1024 })),
    args: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    env: Type.Optional(Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())])),
    onstart: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

export const SettingsAnswer = Type.Object({
  success: Type.Literal(true),
  updated_instance: Instance,
  msg: Type.String(),
});

const PlaceId = Type.Union([Type.Integer(), Type.String()], { description: "Instance `C.<id>` or volume `V.<id>`" });
const CopySide = Type.Union([Type.Integer(), Type.String(), Type.Null()]);

/** The fields after `msg` are those of a copy with the caller's own computer. */
export const CopyAnswer = model("CopyStarted", {
  success: Type.Literal(true),
  msg: Type.String(),
  src_addr: Type.Optional(Type.String()),
  src_port: Type.Optional(Type.Integer()),
  dst_addr: Type.Optional(Type.String()),
  dst_port: Type.Optional(Type.Integer()),
  rsync_user: Type.Optional(Type.String()),
  rsync_path: Type.Optional(Type.String()),
  ssh_host_key: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

export const CopySizeBody = model(
  "CopySizeRequest",
  {
    client_id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    src_id: Type.Optional(PlaceId),
    src_path: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

export const CopyBody = model(
  "CopyRequest",
  {
    client_id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    src_id: Type.Optional(CopySide),
    dst_id: Type.Optional(CopySide),
    src_path: Type.Optional(Type.String()),
    dst_path: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

export const CancelCopyBody = model(
  "CopyCancellation",
  {
    client_id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    dst_id: Type.Optional(PlaceId),
  },
  { additionalProperties: true },
);
