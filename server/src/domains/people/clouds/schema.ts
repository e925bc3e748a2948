import { Type } from "typebox";
import { MAX_ID } from "../../../base/ids.ts";
import { model } from "../../../http/model.ts";

const id = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const textOrNull = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });
/** Long enough for every key of a storage; the rules say which characters one may have. */
const secret = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 4096, description, examples: [example] }));

const CONNECTION_KIND = text("Kind of the storage: `s3`, `b2` or `hf`", "s3");

export const ConnectionsAnswer = Type.Array(
  model("CloudIntegration", {
    id: id("Id of the connection", 3),
    name: text("Name that the user gave the connection", "backups"),
    cloud_type: CONNECTION_KIND,
  }),
);

export const StoredConnectionsAnswer = Type.Array(
  model("CloudConnection", {
    id: id("Id of the connection", 3),
    cloud_service_id: id("Number of the kind of storage: 2 for `s3`, 3 for `b2`, 5 for `hf`", 2),
    cloud_type: CONNECTION_KIND,
    user_given_name: text("Name that the user gave the connection", "backups"),
    endpoint: textOrNull(
      "Address of an S3-compatible storage; null for AWS and for other kinds",
      "https://s3.example.com",
    ),
    region: textOrNull("Region of an S3 storage; null when none was given", "eu-central-1"),
    namespace: textOrNull("User or organisation at Hugging Face; null for other kinds", "renter"),
    created_at: Type.Number(),
  }),
);

const Provider = Type.Union(
  [Type.Literal("drive"), Type.Literal("s3"), Type.Literal("b2"), Type.Literal("dropbox"), Type.Literal("hf")],
  { description: "Kind of the storage to connect; `drive` and `dropbox` are refused", examples: ["s3"] },
);

export const ConnectBody = Type.Object(
  {
    provider: Provider,
    user_given_name: Type.Optional(text("Name of the connection", "backups")),
    access_key: secret("Id of the access key, for `s3` and `hf`", "AKIAEXAMPLE"),
    secret_access_key: secret("Secret of the access key, for `s3` and `hf`", "secret"),
    key_id: secret("Id of the key, for `b2`", "004aexample"),
    application_key: secret("Secret of the key, for `b2`", "secret"),
    namespace: secret("User or organisation of the buckets, for `hf`", "renter"),
    endpoint: secret(
      "Address of an S3-compatible storage; without it the storage is that of AWS",
      "https://s3.example.com",
    ),
    region: secret("Region of an S3 storage", "eu-central-1"),
    code: secret("Code of a sign-in at the storage, for `drive` and `dropbox`", "4/0Aexample"),
    state: secret("State of a sign-in at the storage, for `dropbox`", "0c1d"),
  },
  { additionalProperties: true },
);

export const ConnectAnswer = Type.Object({
  success: Type.Literal(true),
  msg: Type.String(),
  id: id("Id of the new connection", 3),
});

export const DisconnectBody = Type.Object(
  { id: Type.Integer({ minimum: 1, maximum: MAX_ID, description: "Id of the connection", examples: [3] }) },
  { additionalProperties: true },
);

export const DisconnectAnswer = Type.Object({ success: Type.Literal(true), msg: Type.String() });
