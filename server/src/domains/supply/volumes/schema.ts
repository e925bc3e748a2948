import { Type, type Static } from "typebox";
import { Allowed } from "../../../http/allowed-action.ts";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";

const id = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_ID, description });
const nullable = <const T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const Success = Type.Object({ success: Type.Literal(true), msg: Type.String() });

/** Fields of a request to list space; absent ones keep their value, or take their default. */
const listingFields = {
  size: Type.Optional(
    Type.Number({ description: "Space that is offered in all, in GB; by default 15, or all of a smaller disk" }),
  ),
  price_disk: Type.Optional(Type.Number({ description: "Dollars per GB and month" })),
  end_date: Type.Optional(Type.Number({ description: "End of the listing, in seconds since the epoch" })),
};

export const ListNetworkVolumeBody = Type.Object({
  disk_id: id("Id of the network disk"),
  ...listingFields,
  credit_discount_max: Type.Optional(
    Type.Number({ description: "Largest discount for prepaying, from 0 to 1; 0.4 by default" }),
  ),
});
export type ListNetworkVolumeBody = Static<typeof ListNetworkVolumeBody>;

export const ListNetworkVolumeResponse = Type.Object({
  success: Type.Literal(true),
  disk_id: Type.String(),
  msg: Type.String({ description: "The same sentence as `disk_id`" }),
});

export const ListVolumeBody = Type.Object({
  machine: Type.Optional(
    Type.Union([id("Id of the machine"), Type.Array(id("Id of a machine"), { minItems: 1, maxItems: 256 })], {
      description: "Id of the machine, or ids of several; `machines` counts before it",
      examples: [12],
    }),
  ),
  machines: Type.Optional(
    Type.Array(id("Id of a machine"), {
      minItems: 1,
      maxItems: 256,
      description: "Ids of machines whose space gets the same terms, at most 256: all of them or none",
      examples: [[12, 13]],
    }),
  ),
  hidden_listing: Type.Optional(
    Type.Boolean({ description: "False, the default: searches find every listing", examples: [false] }),
  ),
  ...listingFields,
});
export type ListVolumeBody = Static<typeof ListVolumeBody>;

export const ListVolumeResponse = Type.Object({
  success: Type.Literal(true),
  msg: Type.String(),
  you_sent: Type.Object(
    {},
    {
      additionalProperties: true,
      description: "The fields of the request, as the server read them",
      examples: [{ machine: 12, size: 100 }],
    },
  ),
  results: Type.Array(
    model("ListedSpace", {
      machine_id: Type.Integer(),
      user_id: Type.Integer(),
      extended: Type.Integer({ description: "Number of volumes that go on until the new end, at their own prices" }),
      new_contracts: Type.Array(
        model("NewSpaceListing", {
          id: Type.Integer({ description: "Id of the listing" }),
          size: Type.Number({ description: "Space that is offered in all, in GB" }),
        }),
        { description: "The listing of the machine when it is new, or replaces one that had better terms" },
      ),
      upd_contracts: Type.Array(Type.Integer(), {
        description: "Id of the machine's listing when it kept its id, in a list",
      }),
    }),
    { description: "Outcome for each machine" },
  ),
});

export const UnlistBody = Type.Object({ id: id("Id of the listing") });

export const RentBody = model("VolumeRental", {
  id: id("Id of the volume offer"),
  size: Type.Optional(Type.Number({ description: "Size of the volume, in GB; 15 by default" })),
  name: Type.Optional(Type.String()),
});
export type RentBody = Static<typeof RentBody>;

export const RentResponse = model("NewVolume", {
  success: Type.Literal(true),
  id: Type.Integer({ description: "Id of the new volume" }),
  volume_name: Type.String({ description: "`V.<id>`, the name by which it is mounted" }),
  storage_cost: Type.Optional(Type.Number({ description: "Dollars per GB and month that were agreed" })),
  storage_total_cost: Type.Optional(Type.Number({ description: "Dollars an hour for the whole volume" })),
  end_date: Type.Optional(Type.Number({ description: "End of the rental, in seconds since the epoch" })),
});

