declare const brand: unique symbol;

/** A number that names one row of one kind. Ids of different kinds cannot be mixed up. */
export type Id<Kind extends string> = number & { readonly [brand]: Kind };

export type UserId = Id<"user">;
export type ApiKeyId = Id<"api_key">;
export type AccountViewId = Id<"account_view">;
export type SignInTokenId = Id<"sign_in_token">;
export type SshKeyId = Id<"ssh_key">;
export type IpAccessId = Id<"ip_access">;
export type LedgerAccountId = Id<"ledger_account">;
export type LedgerCapId = Id<"ledger_cap">;
export type TemplateId = Id<"template">;
export type ServerId = Id<"server">;
export type MachineId = Id<"machine">;
export type MachineMaintenanceId = Id<"machine_maintenance">;
export type MachineReportId = Id<"machine_report">;
export type AgentCredentialId = Id<"agent_credential">;
export type HostFlagId = Id<"host_flag">;
export type JoinTokenId = Id<"join_token">;
export type DeviceId = Id<"device">;
export type PriceIncreaseId = Id<"price_increase">;
export type OfferId = Id<"offer">;
export type InstanceId = Id<"instance">;
export type VolumeId = Id<"volume">;
export type VolumeOfferId = Id<"volume_offer">;
export type NetworkDiskId = Id<"network_disk">;
export type NetworkVolumeOfferId = Id<"network_volume_offer">;
export type EndpointGroupId = Id<"endpoint_group">;
export type WorkerGroupId = Id<"worker_group">;
export type DeploymentId = Id<"deployment">;
export type DeploymentVersionId = Id<"deployment_version">;
export type DeploymentFileId = Id<"deployment_file">;
export type ScheduledJobId = Id<"scheduled_job">;
export type StandingRequestId = Id<"standing_request">;
export type PaymentId = Id<"payment">;
export type PaymentCardId = Id<"payment_card">;
export type PayoutId = Id<"payout">;
export type PayoutHoldId = Id<"payout_hold">;
export type AnnouncementId = Id<"announcement">;
export type AccountFreezeId = Id<"account_freeze">;
export type TeamRoleId = Id<"team_role">;
export type TfaMethodId = Id<"tfa_method">;
export type PasskeyId = Id<"passkey">;
export type TeamInvitationId = Id<"team_invitation">;
export type WebhookId = Id<"webhook">;
export type BenchmarkId = Id<"benchmark">;
export type SavedSearchId = Id<"saved_search">;
export type CloudConnectionId = Id<"cloud_connection">;
export type InstanceBackupId = Id<"instance_backup">;

/** The largest id the database can hold (PostgreSQL `integer`). */
export const MAX_ID = 2_147_483_647;

/**
 * Brands a number that was already checked to be an id of this kind: a validated request field or a database column.
 * It is the one place where an id comes into being.
 */
export function asId<T extends Id<string>>(value: number): T {
  return value as T;
}

/** Reads an id from text such as a path parameter; undefined when the text is not a positive id. */
export function parseId<T extends Id<string>>(text: string): T | undefined {
  if (!/^[1-9]\d{0,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= MAX_ID ? asId<T>(value) : undefined;
}
