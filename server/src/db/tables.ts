// Made from server/migrations by tools/dump-schema.ts: read it here, change it there.
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type {
  AccountFreezeId,
  AccountViewId,
  AgentCredentialId,
  AnnouncementId,
  ApiKeyId,
  BenchmarkId,
  CloudConnectionId,
  DeploymentFileId,
  DeploymentId,
  DeploymentVersionId,
  DeviceId,
  EndpointGroupId,
  HostFlagId,
  InstanceBackupId,
  InstanceId,
  IpAccessId,
  JoinTokenId,
  LedgerAccountId,
  LedgerCapId,
  MachineId,
  MachineMaintenanceId,
  MachineReportId,
  NetworkDiskId,
  NetworkVolumeOfferId,
  OfferId,
  PasskeyId,
  PaymentCardId,
  PaymentId,
  PayoutHoldId,
  PayoutId,
  SavedSearchId,
  ScheduledJobId,
  ServerId,
  SignInTokenId,
  SshKeyId,
  StandingRequestId,
  TeamInvitationId,
  TeamRoleId,
  TemplateId,
  TfaMethodId,
  UserId,
  VolumeId,
  VolumeOfferId,
  WebhookId,
  WorkerGroupId,
} from "../base/ids.ts";

export type AccountDocumentClocksTable = {
  kind: string;
  done_until_at: Date;
  done_user_id: Generated<number>;
};

export type AccountDocumentSequencesTable = {
  kind: string;
  prefix: string;
  year: number;
  last_sequence: number;
};

export type AccountDocumentsTable = {
  number: string;
  kind: "receipt" | "statement" | "credit_note";
  prefix: string;
  year: number;
  sequence: number;
  user_id: UserId;
  from_at: Date | null;
  until_at: Date | null;
  transfer_id: bigint | null;
  refers_to: string | null;
  issued_at: Date;
  content: ColumnType<unknown, string, string>;
};

export type AccountFreezesTable = {
  id: GeneratedAlways<AccountFreezeId>;
  user_id: UserId;
  reason: string;
  frozen_by: UserId;
  frozen_at: Date;
  request_id: string;
  lifted_by: UserId | null;
  lifted_at: Date | null;
  lift_reason: string | null;
  lift_request_id: string | null;
};

export type AccountRulesTable = {
  is_only: Generated<boolean>;
  instances_max: Generated<number>;
  volumes_max: Generated<number>;
};

export type AccountSecretsTable = {
  user_id: UserId;
  name: string;
  sealed_value: string;
  created_at: Date;
  updated_at: Date;
};

export type AccountViewsTable = {
  id: GeneratedAlways<AccountViewId>;
  session_id: ApiKeyId;
  admin_id: UserId;
  user_id: UserId;
  reason: string;
  ip_address: string;
  began_at: Date;
  ends_at: Date;
  ended_at: Date | null;
  left_at: Date | null;
};

export type AcmeAccountsTable = {
  directory_url: string;
  encrypted_key: string;
  created_at: Date;
};

export type AcmeChallengesTable = {
  token: string;
  key_authorization: string;
  expires_at: Date;
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
  data_dir_key: string | null;
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
  backup_id: InstanceBackupId | null;
};

export type AnnouncementsTable = {
  id: GeneratedAlways<AnnouncementId>;
  title: string;
  message: string;
  level: "info" | "warning";
  audience: "everyone" | "hosts" | "renters";
  from_at: Date;
  until_at: Date | null;
  created_by: UserId;
  created_at: Date;
  updated_at: Date;
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
  member_id: UserId | null;
  kind: Generated<"api" | "session" | "tfa">;
  expires_at: Date | null;
  ip_address: string | null;
  opened_by_key_id: ApiKeyId | null;
  demands_tfa: Generated<boolean>;
};

export type ArrearsTable = {
  id: GeneratedAlways<number>;
  user_id: UserId;
  began_at: Date;
  delete_at: Date;
  daily_spend_nanos: bigint;
  storage_nanos_per_hour: bigint;
  floor_nanos: bigint;
  ended_at: Date | null;
  outcome: "paid" | "deleted" | null;
  written_off_nanos: Generated<bigint>;
};

