import { Type } from "typebox";
import { model } from "../../http/model.ts";

const id = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });

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
