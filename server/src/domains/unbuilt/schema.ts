import { Type } from "typebox";
import { model } from "../../http/model.ts";

const id = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const idOrText = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Integer()], { description, examples: [example] });

const CONNECTION_KIND = text("Kind of the storage: `drive`, `s3`, `b2`, `dropbox` or `hf`", "s3");

export const ConnectionsAnswer = Type.Array(
  model("CloudIntegration", {
    id: id("Id of the connection", 3),
    name: text("Name that the user gave the connection", "backups"),
    cloud_type: CONNECTION_KIND,
  }),
  { examples: [[]] },
);

export const StoredConnectionsAnswer = Type.Array(
  model("CloudConnection", {
    id: id("Id of the connection", 3),
    cloud_service_id: id("Id of the kind of storage", 1),
    cloud_type: CONNECTION_KIND,
    user_given_name: text("Name that the user gave the connection", "backups"),
  }),
  { examples: [[]] },
);

const Provider = Type.Union(
  [Type.Literal("drive"), Type.Literal("s3"), Type.Literal("b2"), Type.Literal("dropbox"), Type.Literal("hf")],
  { description: "Kind of the storage to connect", examples: ["s3"] },
);

/** The secrets of each kind are described to clients, and neither read nor stored. */
export const ConnectBody = Type.Object(
  {
    provider: Provider,
    user_given_name: Type.Optional(text("Name of the connection", "backups")),
    access_key: Type.Optional(text("Access key of the storage, for `s3` and `hf`", "AKIAEXAMPLE")),
    secret_access_key: Type.Optional(text("Secret of the access key, for `s3` and `hf`", "secret")),
    key_id: Type.Optional(text("Id of the key, for `b2`", "004aexample")),
    application_key: Type.Optional(text("Secret of the key, for `b2`", "secret")),
    namespace: Type.Optional(text("Name of the account at the storage, for `hf`", "renter")),
    code: Type.Optional(text("Code of a sign-in at the storage, for `drive` and `dropbox`", "4/0Aexample")),
    state: Type.Optional(text("State of a sign-in at the storage, for `dropbox`", "0c1d")),
  },
  { additionalProperties: true },
);

export const DisconnectBody = Type.Object({ id: id("Id of the connection", 3) }, { additionalProperties: true });

export const CloudCopyBody = Type.Object(
  {
    instance_id: Type.Optional(idOrText("Id of the instance", "77")),
    src: Type.Optional(text("Path of the files to copy", "/workspace/out")),
    dst: Type.Optional(text("Path of the copies", "/backups/out")),
    selected: Type.Optional(idOrText("Id of the connection", "3")),
    transfer: Type.Optional(text("Direction: `Instance To Cloud` or `Cloud To Instance`", "Instance To Cloud")),
    flags: Type.Optional(
      Type.Array(Type.String(), { description: "Options of the copying program", examples: [["--dry-run"]] }),
    ),
  },
  { additionalProperties: true },
);

export const CancelCloudCopyBody = Type.Object(
  { dst_id: idOrText("Id of the instance that is copied to or from", "77") },
  { additionalProperties: true },
);

export const ClusterSearchBody = Type.Object(
  {
    q: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: "Conditions for offers, `{field: {operator: value}}`",
          examples: [{ num_gpus: { gte: 8 } }],
        },
      ),
    ),
  },
  { additionalProperties: true },
);

export const ClusterOffersAnswer = Type.Object({
  offers: Type.Array(Type.Object({}, { additionalProperties: true }), {
    description: "Offers of clusters; always empty",
    examples: [[]],
  }),
});

const Cluster = model("Cluster", {
  subnet: text("Network of the cluster's machines, in CIDR form", "10.1.0.0/24"),
  nodes: Type.Array(
    model("ClusterNode", {
      machine_id: id("Id of the machine", 12),
      is_cluster_manager: Type.Boolean({ description: "True for the one machine that manages the cluster" }),
      local_ip: text("Address of the machine in the cluster's network", "10.1.0.2"),
    }),
    { description: "Machines of the cluster" },
  ),
});

export const ClustersAnswer = Type.Object({
  clusters: Type.Record(Type.String(), Cluster, {
    description: "Own clusters by their ids; always empty",
    examples: [{}],
  }),
});

const CLUSTER_ID = id("Id of the cluster", 5);

export const CreateClusterBody = Type.Object(
  {
    subnet: text("Network of the cluster's machines, in CIDR form", "10.1.0.0/24"),
    manager_id: id("Id of the machine that manages the cluster", 12),
  },
  { additionalProperties: true },
);

export const JoinClusterBody = Type.Object(
  {
    cluster_id: CLUSTER_ID,
    machine_ids: Type.Array(Type.Integer(), { description: "Ids of the machines that join", examples: [[13, 14]] }),
  },
  { additionalProperties: true },
);

export const DeleteClusterBody = Type.Object({ cluster_id: CLUSTER_ID }, { additionalProperties: true });

export const LeaveClusterBody = Type.Object(
  {
    cluster_id: CLUSTER_ID,
    machine_id: id("Id of the machine that leaves", 13),
    new_manager_id: Type.Optional(id("Id of the machine that manages the cluster from then on", 14)),
  },
  { additionalProperties: true },
);

export const OverlaysAnswer = Type.Array(
  model("Overlay", {
    overlay_id: id("Id of the overlay", 8),
    name: text("Name of the overlay", "training"),
    internal_subnet: Type.Union([Type.String(), Type.Null()], {
      description: "Network of the overlay, in CIDR form; null until it has one",
      examples: ["10.2.0.0/24"],
    }),
    cluster_id: CLUSTER_ID,
    instances: Type.Array(Type.Integer(), { description: "Ids of the instances in the overlay", examples: [[77]] }),
  }),
  { examples: [[]] },
);

export const CreateOverlayBody = Type.Object(
  { cluster_id: CLUSTER_ID, name: text("Name of the overlay", "training") },
  { additionalProperties: true },
);

export const JoinOverlayBody = Type.Object(
  { name: text("Name of the overlay", "training"), instance_id: id("Id of the instance that joins", 77) },
  { additionalProperties: true },
);

export const DeleteOverlayBody = Type.Object(
  {
    overlay_id: Type.Optional(id("Id of the overlay, unless its name is given", 8)),
    overlay_name: Type.Optional(text("Name of the overlay, unless its id is given", "training")),
  },
  { additionalProperties: true },
);