export const CloneBody = Type.Object({
  src_id: id("Id of the volume to clone"),
  dst_id: id("Id of the volume offer from which the new volume is rented, on any machine"),
  size: Type.Optional(
    Type.Number({ description: "Size of the new volume, in GB: at least that of the source, which is the default" }),
  ),
  disable_compression: Type.Optional(
    Type.Boolean({
      description: "True sends the data from one machine to another without compression; false by default",
    }),
  ),
});

export const CloneResponse = Type.Object({
  success: Type.Literal(true),
  msg: Type.String(),
  id: Type.Integer({ description: "Id of the new volume" }),
  volume_name: Type.String({ description: "`V.<id>`, the name by which the new volume is mounted" }),
});

const VolumeKinds = ["local_volume", "network_volume", "all_volume"] as const;

export const ListVolumesQuery = Type.Object({
  type: Type.Optional(Type.Enum(VolumeKinds)),
});

export const DeleteVolumeQuery = Type.Object({ id: Type.Optional(Type.Integer()) });
export const DeleteVolumeBody = Type.Object({ id: Type.Optional(Type.Integer()) });

/** `volume_info` of an instance creation: a volume to make or to link. */
export const VolumeInfo = model("VolumeMount", {
  create_new: Type.Optional(
    Type.Boolean({ description: "True rents a new volume; false, the default, mounts an existing one" }),
  ),
  volume_id: id("Id of an existing volume; with `create_new`, of a volume offer on the same machine"),
  size: Type.Optional(
    Type.Number({ description: "Size of the new volume, in GB, with `create_new` only; 15 by default" }),
  ),
  mount_path: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
});
export type VolumeInfo = Static<typeof VolumeInfo>;

/** Fields of every record that shows the machine of some space. Null where no machine is known. */
const machineFields = {
  machine_id: nullable(Type.Integer()),
  host_id: Type.Integer(),
  cluster_id: nullable(Type.Integer()),
  disk_name: Type.String(),
  storage_total_cost: Type.Number({ description: "Dollars an hour for the whole volume" }),
  inet_up: Type.Number({ description: "Declared speed of the uplink from the machine, in Mbit/s" }),
  inet_down: Type.Number({ description: "Declared speed of the uplink towards the machine, in Mbit/s" }),
  reliability2: Type.Number(),
  verification: Type.String({ description: "`verified` or `unverified`" }),
  geolocation: nullable(Type.String()),
  static_ip: Type.Boolean(),
  cuda_max_good: Type.Number(),
  cpu_arch: Type.String(),
  cpu_name: Type.String(),
  mobo_name: Type.String(),
  os_version: Type.String(),
  driver_version: Type.String(),
  is_simulated: Type.Boolean({ description: "True for a simulated machine: nothing that is rented there is real" }),
};

export const VolumeOfferRecord = model("VolumeOffer", {
  id: Type.Integer(),
  ask_contract_id: Type.Integer(),
  bundle_id: Type.Integer(),
  ...machineFields,
  disk_space: Type.Number(),
  disk_bw: Type.Number({ description: "Speed of the disk, in MB/s" }),
  storage_cost: Type.Number({ description: "Dollars per GB and month" }),
  credit_discount_max: Type.Number(),
  reliability: Type.Number(),
  reliability_mult: Type.Number(),
  duration: Type.Number({ description: "Seconds until `end_date`" }),
  start_date: Type.Number(),
  end_date: Type.Number(),
  vericode: Type.Integer(),
  hosting_type: Type.Integer(),
  external: Type.Boolean(),
  geolocode: nullable(Type.Integer()),
  cpu_ghz: Type.Number(),
  has_avx: Type.Integer(),
  pci_gen: Type.Number(),
  pcie_bw: Type.Number(),
  driver_vers: Type.Integer(),
  gpu_arch: Type.String(),
  total_flops: Type.Number(),
  vms_enabled: Type.Boolean(),
  nw_disk_min_bw: nullable(Type.Number()),
  nw_disk_max_bw: nullable(Type.Number()),
  nw_disk_avg_bw: nullable(Type.Number()),
  score: Type.Number(),
});
export type VolumeOfferRecord = Static<typeof VolumeOfferRecord>;

