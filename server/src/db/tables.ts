// Made from server/migrations by tools/dump-schema.ts: read it here, change it there.
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type {
  AgentCredentialId,
  ApiKeyId,
  DeviceId,
  EndpointGroupId,
  InstanceId,
  IpAccessId,
  JoinTokenId,
  LedgerAccountId,
  MachineId,
  MachineMaintenanceId,
  MachineReportId,
  NetworkDiskId,
  NetworkVolumeOfferId,
  OfferId,
  SshKeyId,
  StandingRequestId,
  TemplateId,
  UserId,
  VolumeId,
  VolumeOfferId,
} from "../base/ids.ts";

export type AccountSecretsTable = {
  user_id: UserId;
  name: string;
  sealed_value: string;
  created_at: Date;
  updated_at: Date;
};

export type AgentCredentialsTable = {
  id: GeneratedAlways<AgentCredentialId>;
  user_id: UserId;
  name: string;
  token_sha256: Buffer;
  is_trusted: Generated<boolean>;
  created_at: Date;
  revoked_at: Date | null;
  fingerprint: string | null;
  host_key: string | null;
};

export type AgentTasksTable = {
  id: string;
  number: GeneratedAlways<bigint>;
  machine_id: MachineId;
  instance_id: InstanceId | null;
  user_id: UserId;
  action: ColumnType<unknown, string, string>;
  sealed_auth: string | null;
  result_sha256: Buffer | null;
  created_at: Date;
  expires_at: Date;
  cancelled_at: Date | null;
  completed_at: Date | null;
  progress: Generated<string>;
  is_success: boolean | null;
  result: string | null;
  transfer_id: string | null;
  copied_bytes: Generated<bigint>;
};

export type ApiKeysTable = {
  id: GeneratedAlways<ApiKeyId>;
  user_id: UserId;
  name: string;
  key_sha256: Buffer;
  key_prefix: string;
  permissions: ColumnType<unknown, string | null, string | null>;
  key_params: Generated<string>;
  instance_id: InstanceId | null;
  created_at: Date;
  deleted_at: Date | null;
};

export type AuditEventsTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  api_key_id: ApiKeyId | null;
  ip_address: string;
  action: string;
  arguments: ColumnType<unknown, string, string>;
  created_at: Date;
};

export type CertificateAuthoritiesTable = {
  id: Generated<number>;
  certificate_pem: string;
  sealed_key: string;
  created_at: Date;
};

export type DefaultJobsTable = {
  machine_id: MachineId;
  image: string;
  args: ColumnType<unknown, string, string>;
  price_device_nanos_per_hour: bigint;
  price_inet_up_nanos_per_gb: bigint;
  price_inet_down_nanos_per_gb: bigint;
  created_at: Date;
};

export type DepositsTable = {
  instance_id: InstanceId;
  user_id: UserId;
  discount_ppm: number;
  prepay_count: number;
  at_stake_nanos: Generated<bigint>;
  saved_nanos: Generated<bigint>;
  opened_at: Date;
  closed_at: Date | null;
};

export type DeviceEventsTable = {
  id: GeneratedAlways<bigint>;
  device_id: DeviceId;
  at: Date;
  is_healthy: boolean;
  reason: string;
};

export type DevicesTable = {
  id: GeneratedAlways<DeviceId>;
  machine_id: MachineId;
  kind: "gpu" | "cpu_core";
  uuid: string;
  position: number;
  facts: ColumnType<unknown, string, string>;
  is_present: Generated<boolean>;
  is_healthy: Generated<boolean>;
  health_reason: Generated<string>;
};

export type EndpointGroupsTable = {
  id: GeneratedAlways<EndpointGroupId>;
  user_id: UserId;
  name: string;
  api_key: string;
  state: "active" | "suspended" | "stopped";
  min_load: number;
  min_cold_load: number;
  target_util: number;
  cold_mult: number;
  cold_workers: number;
  max_workers: number;
  max_queue_time_s: number | null;
  target_queue_time_s: number | null;
  inactivity_timeout_s: number | null;
  created_at: Date;
  deleted_at: Date | null;
};