export type ArrearsRulesTable = {
  is_only: Generated<boolean>;
  limit_nanos: Generated<bigint>;
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

export type AuditMarksTable = {
  contract: "instance" | "volume";
  contract_id: number;
  generation: number;
  component: "gpu" | "disk" | "bwu" | "bwd";
  position: bigint;
  reached_at: Date;
  origin_position: Generated<bigint>;
};

export type AuditOriginTable = {
  is_only: Generated<boolean>;
  next_transfer_id: bigint;
};

export type AuditSealsTable = {
  until_at: Date;
  next_transfer_id: bigint;
  next_line_id: bigint;
  transfer_count: bigint;
  line_count: bigint;
  transfers_sha256: string;
  lines_sha256: string;
  sealed_at: Date;
  next_fact_link: Generated<bigint>;
  facts_sha256: Generated<string>;
  next_audit_event_id: Generated<bigint>;
};

export type AuditSumsTable = {
  account_id: number;
  posted_nanos: string;
};

export type BenchmarksTable = {
  id: GeneratedAlways<BenchmarkId>;
  machine_id: MachineId;
  instance_id: InstanceId | null;
  type: "perf" | "upload" | "download" | "cpu" | "disk";
  measured_by: "server" | "worker" | "agent";
  value: number;
  measured_at: Date;
  gpu_name: string | null;
  num_gpus: number;
  user_id: UserId | null;
  image: string | null;
  template_id: TemplateId | null;
  template_hash: string | null;
  is_template_public: Generated<boolean>;
  price_nanos_per_hour: bigint | null;
};

export type BidFloorWatchesTable = {
  started_at: Date;
  ended_at: Date;
};

export type BidFloorsTable = {
  machine_id: MachineId;
  device_count: number;
  at: Date;
  floor_nanos: bigint | null;
};

export type CapArrearsTable = {
  id: GeneratedAlways<number>;
  user_id: UserId;
  cap_id: number;
  scope: string;
  period: string;
  began_at: Date;
  delete_at: Date;
  daily_spend_nanos: bigint;
  storage_nanos_per_hour: bigint;
  ended_at: Date | null;
  outcome: "lifted" | "deleted" | null;
};

export type CertificateAuthoritiesTable = {
  id: Generated<number>;
  certificate_pem: string;
  sealed_key: string;
  created_at: Date;
};

export type ChargeDaysTable = {
  payer_id: number;
  day: number;
  instance_id: InstanceId;
  volume_id: VolumeId;
  component: "gpu" | "disk" | "bwu" | "bwd";
  paid_from: "credit" | "deposit";
  line_count: number;
  first_line_id: bigint;
  from_at: Date;
  to_at: Date;
  last_charged_at: Date;
  quantity: string;
  amount_nanos: bigint;
  unpaid_nanos: bigint;
  lowest_price_nanos: bigint;
  highest_price_nanos: bigint;
  highest_discount_ppm: number;
};

export type ChargeDaysClockTable = {
  is_only: Generated<boolean>;
  counted_until_at: Date | null;
};

export type ChargeLinesTable = {
  id: GeneratedAlways<bigint>;
  transfer_id: bigint | null;
  payer_id: number;
  host_id: number;
  machine_id: MachineId | null;
  instance_id: InstanceId | null;
  volume_id: VolumeId | null;
  generation: number | null;
  component: "gpu" | "disk" | "bwu" | "bwd";
  state: "running" | "loading" | "stopped" | "stored";
  cause: string;
  from_at: Date;
  to_at: Date;
  quantity: bigint;
  size_bytes: bigint | null;
  unit_price_nanos: bigint;
  discount_ppm: Generated<number>;
  amount_nanos: bigint;
  unpaid_nanos: Generated<bigint>;
  paid_from: "credit" | "deposit";
  charged_at: Date;
};

export type CloudConnectionsTable = {
  id: Generated<CloudConnectionId>;
  user_id: UserId;
  provider: "s3" | "b2" | "hf";
  user_given_name: string;
  endpoint: string | null;
  region: string | null;
  namespace: string | null;
  sealed_settings: string;
  created_at: Date;
};

export type CreditDropsTable = {
  user_id: UserId;
  drop_count: number;
  told_hours: number | null;
};

export type CreditNoticeMarkTable = {
  is_only: Generated<boolean>;
  transfer_id: bigint;
};

export type DatabaseRestoresTable = {
  id: GeneratedAlways<number>;
  restored_at: Date;
  backup_at: Date | null;
  instance_id_after: number;
  instance_id_until: number;
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

export type DeploymentFilePiecesTable = {
  file_id: DeploymentFileId;
  position: number;
  bytes: Buffer;
};

export type DeploymentFilesTable = {
  id: GeneratedAlways<DeploymentFileId>;
  deployment_id: DeploymentId;
  file_hash: string;
  size_bytes: number;
  created_at: Date;
  completed_at: Date | null;
};

export type DeploymentVersionsTable = {
  id: GeneratedAlways<DeploymentVersionId>;
  deployment_id: DeploymentId;
  file_hash: string;
  size_bytes: number;
  label: string;
  image: string;
  env: string;
  storage_gb: number;
  sealed_login: string;
  worker_generation: number | null;
  created_at: Date;
  last_used_at: Date | null;
};

export type DeploymentsTable = {
  id: GeneratedAlways<DeploymentId>;
  user_id: UserId;
  api_key_id: ApiKeyId;
  name: string;
  tag: string;
  endpoint_group_id: EndpointGroupId | null;
  worker_group_id: WorkerGroupId | null;
  search_params: string;
  ttl_s: number | null;
  last_client_heartbeat_at: Date;
  wanted_version_id: number | null;
  current_version_id: number | null;
  last_healthy_version_id: number | null;
  created_at: Date;
  updated_at: Date;
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

export type DirectMailsTable = {
  id: GeneratedAlways<bigint>;
  to_address: string;
  subject: string;
  sealed_text: string;
  attempt_count: Generated<number>;
  due_at: Date;
  created_at: Date;
  expires_at: Date;
};

export type EmailProofMailsTable = {
  id: GeneratedAlways<bigint>;
  email: string;
  sent_at: Date;
};

export type EmailProofsTable = {
  user_id: UserId;
  email: string;
  token_sha256: Buffer;
  sent_at: Date;
  expires_at: Date;
};

export type EndpointEventsTable = {
  id: GeneratedAlways<bigint>;
  endpoint_group_id: EndpointGroupId;
  worker_group_id: WorkerGroupId | null;
  instance_id: InstanceId | null;
  at: Date;
  kind: "decision" | "worker" | "change";
  level: number;
  sentence: string;
  detail: ColumnType<unknown, string | undefined, string>;
};

export type EndpointFleetsTable = {
  endpoint_group_id: EndpointGroupId;
  at: Date;
  ready_count: number;
  starting_count: number;
  stopping_count: number;
  stopped_count: number;
  failed_count: number;
  ready_perf: number;
  starting_perf: number;
  stopped_perf: number;
  queued_count: number;
  nanos_per_hour: bigint;
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
  next_request_idx: Generated<bigint>;
  decided_at: Date | null;
};

export type EndpointLoadTable = {
  endpoint_group_id: EndpointGroupId;
  second_at: Date;
  request_count: number;
  load: number;
  waited_count: Generated<number>;
  wait_ms: Generated<bigint>;
  wait_ms_max: Generated<number>;
};

export type EndpointWorkerNamesTable = {
  instance_id: InstanceId;
  endpoint_group_id: EndpointGroupId;
  worker_group_id: WorkerGroupId | null;
};

export type EndpointWorkersTable = {
  instance_id: InstanceId;
  endpoint_group_id: EndpointGroupId;
  state: "active" | "removing";
  removal_attempt_count: Generated<number>;
  removal_failure: Generated<string>;
  next_removal_at: Date | null;
  created_at: Date;
  worker_group_id: WorkerGroupId | null;
  machine_id: MachineId | null;
  generation: Generated<number>;
  token_sha256: Buffer | null;
  url: Generated<string>;
  version: Generated<string>;
  started_at: Date | null;
  ready_at: Date | null;
  ready_generation: number | null;
  reported_at: Date | null;
  claimed_perf: number | null;
  observed_perf: number | null;
  first_start_ms: bigint | null;
  warm_start_ms: bigint | null;
  current_load: Generated<number>;
  working_count: Generated<number>;
  disk_usage_gb: Generated<number>;
  active_at: Date | null;
  draining_at: Date | null;
  draining_to: "stop" | "destroy" | "update" | null;
  failure: Generated<string>;
  failed_at: Date | null;
};

export type FactHeadTable = {
  is_only: Generated<boolean>;
  number: bigint;
  sha256: string;
  origin: ColumnType<unknown, string, string>;
};

export type FactLinksTable = {
  number: bigint;
  made_at: Date;
  fact_count: number;
  sha256: string;
  signature: string;
};

export type FactsTable = {
  link_number: bigint;
  position: number;
  kind: string;
  subject: string;
  text: string;
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

export type GpuBucketSamplesTable = {
  step_s: number;
  at: Date;
  gpu_name: string;
  verified: "yes" | "no" | "all";
  hosting: "secure_cloud" | "community" | "all";
  bucket: "1" | "2" | "4" | "8" | "other";
  rented_count: number;
  available_count: number;
  unavailable_count: number;
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
  available_min_nanos: bigint | null;
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
  unavailable_count: Generated<number>;
  available_min_nanos: bigint | null;
};

export type HostFaultsTable = {
  instance_id: InstanceId;
  generation: number;
  reason: "host_lost" | "host_stopped" | "device_fault";
  at: Date;
  settled_at: Date | null;
  credited_nanos: bigint | null;
};

export type HostFlagsTable = {
  id: GeneratedAlways<HostFlagId>;
  host_id: UserId;
  machine_id: MachineId | null;
  kind:
    | "senseless_facts"
    | "traffic_beyond_line"
    | "traffic_below_proxied"
    | "slow_line"
    | "impossible_start"
    | "unproven_start";
  detail: string;
  facts: ColumnType<unknown, string, string>;
  since_at: Date;
  last_at: Date;
  seen_count: Generated<number>;
  cleared_at: Date | null;
  cleared_by_id: UserId | null;
  clear_reason: string | null;
};

export type IdempotencyKeysTable = {
  api_key_id: ApiKeyId;
  key: string;
  request_sha256: Buffer;
  response: Buffer | null;
  created_at: Date;
};

export type InstallationTable = {
  is_only: Generated<boolean>;
  secret_check: Buffer | null;
  admin_key_data_dir: string | null;
  admin_key_place: string | null;
};

export type InstanceBackupsTable = {
  id: GeneratedAlways<InstanceBackupId>;
  kind: "instance" | "volume";
  contract_id: number;
  user_id: UserId;
  machine_id: MachineId;
  cause: "asked" | "contract_end";
  status: "pending" | "success" | "error";
  problem: Generated<string>;
  task_id: string | null;
  attempt: Generated<number>;
  size_bytes: bigint | null;
  created_at: Date;
  made_at: Date | null;
  file_deleted_at: Date | null;
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
  started_at: Date;
  last_counted_at: Date;
  usage: ColumnType<unknown, string | null, string | null>;
  charged_received_bytes: Generated<bigint>;
  charged_sent_bytes: Generated<bigint>;
  metered_from_at: Date | null;
  sealed_at: Date | null;
  heard_running_ms: Generated<bigint>;
  heard_received_bytes: Generated<bigint>;
  heard_sent_bytes: Generated<bigint>;
  spare_ms: Generated<bigint>;
  chargeable_until_at: Generated<Date | null>;
  spare_traffic_ms: Generated<bigint>;
  needs_evidence: Generated<boolean>;
  evidence_at: Date | null;
  not_running_at: Date | null;
  started_by_clock: number | null;
  not_running_by_clock: number | null;
};

export type InstanceSshKeysTable = {
  instance_id: InstanceId;
  ssh_key_id: SshKeyId;
  public_key: string;
  fingerprint: string;
  created_at: Date;
};

export type InstanceTabsTable = {
  instance_id: InstanceId;
  user_id: UserId;
  is_free: Generated<boolean>;
  hold_id: bigint | null;
  metered_from_at: Date | null;
  storage_charged_until_at: Date | null;
  settle_at: Date | null;
  unsettled_since_at: Date | null;
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
  cap_scopes: Generated<string[]>;
  told_end_at: Date | null;
  traffic_limit_nanos: bigint | null;
  traffic_spent_nanos: Generated<bigint>;
  traffic_left_nanos: bigint | null;
  traffic_left_at_ms: Generated<bigint>;
  traffic_reached_at: Date | null;
  bundle_id: bigint | null;
  observed_pull: ColumnType<unknown, string | null, string | null>;
  newer_runs_until_at: Date | null;
};

export type InvitationMailsTable = {
  id: GeneratedAlways<bigint>;
  email: string;
  invited_by: UserId;
  sent_at: Date;
};

export type InvoiceDocumentClockTable = {
  is_only: Generated<boolean>;
  next_from_at: Date | null;
  done_user_id: Generated<number>;
  usage_by_month_from_at: Date | null;
};

export type InvoiceDocumentsTable = {
  id: GeneratedAlways<number>;
  number: string;
  prefix: string;
  year: number;
  sequence: number;
  user_id: UserId;
  from_at: Date;
  until_at: Date;
  issued_at: Date;
  content: ColumnType<unknown, string, string>;
};

export type InvoiceSequencesTable = {
  prefix: string;
  year: number;
  last_sequence: number;
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
  granted_nanos: Generated<bigint>;
  granted_opening_nanos: Generated<bigint>;
  debt_nanos: Generated<bigint>;
};

export type LedgerCapChangesTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  scope: string;
  period: string;
  limit_nanos: bigint | null;
  changed_at: Date;
  holds_from_at: Date;
};

export type LedgerCapsTable = {
  id: GeneratedAlways<LedgerCapId>;
  user_id: UserId;
  scope: string;
  period: "day" | "month" | "total";
  limit_nanos: bigint;
  spent_nanos: bigint;
  period_started_at: Date;
  held_nanos: bigint;
  reached_at: Date | null;
  created_at: Date;
  holds_from_at: Generated<Date>;
  limit_before_nanos: bigint | null;
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
  scopes: Generated<string[]>;
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
    | "fee"
    | "payment"
    | "payment_returned"
    | "host_credit"
    | "payout_returned"
    | "write_off"
    | "grant_released"
    | "storage_owed"
    | "taken_back"
    | "earnings_taken_back"
    | "correction";
  cause: ColumnType<unknown, string, string>;
  description: string;
  created_at: Date;
  granted_nanos: Generated<bigint>;
};

export type LineProbesTable = {
  machine_id: MachineId;
  at: Date;
  measured_from: string;
  up_mbps: number | null;
  down_mbps: number | null;
};

export type LiveChangesTable = {
  seq: GeneratedAlways<bigint>;
  number: bigint | null;
  user_id: UserId;
  kind: "instance" | "machine" | "volume" | "endpoint" | "worker" | "notification" | "queue";
  object_id: bigint;
  change: "created" | "changed" | "deleted";
  facts: ColumnType<unknown, string, string>;
  written_at: Generated<Date>;
};

export type LiveChangesClockTable = {
  is_only: Generated<boolean>;
  last_number: Generated<bigint>;
  floor_number: Generated<bigint>;
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

export type MachineSpansTable = {
  machine_id: MachineId;
  from_at: Date;
  until_at: Date | null;
};

export type MachineStartDaysTable = {
  machine_id: MachineId;
  day: number;
  succeeded_count: number;
};

export type MachineTrafficTable = {
  machine_id: MachineId;
  since_at: Date;
  received_bytes: bigint;
  sent_bytes: bigint;
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
  told_away_since_at: Date | null;
  told_listing_end_at: Date | null;
  server_id: ServerId | null;
  agent_address: string | null;
  excused_until_at: Date | null;
  proven_address: string | null;
  address_calls_since_at: Date | null;
  address_call_count: Generated<number>;
  agent_update: ColumnType<unknown, string | null, string | null>;
};

export type MarketRulesTable = {
  is_only: Generated<boolean>;
  notice_ms: Generated<number>;
  min_slice_ms: Generated<number>;
};

export type MeasurementBlocksTable = {
  subject_kind: number;
  subject_id: number;
  step_s: number;
  begins_at: Date;
  content: Buffer;
};

export type MeasurementSamplesTable = {
  machine_id: MachineId;
  taken_at: Date;
  content: Buffer;
};

export type ModelBidFloorsTable = {
  gpu_name: string;
  device_count: number;
  at: Date;
  floor_nanos: bigint | null;
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
  is_replaced: Generated<boolean>;
};

export type NoticeDeliveriesTable = {
  id: GeneratedAlways<bigint>;
  notice_id: bigint;
  user_id: UserId;
  channel: "email" | "webhook";
  webhook_id: WebhookId | null;
  state: Generated<"due" | "delivered" | "failed">;
  attempt_count: Generated<number>;
  due_at: Date | null;
  outcome: Generated<string>;
  created_at: Date;
  ended_at: Date | null;
};

export type NoticePreferencesTable = {
  user_id: UserId;
  kind: string;
  email: boolean;
  webhooks: boolean;
};

export type NoticesTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  kind: string;
  subject: string;
  message: string;
  key: string;
  created_at: Date;
  read_at: Date | null;
  planned_at: Date | null;
};

export type OffersTable = {
  id: Generated<OfferId>;
  machine_id: MachineId;
  device_count: number;
  created_at: Date;
  retired_at: Date | null;
  price_device_nanos_per_hour: bigint | null;
  price_disk_nanos_per_gb_month: bigint | null;
  price_inet_up_nanos_per_gb: bigint | null;
  price_inet_down_nanos_per_gb: bigint | null;
  credit_discount_max_permille: number | null;
  end_at: Date | null;
  is_verified: boolean | null;
  hosting_type: number | null;
  hardware: string | null;
  is_replaced: Generated<boolean>;
};

export type PasskeyChallengesTable = {
  challenge_sha256: Buffer;
  browser_sha256: Buffer;
  user_id: UserId | null;
  expires_at: Date;
};

export type PasskeysTable = {
  id: GeneratedAlways<PasskeyId>;
  user_id: UserId;
  credential_id: Buffer;
  public_key: Buffer;
  user_handle: Buffer;
  label: string;
  transports: Generated<string[]>;
  sign_count: bigint;
  is_synced: boolean;
  created_at: Date;
  last_used_at: Date | null;
  deleted_at: Date | null;
};

export type PastTermsTable = {
  id: GeneratedAlways<bigint>;
  instance_id: InstanceId;
  until_at: Date;
  generation: number;
  until_running_ms: bigint;
  until_received_bytes: bigint;
  until_sent_bytes: bigint;
  price_nanos_per_hour: bigint;
  storage_nanos_per_gb_month: bigint;
  inet_up_nanos_per_gb: bigint;
  inet_down_nanos_per_gb: bigint;
  discount_ppm: number;
};

export type PaymentAccountsTable = {
  user_id: UserId;
  customer_id: string | null;
  autobill_cents: bigint | null;
  autobill_attempt_count: Generated<number>;
  autobill_failure_count: Generated<number>;
  autobill_not_before_at: Date | null;
  has_stale_cards: Generated<boolean>;
  created_at: Date;
};

export type PaymentCardsTable = {
  id: GeneratedAlways<PaymentCardId>;
  user_id: UserId;
  method_id: string;
  brand: string;
  last4: string;
  expiry_month: number;
  expiry_year: number;
  is_default: Generated<boolean>;
  created_at: Date;
  removed_at: Date | null;
  detached_at: Date | null;
};

export type PaymentEventsTable = {
  event_id: string;
  type: string;
  received_at: Date;
};

export type PaymentRefundsTable = {
  id: GeneratedAlways<number>;
  payment_id: PaymentId;
  amount_cents: bigint;
  state: Generated<"wanted" | "asked" | "refused">;
  first_asked_at: Date | null;
  failure: string | null;
  created_at: Date;
};

export type PaymentReturnsTable = {
  key: string;
  intent_id: string;
  returned_cents: bigint;
  is_reversed: Generated<boolean>;
  taken_nanos: Generated<bigint>;
  lost_nanos: Generated<bigint>;
  booked_count: Generated<number>;
  created_at: Date;
  closed_at: Date | null;
};

export type PaymentRulesTable = {
  is_only: Generated<boolean>;
  fee_ppm: Generated<number>;
  installation: Generated<string>;
  granted_after_days: number | null;
  card_hold_days: Generated<number>;
};

export type PaymentTakingsTable = {
  id: GeneratedAlways<number>;
  return_key: string;
  account_kind: string;
  user_id: UserId;
  amount_nanos: bigint;
  taken_at: Date;
  given_back_at: Date | null;
  through: Generated<number[]>;
};

export type PaymentsTable = {
  id: GeneratedAlways<PaymentId>;
  user_id: UserId;
  kind: "checkout" | "setup" | "autobill";
  state: Generated<"pending" | "paid" | "failed" | "expired" | "mismatched">;
  amount_cents: bigint | null;
  saves_card: Generated<boolean>;
  attempt_number: number | null;
  card_id: PaymentCardId | null;
  request_key: Buffer | null;
  request_sha256: Buffer | null;
  session_id: string | null;
  url: string | null;
  intent_id: string | null;
  failure: string | null;
  lease_until: Date | null;
  created_at: Date;
  settled_at: Date | null;
};

export type PayoutBasesTable = {
  user_id: UserId;
  settled_nanos: bigint;
};

export type PayoutHoldsTable = {
  id: GeneratedAlways<PayoutHoldId>;
  user_id: UserId;
  kind: string;
  reason: string;
  placed_by: UserId | null;
  placed_at: Date;
  released_by: UserId | null;
  released_at: Date | null;
  release_reason: string | null;
};

export type PayoutMethodsTable = {
  user_id: UserId;
  method: "stripe" | "wise" | "paypal" | "bank";
  details_sealed: string;
  shown: string;
  updated_at: Date;
};

export type PayoutRunsTable = {
  friday_at: Date;
  after_user_id: Generated<number>;
  completed_at: Date | null;
};

export type PayoutsTable = {
  id: GeneratedAlways<PayoutId>;
  user_id: UserId;
  invoiced_at: Date;
  due_at: Date;
  earned_nanos: bigint;
  fee_ppm: number;
  fee_nanos: bigint;
  amount_nanos: bigint;
  state: Generated<"pending" | "sending" | "paid" | "failed">;
  method: "stripe" | "wise" | "paypal" | "bank" | null;
  destination: string | null;
  reference: string | null;
  failure: string | null;
  attempt_count: Generated<number>;
  lease_until: Date | null;
  created_at: Date;
  settled_at: Date | null;
  returned_nanos: Generated<bigint>;
  return_count: Generated<number>;
  returned_at: Date | null;
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

export type PriceRulesTable = {
  is_only: Generated<boolean>;
  traffic_nanos_per_gb_max: Generated<bigint>;
  storage_nanos_per_gb_month_max: Generated<bigint>;
  traffic_base_nanos: Generated<bigint>;
  traffic_share_permille: Generated<number>;
};

export type ProxiedTrafficTable = {
  instance_id: InstanceId;
  generation: number;
  sent_bytes: bigint;
  noted_bytes: bigint;
  noted_at: Date | null;
};

export type ProxyPortsTable = {
  port: number;
  instance_id: InstanceId | null;
  freed_at: Date | null;
  place: Generated<number>;
};

export type ReconciliationClockTable = {
  is_only: Generated<boolean>;
  last_run_at: Date | null;
  last_counts: ColumnType<unknown, string | undefined, string>;
};

export type ReconciliationFindingsTable = {
  id: GeneratedAlways<bigint>;
  kind: string;
  subject: string;
  outcome: "repaired" | "told" | "alarmed";
  actor: Generated<string>;
  details: ColumnType<unknown, string, string>;
  first_found_at: Date;
  last_found_at: Date;
  found_count: Generated<number>;
};

export type RequestLimitsTable = {
  bucket: Buffer;
  empty_at: Date;
};

export type RouteSigningKeysTable = {
  id: Generated<boolean>;
  sealed_private_key: string;
  public_key_pem: string;
  created_at: Date;
};

export type SavedSearchesTable = {
  id: GeneratedAlways<SavedSearchId>;
  user_id: UserId;
  member_id: Generated<number>;
  name: string;
  query: string;
  columns: Generated<string[]>;
  created_at: Date;
  updated_at: Date;
};

export type ScheduledJobsTable = {
  id: GeneratedAlways<ScheduledJobId>;
  user_id: UserId;
  api_key_id: ApiKeyId;
  instance_id: InstanceId | null;
  request_method: "GET" | "POST" | "PUT" | "DELETE";
  api_endpoint: string;
  request_body: string;
  digest: string;
  frequency: "ONCE" | "HOURLY" | "DAILY" | "WEEKLY";
  day_of_the_week: number | null;
  hour_of_the_day: number | null;
  min_of_the_hour: number;
  starts_at: Date;
  ends_at: Date;
  due_at: Date | null;
  stop_reason: string | null;
  created_at: Date;
  closed_at: Date | null;
};

export type ScheduledRunsTable = {
  id: GeneratedAlways<bigint>;
  job_id: ScheduledJobId;
  due_at: Date;
  last_due_at: Date;
  occurrence_count: number;
  api_key_id: ApiKeyId;
  outcome: "running" | "done" | "failed" | "unknown" | "missed";
  http_status: number | null;
  error: string | null;
  message: string | null;
  started_at: Date | null;
  ended_at: Date | null;
};

export type SchemaMigrationsTable = {
  number: number;
  name: string;
  sha256: string;
  applied_at: Date;
  serves_from: Generated<number>;
};

export type ServedCertificatesTable = {
  name: string;
  chain_pem: string | null;
  encrypted_key: string | null;
  issued_at: Date | null;
  expires_at: Date | null;
  order_at: Date;
  failure_count: Generated<number>;
  problem: string | null;
  lease_token: string | null;
  lease_until_at: Date | null;
};

export type ServersTable = {
  id: GeneratedAlways<ServerId>;
  data_dir_key: string;
  place: string;
  address: string | null;
  settings: ColumnType<unknown, string, string>;
  started_at: Date;
  beat_at: Date;
  beat_count: Generated<bigint>;
  stopped_at: Date | null;
  agent_addresses: Generated<string[]>;
  schema_number: Generated<number>;
  version: Generated<string>;
};

export type ServicePausesTable = {
  id: GeneratedAlways<number>;
  message: string;
  started_at: Date;
  started_by: UserId;
  until_at: Date;
  announcement_id: AnnouncementId;
  ended_at: Date | null;
  ended_by: UserId | null;
};

export type SessionCookiesTable = {
  session_id: ApiKeyId;
  salt: Buffer | null;
  previous_salt: Buffer | null;
  renewed_at: Date;
  confirmed_at: Date | null;
  is_due: Generated<boolean>;
};

export type SessionUsesTable = {
  session_id: ApiKeyId;
  ip_address: string;
  browser: string | null;
  system: string | null;
  last_used_at: Date;
};

export type ShippedTemplatesTable = {
  key: string;
  template_id: TemplateId;
  hash_id: string;
  revision: number;
};

export type SignInAttemptsTable = {
  bucket_sha256: Buffer;
  attempt_count: number;
  window_ends_at: Date;
};

export type SignInTokensTable = {
  id: GeneratedAlways<SignInTokenId>;
  purpose: "link" | "invitation" | "reset";
  token_sha256: Buffer;
  user_id: UserId | null;
  email: string | null;
  created_by_id: UserId | null;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
  revoked_at: Date | null;
};

export type SshKeysTable = {
  id: GeneratedAlways<SshKeyId>;
  user_id: UserId;
  public_key: string;
  fingerprint: string;
  created_at: Date;
  deleted_at: Date | null;
};

export type SsoAttemptsTable = {
  state_sha256: Buffer;
  redirect_uri: string;
  expires_at: Date;
};

export type SsoGrantsTable = {
  id: GeneratedAlways<number>;
  user_id: UserId;
  team_id: UserId | null;
  created_at: Date;
};

export type SsoIdentitiesTable = {
  id: GeneratedAlways<number>;
  user_id: UserId;
  issuer: string;
  subject: string;
  created_at: Date;
  last_used_at: Date;
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
  cap_scopes: Generated<string[]>;
};

export type TeamInvitationsTable = {
  id: GeneratedAlways<TeamInvitationId>;
  team_id: UserId;
  role_id: TeamRoleId;
  email: string;
  token_sha256: Buffer;
  invited_by: UserId;
  created_at: Date;
  expires_at: Date;
};

export type TeamMembersTable = {
  team_id: UserId;
  member_id: UserId;
  role_id: TeamRoleId;
  joined_at: Date;
};

export type TeamRolesTable = {
  id: GeneratedAlways<TeamRoleId>;
  team_id: UserId;
  name: string;
  identifier: string;
  permissions: ColumnType<unknown, string | null, string | null>;
  created_at: Date;
};

export type TeamsTable = {
  id: UserId;
  name: string;
  founding_key_id: ApiKeyId;
  created_at: Date;
  deleted_at: Date | null;
  deleted_by: UserId | null;
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

export type TfaAuthorizationsTable = {
  user_id: UserId;
  expires_at: Date;
};

export type TfaBackupCodesTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  code_hmac: Buffer;
  created_at: Date;
  used_at: Date | null;
  deleted_at: Date | null;
};

export type TfaChallengesTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  purpose: "sign_in" | "verify" | "authorize" | "phone";
  secret_sha256: Buffer;
  channel: "totp" | "sms" | "email" | null;
  method_id: TfaMethodId | null;
  sealed_phone: string | null;
  code_hmac: Buffer | null;
  code_sent_at: Date | null;
  code_expires_at: Date | null;
  team_id: UserId | null;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
};

export type TfaLocksTable = {
  user_id: UserId;
  factor: string;
  fail_count: number;
  lock_count: Generated<number>;
  locked_until: Date | null;
};

export type TfaMethodsTable = {
  id: GeneratedAlways<TfaMethodId>;
  user_id: UserId;
  method: "totp" | "sms";
  label: Generated<string>;
  sealed_secret: string;
  is_primary: boolean;
  last_step: bigint | null;
  created_at: Date;
  last_used_at: Date | null;
  deleted_at: Date | null;
};

export type TfaSendsTable = {
  id: GeneratedAlways<bigint>;
  user_id: UserId;
  target_hmac: Buffer;
  sent_at: Date;
};

export type TfaSetupsTable = {
  user_id: UserId;
  sealed_secret: string;
  expires_at: Date;
};

export type UserTemplatesTable = {
  user_id: UserId;
  template_id: TemplateId;
  added_at: Date | null;
  last_used_at: Date | null;
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
  is_team: Generated<boolean>;
  traffic_limit_nanos: bigint | null;
  email_proven_at: Date | null;
  email_proven_by: "mail" | "operator" | "server" | "issuer" | null;
  freeze_id: AccountFreezeId | null;
  tfa_enabled_at: Date | null;
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
  is_replaced: Generated<boolean>;
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
  metered_from_at: Date | null;
  storage_charged_until_at: Date | null;
  settle_at: Date | null;
  cap_scopes: Generated<string[]>;
  hold_id: bigint | null;
  unsettled_since_at: Date | null;
};

export type WebhooksTable = {
  id: Generated<WebhookId>;
  user_id: UserId;
  name: string | null;
  url: string;
  sealed_secret: string;
  event_types: string[];
  created_at: Date;
  updated_at: Date;
};

export type WorkerGroupAvoidancesTable = {
  worker_group_id: WorkerGroupId;
  machine_id: MachineId;
  until_at: Date;
};

export type WorkerGroupsTable = {
  id: GeneratedAlways<WorkerGroupId>;
  endpoint_group_id: EndpointGroupId;
  user_id: UserId;
  api_key_id: ApiKeyId;
  template_id: TemplateId | null;
  template_hash: string;
  search_params: string;
  search_query: ColumnType<unknown, string, string>;
  launch_args: string;
  sealed_login: Generated<string>;
  gpu_ram_gb: number;
  test_workers: number;
  cold_workers: number;
  max_workers: number;
  min_load: number;
  min_cold_load: number;
  target_util: number;
  cold_mult: number;
  generation: Generated<number>;
  is_updating: Generated<boolean>;
  failure_count: Generated<number>;
  resumes_at: Date | null;
  created_at: Date;
  deleted_at: Date | null;
  max_nanos_per_hour: bigint | null;
  is_max_by_owner: Generated<boolean>;
  waits_for_price_since_at: Date | null;
};

export type Tables = {
  account_document_clocks: AccountDocumentClocksTable;
  account_document_sequences: AccountDocumentSequencesTable;
  account_documents: AccountDocumentsTable;
  account_freezes: AccountFreezesTable;
  account_rules: AccountRulesTable;
  account_secrets: AccountSecretsTable;
  account_views: AccountViewsTable;
  acme_accounts: AcmeAccountsTable;
  acme_challenges: AcmeChallengesTable;
  agent_credentials: AgentCredentialsTable;
  agent_tasks: AgentTasksTable;
  announcements: AnnouncementsTable;
  api_keys: ApiKeysTable;
  arrears: ArrearsTable;
  arrears_rules: ArrearsRulesTable;
  audit_events: AuditEventsTable;
  audit_marks: AuditMarksTable;
  audit_origin: AuditOriginTable;
  audit_seals: AuditSealsTable;
  audit_sums: AuditSumsTable;
  benchmarks: BenchmarksTable;
  bid_floor_watches: BidFloorWatchesTable;
  bid_floors: BidFloorsTable;
  cap_arrears: CapArrearsTable;
  certificate_authorities: CertificateAuthoritiesTable;
  charge_days: ChargeDaysTable;
  charge_days_clock: ChargeDaysClockTable;
  charge_lines: ChargeLinesTable;
  cloud_connections: CloudConnectionsTable;
  credit_drops: CreditDropsTable;
  credit_notice_mark: CreditNoticeMarkTable;
  database_restores: DatabaseRestoresTable;
  default_jobs: DefaultJobsTable;
  deployment_file_pieces: DeploymentFilePiecesTable;
  deployment_files: DeploymentFilesTable;
  deployment_versions: DeploymentVersionsTable;
  deployments: DeploymentsTable;
  deposits: DepositsTable;
  device_events: DeviceEventsTable;
  devices: DevicesTable;
  direct_mails: DirectMailsTable;
  email_proof_mails: EmailProofMailsTable;
  email_proofs: EmailProofsTable;
  endpoint_events: EndpointEventsTable;
  endpoint_fleets: EndpointFleetsTable;
  endpoint_groups: EndpointGroupsTable;
  endpoint_load: EndpointLoadTable;
  endpoint_worker_names: EndpointWorkerNamesTable;
  endpoint_workers: EndpointWorkersTable;
  fact_head: FactHeadTable;
  fact_links: FactLinksTable;
  facts: FactsTable;
  failed_starts: FailedStartsTable;
  gpu_bucket_samples: GpuBucketSamplesTable;
  gpu_sample_runs: GpuSampleRunsTable;
  gpu_samples: GpuSamplesTable;
  host_faults: HostFaultsTable;
  host_flags: HostFlagsTable;
  idempotency_keys: IdempotencyKeysTable;
  installation: InstallationTable;
  instance_backups: InstanceBackupsTable;
  instance_events: InstanceEventsTable;
  instance_runs: InstanceRunsTable;
  instance_ssh_keys: InstanceSshKeysTable;
  instance_tabs: InstanceTabsTable;
  instances: InstancesTable;
  invitation_mails: InvitationMailsTable;
  invoice_document_clock: InvoiceDocumentClockTable;
  invoice_documents: InvoiceDocumentsTable;
  invoice_sequences: InvoiceSequencesTable;
  ip_accesses: IpAccessesTable;
  join_tokens: JoinTokensTable;
  leases: LeasesTable;
  ledger_accounts: LedgerAccountsTable;
  ledger_cap_changes: LedgerCapChangesTable;
  ledger_caps: LedgerCapsTable;
  ledger_earned_clock: LedgerEarnedClockTable;
  ledger_earned_days: LedgerEarnedDaysTable;
  ledger_holds: LedgerHoldsTable;
  ledger_transfers: LedgerTransfersTable;
  line_probes: LineProbesTable;
  live_changes: LiveChangesTable;
  live_changes_clock: LiveChangesClockTable;
  machine_days: MachineDaysTable;
  machine_maintenances: MachineMaintenancesTable;
  machine_reports: MachineReportsTable;
  machine_spans: MachineSpansTable;
  machine_start_days: MachineStartDaysTable;
  machine_traffic: MachineTrafficTable;
  machines: MachinesTable;
  market_rules: MarketRulesTable;
  measurement_blocks: MeasurementBlocksTable;
  measurement_samples: MeasurementSamplesTable;
  model_bid_floors: ModelBidFloorsTable;
  network_disk_mounts: NetworkDiskMountsTable;
  network_disks: NetworkDisksTable;
  network_volume_offers: NetworkVolumeOffersTable;
  notice_deliveries: NoticeDeliveriesTable;
  notice_preferences: NoticePreferencesTable;
  notices: NoticesTable;
  offers: OffersTable;
  passkey_challenges: PasskeyChallengesTable;
  passkeys: PasskeysTable;
  past_terms: PastTermsTable;
  payment_accounts: PaymentAccountsTable;
  payment_cards: PaymentCardsTable;
  payment_events: PaymentEventsTable;
  payment_refunds: PaymentRefundsTable;
  payment_returns: PaymentReturnsTable;
  payment_rules: PaymentRulesTable;
  payment_takings: PaymentTakingsTable;
  payments: PaymentsTable;
  payout_bases: PayoutBasesTable;
  payout_holds: PayoutHoldsTable;
  payout_methods: PayoutMethodsTable;
  payout_runs: PayoutRunsTable;
  payouts: PayoutsTable;
  pending_price_increases: PendingPriceIncreasesTable;
  presence_clock: PresenceClockTable;
  price_changes: PriceChangesTable;
  price_rules: PriceRulesTable;
  proxied_traffic: ProxiedTrafficTable;
  proxy_ports: ProxyPortsTable;
  reconciliation_clock: ReconciliationClockTable;
  reconciliation_findings: ReconciliationFindingsTable;
  request_limits: RequestLimitsTable;
  route_signing_keys: RouteSigningKeysTable;
  saved_searches: SavedSearchesTable;
  scheduled_jobs: ScheduledJobsTable;
  scheduled_runs: ScheduledRunsTable;
  schema_migrations: SchemaMigrationsTable;
  served_certificates: ServedCertificatesTable;
  servers: ServersTable;
  service_pauses: ServicePausesTable;
  session_cookies: SessionCookiesTable;
  session_uses: SessionUsesTable;
  shipped_templates: ShippedTemplatesTable;
  sign_in_attempts: SignInAttemptsTable;
  sign_in_tokens: SignInTokensTable;
  ssh_keys: SshKeysTable;
  sso_attempts: SsoAttemptsTable;
  sso_grants: SsoGrantsTable;
  sso_identities: SsoIdentitiesTable;
  standing_requests: StandingRequestsTable;
  team_invitations: TeamInvitationsTable;
  team_members: TeamMembersTable;
  team_roles: TeamRolesTable;
  teams: TeamsTable;
  template_hash_keys: TemplateHashKeysTable;
  template_versions: TemplateVersionsTable;
  templates: TemplatesTable;
  tfa_authorizations: TfaAuthorizationsTable;
  tfa_backup_codes: TfaBackupCodesTable;
  tfa_challenges: TfaChallengesTable;
  tfa_locks: TfaLocksTable;
  tfa_methods: TfaMethodsTable;
  tfa_sends: TfaSendsTable;
  tfa_setups: TfaSetupsTable;
  user_templates: UserTemplatesTable;
  users: UsersTable;
  volume_attachments: VolumeAttachmentsTable;
  volume_clones: VolumeClonesTable;
  volume_offers: VolumeOffersTable;
  volumes: VolumesTable;
  webhooks: WebhooksTable;
  worker_group_avoidances: WorkerGroupAvoidancesTable;
  worker_groups: WorkerGroupsTable;
};
