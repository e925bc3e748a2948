import { Type, type Static } from "typebox";

/** Facts of a host's machine. Sizes are bytes, rates are megabits (network) or megabytes (disk) per second. */
export const MachineFacts = Type.Object({
  hostname: Type.String({ maxLength: 255 }),
  /** Facts of a simulated host are invented; everything that shows them says so. */
  is_simulated: Type.Boolean(),
  cpu_name: Type.String({ maxLength: 255 }),
  cpu_arch: Type.Union([Type.Literal("amd64"), Type.Literal("arm64")]),
  cpu_cores: Type.Integer({ minimum: 1, maximum: 4096 }),
  cpu_ghz: Type.Number({ minimum: 0 }),
  has_avx: Type.Boolean(),
  memory_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  disk_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  disk_name: Type.String({ maxLength: 255 }),
  disk_mb_per_s: Type.Number({ minimum: 0 }),
  inet_up_mbps: Type.Number({ minimum: 0 }),
  inet_down_mbps: Type.Number({ minimum: 0 }),
  public_ipaddr: Type.String({ maxLength: 64 }),
  has_static_ip: Type.Boolean(),
  direct_port_start: Type.Integer({ minimum: -1, maximum: 65535 }),
  direct_port_end: Type.Integer({ minimum: -1, maximum: 65535 }),
  /** `City, CC`: the last two characters are the ISO country code. */
  geolocation: Type.String({ maxLength: 128 }),
  os_version: Type.String({ maxLength: 64 }),
  kernel_version: Type.String({ maxLength: 128 }),
  mobo_name: Type.String({ maxLength: 255 }),
  pci_gen: Type.Number({ minimum: 0 }),
  pcie_gb_per_s: Type.Number({ minimum: 0 }),
  driver_version: Type.String({ maxLength: 64 }),
  cuda_max_good: Type.Number({ minimum: 0 }),
  /** Registries in its own network that renters' images may come from and go to; absent: none. */
  allowed_registries: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 64 })),
  /** True when its agent opens tunnels of the service `logs`; one of an earlier version would break the connection over it. */
  follows_logs: Type.Optional(Type.Boolean()),
  /** True when its agent opens tunnels of the service `port`. */
  opens_ports: Type.Optional(Type.Boolean()),
});
export type MachineFacts = Static<typeof MachineFacts>;

/** One GPU. `uuid` is the identity that a GPU grant names; two GPUs never share one. */
export const GpuFacts = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 128 }),
  index: Type.Integer({ minimum: 0, maximum: 1023 }),
  /** The market's canonical name with blanks, such as `RTX 4090`. */
  name: Type.String({ minLength: 1, maxLength: 64 }),
  memory_mb: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  /** CUDA capability times 100 (8.9 is 890). */
  compute_cap: Type.Integer({ minimum: 0, maximum: 100_000 }),
  memory_gb_per_s: Type.Number({ minimum: 0 }),
  max_power_w: Type.Number({ minimum: 0 }),
  tflops: Type.Number({ minimum: 0, maximum: 1_000_000 }),
  dlperf: Type.Number({ minimum: 0, maximum: 1_000_000 }),
  pci_lanes: Type.Integer({ minimum: 0, maximum: 1024 }),
  nvlink_gb_per_s: Type.Number({ minimum: 0 }),
  /** The highest temperature at which it may work, in °C; absent where its driver does not tell. */
  max_temp_c: Type.Optional(Type.Number({ minimum: 0 })),
  /** True when a display is in use on it; absent where its driver does not tell. */
  is_display_active: Type.Optional(Type.Boolean()),
  /** Declared by the operator for development: no such device was found on the host. */
  is_declared: Type.Boolean(),
});
export type GpuFacts = Static<typeof GpuFacts>;