export type EndpointWorkersTable = {
  instance_id: InstanceId;
  endpoint_group_id: EndpointGroupId;
  state: "active" | "removing";
  removal_attempt_count: Generated<number>;
  removal_failure: Generated<string>;
  next_removal_at: Date | null;
  created_at: Date;
};

export type FailedStartsTable = {
  instance_id: InstanceId;
  generation: number;
  machine_id: MachineId;
  renter_id: UserId;
  at: Date;
  reason: string;
  is_counted: boolean;
};

export type GpuSampleRunsTable = {
  step_s: number;
  at: Date;
};

export type GpuSamplesTable = {
  step_s: number;
  at: Date;
  gpu_name: string;
  verified: "yes" | "no" | "all";
  hosting: "secure_cloud" | "community" | "all";
  rented_count: number;
  available_count: number;
  dlperf: number;
  tflops: number;
  price_p10_nanos: bigint | null;
  price_p25_nanos: bigint | null;
  price_p50_nanos: bigint | null;
  price_p75_nanos: bigint | null;
  price_p90_nanos: bigint | null;
  rented_p10_nanos: bigint | null;
  rented_p50_nanos: bigint | null;
  rented_p90_nanos: bigint | null;
  available_p10_nanos: bigint | null;
  available_p50_nanos: bigint | null;
  available_p90_nanos: bigint | null;
};

export type IdempotencyKeysTable = {
  api_key_id: ApiKeyId;
  key: string;
  request_sha256: Buffer;
  response: Buffer | null;
  created_at: Date;
};

export type InstanceEventsTable = {
  id: GeneratedAlways<bigint>;
  instance_id: InstanceId;
  at: Date;
  actor: string;
  cause: string;
  from_phase: string | null;
  to_phase: string;
  generation: number;
};

export type InstanceRunsTable = {
  instance_id: InstanceId;
  generation: number;
  running_ms: Generated<bigint>;
  received_bytes: Generated<bigint>;
  sent_bytes: Generated<bigint>;
  charged_running_ms: Generated<bigint>;
  lowest_price_nanos_per_hour: bigint | null;
  price_changed_at: Date | null;
  started_at: Date;
  first_running_at: Date | null;
  last_counted_at: Date;
  usage: ColumnType<unknown, string | null, string | null>;
  highest_discount_ppm: number | null;
};

export type InstanceSshKeysTable = {
  instance_id: InstanceId;
  ssh_key_id: SshKeyId;
  public_key: string;
  fingerprint: string;
  created_at: Date;
};

export type InstancesTable = {
  id: Generated<InstanceId>;
  user_id: UserId;
  machine_id: MachineId;
  offer_id: OfferId;
  template_id: TemplateId | null;
  template_hash_id: string | null;
  label: string | null;
  is_bid: boolean;
  price_nanos_per_hour: bigint;
  storage_nanos_per_gb_month: bigint;
  inet_up_nanos_per_gb: bigint;
  inet_down_nanos_per_gb: bigint;
  device_count: number;
  disk_bytes: bigint;
  launch: ColumnType<unknown, string, string>;
  desired: "running" | "stopped" | "destroyed";
  phase: "scheduled" | "starting" | "running" | "yielding" | "stopping" | "stopped" | "ending" | "ended";
  phase_cause: string;
  phase_since_at: Date;
  deadline_at: Date | null;
  generation: Generated<number>;
  observed_generation: Generated<number>;
  observed_state: string | null;
  observed_status_msg: Generated<string>;
  observed_ports: ColumnType<unknown, string | undefined, string>;
  observed_at: Date | null;
  hold_id: bigint | null;
  created_at: Date;
  end_at: Date;
  ended_at: Date | null;
  revision: Generated<number>;
  observed_ssh_host_key: string | null;
  device_problem: Generated<string>;
  is_background: Generated<boolean>;
  displaced_at: Date | null;
  discount_ppm: Generated<number>;
  claimed_at: Date | null;
};

export type IpAccessesTable = {
  id: GeneratedAlways<IpAccessId>;
  user_id: UserId;
  ip_address: string;
  first_seen_at: Date;
  last_seen_at: Date;
  request_count: Generated<bigint>;
};

export type JoinTokensTable = {
  id: GeneratedAlways<JoinTokenId>;
  user_id: UserId;
  name: string;
  token_sha256: Buffer;
  is_trusted: boolean;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
  used_by_sha256: Buffer | null;
  agent_credential_id: AgentCredentialId | null;
};