export const SearchBody = model(
  "VolumeSearch",
  {
    q: Type.Optional(Type.Unknown()),
    order: Type.Optional(Type.Unknown()),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: "Most offers of the answer: at most 10,000, 64 by default",
      }),
    ),
    disable_bundling: Type.Optional(Type.Unknown()),
    allocated_storage: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description: "Space that `storage_total_cost` is for, in GB; 1 by default",
      }),
    ),
  },
  { additionalProperties: true, description: "Conditions `{field: {operator: value}}` beside these keys" },
);

export const SearchQuery = Type.Object({ q: Type.Optional(Type.String()) });
export const SearchResponse = model("VolumeOffers", { offers: Type.Array(VolumeOfferRecord) });

export const VolumeRecord = model("Volume", {
  id: Type.Integer(),
  ...machineFields,
  label: Type.String(),
  disk_space: Type.Number(),
  status: Type.String(),
  start_date: Type.Number(),
  end_date: Type.Number({
    description: "End of the rental, in seconds since the epoch; a later listing of its space moves it",
  }),
  deletes_at: nullable(
    Type.Number({
      description:
        "Time at which it is deleted with its data if nothing changes, in seconds since the epoch; null while an instance uses it",
    }),
  ),
  storage_cost: Type.Number({ description: "Dollars per GB and month that were agreed; they stay" }),
  instances: Type.Array(Type.Integer()),
  used_space: Type.Number({ description: "Space in use, in GB, as its host reported it last" }),
  status_msg: Type.String(),
  public_ipaddr: Type.String(),
  allowed_actions: model("VolumeActions", { delete: Allowed, clone: Allowed }),
});
export type VolumeRecord = Static<typeof VolumeRecord>;

export const ListVolumesResponse = Type.Object({ volumes: Type.Array(VolumeRecord) });

export const NetworkDiskRecord = model("NetworkDisks", {
  cluster_id: nullable(Type.Integer()),
  network_disks: Type.Array(
    model("NetworkDisk", { network_disk_id: Type.Integer(), free_space: Type.Number(), total_space: Type.Number() }),
  ),
  machine_ids: Type.Array(Type.Integer()),
  mounts: Type.Record(Type.String(), Type.String()),
});
export const ListNetworkDisksResponse = Type.Object({ data: Type.Array(NetworkDiskRecord) });

export const MountNetworkDiskBody = Type.Object({
  machines: Type.Array(id("Id of a machine"), { minItems: 1, maxItems: 256 }),
  mount_point: Type.String(),
  disk_id: Type.Optional(id("Id of an existing network disk; without it a disk is made")),
  size: Type.Optional(
    Type.Number({ description: "Size of a new disk, in GB; without it that of the smallest disk of the machines" }),
  ),
});
export type MountNetworkDiskBody = Static<typeof MountNetworkDiskBody>;
export const MountNetworkDiskResponse = Type.Object({ success: Type.Literal(true), disk_id: Type.Integer() });

export const CreateDiskBody = Type.Object({
  email: Type.Optional(Type.String({ description: "E-mail address of the disk's owner" })),
  user_id: Type.Optional(id("Id of the disk's owner, instead of the e-mail address")),
  size: Type.Number(),
});
export type CreateDiskBody = Static<typeof CreateDiskBody>;
export const CreateDiskResponse = Type.Object({
  disk_id: Type.Integer(),
  user_id: Type.Integer(),
  email: Type.String(),
  size: Type.Number(),
});