export type LeasesTable = {
  id: GeneratedAlways<bigint>;
  device_id: DeviceId;
  machine_id: MachineId;
  instance_id: InstanceId;
  generation: number;
  is_bid: boolean;
  price_nanos_per_device_hour: bigint;
  granted_at: Date;
  released_at: Date | null;
};

export type LedgerAccountsTable = {
  id: GeneratedAlways<LedgerAccountId>;
  user_id: UserId | null;
  kind: string;
  balance_nanos: Generated<bigint>;
  held_nanos: Generated<bigint>;
  floor_nanos: Generated<bigint>;
};

export type LedgerEarnedClockTable = {
  is_only: Generated<boolean>;
  counted_until_at: Date | null;
};

export type LedgerEarnedDaysTable = {
  account_id: LedgerAccountId;
  day: number;
  machine_id: MachineId;
  code: string;
  amount_nanos: bigint;
};

export type LedgerHoldsTable = {
  id: GeneratedAlways<bigint>;
  account_id: LedgerAccountId;
  amount_nanos: bigint;
  state: Generated<"pending" | "released" | "posted">;
  cause: ColumnType<unknown, string, string>;
  created_at: Date;
  closed_at: Date | null;
};

export type LedgerTransfersTable = {
  id: Generated<bigint>;
  key: string;
  debit_account_id: number;
  credit_account_id: number;
  amount_nanos: bigint;
  code:
    | "credit_granted"
    | "credit_transfer"
    | "usage_gpu"
    | "usage_storage"
    | "usage_bandwidth_up"
    | "usage_bandwidth_down"
    | "prepay"
    | "refund"
    | "payout"
    | "fee";
  cause: ColumnType<unknown, string, string>;
  description: string;
  created_at: Date;
};

export type MachineDaysTable = {
  machine_id: MachineId;
  day: number;
  online_ms: bigint;
  offline_ms: bigint;
  offline_rented_ms: bigint;
  maintenance_ms: bigint;
};

export type MachineMaintenancesTable = {
  id: GeneratedAlways<MachineMaintenanceId>;
  machine_id: MachineId;
  start_at: Date;
  end_at: Date;
  category: "power" | "internet" | "disk" | "gpu" | "software" | "other" | "not provided";
  reason: string;
  created_at: Date;
  cancelled_at: Date | null;
};

export type MachineReportsTable = {
  id: GeneratedAlways<MachineReportId>;
  machine_id: MachineId;
  user_id: UserId;
  problem: string;
  message: string;
  created_at: Date;
};

export type MachineStartDaysTable = {
  machine_id: MachineId;
  day: number;
  succeeded_count: number;
};

export type MachinesTable = {
  id: GeneratedAlways<MachineId>;
  host_id: UserId;
  agent_credential_id: AgentCredentialId;
  host_key: string;
  boot_id: string;
  agent_version: string;
  engine_kind: "docker" | "simulated";
  engine_version: string;
  facts: ColumnType<unknown, string, string>;
  resource_type: "gpu" | "cpu";
  verification: Generated<"verified" | "unverified" | "deverified">;
  is_listed: boolean;
  price_device_nanos_per_hour: bigint;
  price_min_bid_nanos_per_hour: bigint;
  price_disk_nanos_per_gb_month: bigint;
  price_inet_up_nanos_per_gb: bigint;
  price_inet_down_nanos_per_gb: bigint;
  min_chunk: number;
  credit_discount_max_permille: number;
  offer_end_at: Date;
  lease_until_at: Date;
  last_seen_at: Date;
  is_connected: Generated<boolean>;
  session_number: Generated<number>;
  created_at: Date;
  proof_sha256: Buffer | null;
  previous_proof_sha256: Buffer | null;
  clone_noticed_at: Date | null;
  hosting_type: Generated<number>;
  offer_duration_s: bigint | null;
  reliability_ppm: Generated<number>;
  rests_until_at: Date | null;
  review_at: Date | null;
  connected_at: Date | null;
  deleted_at: Date | null;
  is_verification_fixed: Generated<boolean>;
  first_start_succeeded_at: Date | null;
  starts_fail_since_at: Date | null;
  rest_count: Generated<number>;
};

export type MarketRulesTable = {
  is_only: Generated<boolean>;
  notice_ms: Generated<number>;
  min_slice_ms: Generated<number>;
};

export type NetworkDiskMountsTable = {
  network_disk_id: NetworkDiskId;
  machine_id: MachineId;
  mount_path: string;
  created_at: Date;
};

export type NetworkDisksTable = {
  id: GeneratedAlways<NetworkDiskId>;
  user_id: UserId;
  size_bytes: bigint;
  created_at: Date;
};

export type NetworkVolumeOffersTable = {
  id: GeneratedAlways<NetworkVolumeOfferId>;
  network_disk_id: NetworkDiskId;
  size_bytes: bigint;
  price_nanos_per_gb_month: bigint;
  credit_discount_max_permille: number;
  end_at: Date;
  created_at: Date;
  updated_at: Date;
  unlisted_at: Date | null;
};

export type OffersTable = {
  id: Generated<OfferId>;
  machine_id: MachineId;
  device_count: number;
  created_at: Date;
  retired_at: Date | null;
};

export type PendingPriceIncreasesTable = {
  id: GeneratedAlways<number>;
  instance_id: InstanceId;
  host_id: UserId;
  price_nanos_per_hour: bigint;
  storage_nanos_per_gb_month: bigint;
  inet_up_nanos_per_gb: bigint;
  inet_down_nanos_per_gb: bigint;
  end_at: Date;
  created_at: Date;
};

export type PresenceClockTable = {
  is_only: Generated<boolean>;
  counted_until_at: Date;
};

export type PriceChangesTable = {
  instance_id: InstanceId;
  starts_at: Date;
  price_nanos_per_hour: bigint;
  storage_nanos_per_gb_month: bigint;
  inet_up_nanos_per_gb: bigint;
  inet_down_nanos_per_gb: bigint;
  accepted_at: Date;
  applied_at: Date | null;
};

export type ProxyPortsTable = {
  port: number;
  instance_id: InstanceId | null;
  freed_at: Date | null;
  place: Generated<number>;
};

export type SchemaMigrationsTable = {
  number: number;
  name: string;
  sha256: string;
  applied_at: Date;
};

export type SshKeysTable = {
  id: GeneratedAlways<SshKeyId>;
  user_id: UserId;
  public_key: string;
  fingerprint: string;
  created_at: Date;
  deleted_at: Date | null;
};

export type StandingRequestsTable = {
  id: Generated<StandingRequestId>;
  user_id: UserId;
  query: ColumnType<unknown, string, string>;
  total_max_nanos_per_hour: bigint | null;
  bid_nanos_per_hour: bigint | null;
  launch: ColumnType<unknown, string, string>;
  template_hash_id: string | null;
  volume_info: ColumnType<unknown, string | null, string | null>;
  status: Generated<"open" | "claimed" | "cancelled" | "expired" | "failed">;
  reason: Generated<string>;
  attempted_at: Date | null;
  instance_id: InstanceId | null;
  created_at: Date;
  expires_at: Date;
  closed_at: Date | null;
};

export type TemplateHashKeysTable = {
  id: number;
  key: Buffer;
};

export type TemplateVersionsTable = {
  template_id: TemplateId;
  hash_id: string;
  content: ColumnType<unknown, string, string>;
  docker_login_pass: Generated<string>;
  created_at: Date;
};

export type TemplatesTable = {
  id: GeneratedAlways<TemplateId>;
  creator_id: UserId;
  hash_id: string;
  content: ColumnType<unknown, string, string>;
  docker_login_pass: Generated<string>;
  is_private: GeneratedAlways<boolean>;
  is_recommended: Generated<boolean>;
  count_created: Generated<number>;
  recent_create_at: Date | null;
  created_at: Date;
  deleted_at: Date | null;
};

export type UsersTable = {
  id: GeneratedAlways<UserId>;
  email: string;
  username: string;
  fullname: Generated<string>;
  password_hash: string | null;
  parent_id: UserId | null;
  is_admin: Generated<boolean>;
  is_host_only: Generated<boolean>;
  ssh_key: Generated<string>;
  billaddress_line1: Generated<string>;
  billaddress_line2: Generated<string>;
  billaddress_city: Generated<string>;
  billaddress_zip: Generated<string>;
  billaddress_country: Generated<string>;
  taxinfo: Generated<string>;
  balance_threshold_nanos: Generated<bigint>;
  balance_threshold_enabled: Generated<boolean>;
  created_at: Date;
  deleted_at: Date | null;
};

export type VolumeAttachmentsTable = {
  volume_id: VolumeId;
  instance_id: InstanceId;
  mount_path: string;
  attached_at: Date;
};

export type VolumeClonesTable = {
  volume_id: VolumeId;
  source_id: VolumeId;
  task_id: string;
  expected_bytes: bigint;
  created_at: Date;
  expires_at: Date;
  failed_at: Date | null;
  problem: Generated<string>;
};

export type VolumeOffersTable = {
  id: GeneratedAlways<VolumeOfferId>;
  machine_id: MachineId;
  size_bytes: bigint;
  price_nanos_per_gb_month: bigint;
  end_at: Date;
  created_at: Date;
  updated_at: Date;
  unlisted_at: Date | null;
};

export type VolumesTable = {
  id: GeneratedAlways<VolumeId>;
  user_id: UserId;
  machine_id: MachineId | null;
  volume_offer_id: VolumeOfferId | null;
  network_disk_id: NetworkDiskId | null;
  network_volume_offer_id: NetworkVolumeOfferId | null;
  name: string;
  size_bytes: bigint;
  price_nanos_per_gb_month: bigint;
  end_at: Date;
  created_at: Date;
  deleted_at: Date | null;
  deleting_at: Date | null;
  used_bytes: Generated<bigint>;
  problem: Generated<string>;
};

export type Tables = {
  account_secrets: AccountSecretsTable;
  agent_credentials: AgentCredentialsTable;
  agent_tasks: AgentTasksTable;
  api_keys: ApiKeysTable;
  audit_events: AuditEventsTable;
  certificate_authorities: CertificateAuthoritiesTable;
  default_jobs: DefaultJobsTable;
  deposits: DepositsTable;
  device_events: DeviceEventsTable;
  devices: DevicesTable;
  endpoint_groups: EndpointGroupsTable;
  endpoint_workers: EndpointWorkersTable;
  failed_starts: FailedStartsTable;
  gpu_sample_runs: GpuSampleRunsTable;
  gpu_samples: GpuSamplesTable;
  idempotency_keys: IdempotencyKeysTable;
  instance_events: InstanceEventsTable;
  instance_runs: InstanceRunsTable;
  instance_ssh_keys: InstanceSshKeysTable;
  instances: InstancesTable;
  ip_accesses: IpAccessesTable;
  join_tokens: JoinTokensTable;
  leases: LeasesTable;
  ledger_accounts: LedgerAccountsTable;
  ledger_earned_clock: LedgerEarnedClockTable;
  ledger_earned_days: LedgerEarnedDaysTable;
  ledger_holds: LedgerHoldsTable;
  ledger_transfers: LedgerTransfersTable;
  machine_days: MachineDaysTable;
  machine_maintenances: MachineMaintenancesTable;
  machine_reports: MachineReportsTable;
  machine_start_days: MachineStartDaysTable;
  machines: MachinesTable;
  market_rules: MarketRulesTable;
  network_disk_mounts: NetworkDiskMountsTable;
  network_disks: NetworkDisksTable;
  network_volume_offers: NetworkVolumeOffersTable;
  offers: OffersTable;
  pending_price_increases: PendingPriceIncreasesTable;
  presence_clock: PresenceClockTable;
  price_changes: PriceChangesTable;
  proxy_ports: ProxyPortsTable;
  schema_migrations: SchemaMigrationsTable;
  ssh_keys: SshKeysTable;
  standing_requests: StandingRequestsTable;
  template_hash_keys: TemplateHashKeysTable;
  template_versions: TemplateVersionsTable;
  templates: TemplatesTable;
  users: UsersTable;
  volume_attachments: VolumeAttachmentsTable;
  volume_clones: VolumeClonesTable;
  volume_offers: VolumeOffersTable;
  volumes: VolumesTable;
};
