// Made by tools/generate-sdk.ts from server/openapi.json. Do not edit: change the schemas and run `npm run api:generate`.
import type { CallOptions, Client } from "./client.ts";

export type Account = {
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly user: string;
  readonly fullname: string;
  readonly balance: number;
  readonly credit: number;
  readonly balance_threshold: number;
  readonly balance_threshold_enabled: boolean;
  readonly traffic_limit: number | null;
  readonly email_verified: boolean;
  readonly has_billing: boolean;
  readonly has_payout: boolean;
  readonly can_pay: boolean;
  readonly billing_creditonly: boolean;
  readonly billed_expected: number;
  readonly billed_verified: number;
  readonly paid_expected: number;
  readonly paid_verified: number;
  readonly got_signup_credit: boolean;
  readonly last4: string;
  readonly paypal_email: string;
  readonly wise_email: string;
  readonly huggingface_cloud_sync_enabled: boolean;
  readonly password_resettable: boolean;
  readonly ssh_key: string;
  readonly sid: string;
  readonly tfa_status: "enabled" | "disabled";
  readonly billaddress_line1: string;
  readonly billaddress_line2: string;
  readonly billaddress_city: string;
  readonly billaddress_zip: string;
  readonly billaddress_country: string;
  readonly taxinfo: string;
  readonly parent_id: number | null;
  readonly host_only: boolean;
  readonly host_agreement_accepted: boolean;
  readonly is_admin: boolean;
  readonly key_id: number;
  readonly created_at: number;
  readonly view: AccountView | null;
  readonly freeze: AccountFreeze | null;
};

export type AccountCounts = {
  readonly keys: number;
  readonly sessions: number;
  readonly members: number;
  readonly teams: number;
  readonly subaccounts: number;
  readonly volumes: number;
  readonly network_disks: number;
  readonly endpoints: number;
  readonly standing_requests: number;
};

export type AccountDocument = {
  readonly success: true;
  readonly number: string;
  readonly kind: string;
  readonly issued_at: number;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly refers_to: string | null;
  readonly total: number;
  readonly currency: string;
  readonly seller: AccountDocumentSeller;
  readonly buyer: AccountDocumentBuyer;
  readonly referred_by: readonly DocumentHead[];
  readonly receipt: Receipt | null;
  readonly statement: Statement | null;
  readonly credit_note: CreditNote | null;
  readonly invoice: Invoice | null;
  readonly shown: DocumentSheet;
};

export type AccountDocumentBuyer = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
  readonly user_id: number;
  readonly email: string;
};

export type AccountDocumentSeller = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
};

export type AccountFile = {
  readonly id: number;
  readonly email: string;
  readonly is_email_proven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parent_id: number | null;
  readonly is_admin: boolean;
  readonly is_team: boolean;
  readonly has_tfa: boolean;
  readonly freeze_id: number | null;
  readonly created_at: number;
  readonly last_seen_at: number | null;
  readonly credit: number;
  readonly held: number;
  readonly earnings: number;
  readonly running_count: number;
  readonly instance_count: number;
  readonly machine_count: number;
  readonly deleted_at: number | null;
  readonly counts: AccountCounts;
  readonly money: AccountMoney;
  readonly freezes: readonly AccountFreezeRow[];
  readonly flags: readonly AccountFlag[];
  readonly payout_holds: readonly AccountPayoutHold[];
};

export type AccountFlag = {
  readonly id: number;
  readonly machine_id: number | null;
  readonly kind: string;
  readonly msg: string;
  readonly since: number;
  readonly seen_count: number;
};

export type AccountFreeze = {
  readonly id: number;
  readonly reason: string;
  readonly holds_for: "account" | "member";
};

export type AccountFreezeRow = {
  readonly id: number;
  readonly reason: string;
  readonly frozen_by: number;
  readonly frozen_at: number;
  readonly lifted_at: number | null;
  readonly lift_reason: string | null;
};

export type AccountMoney = {
  readonly credit: number;
  readonly available: number;
  readonly held: number;
  readonly earnings: number;
};

export type AccountPayoutHold = {
  readonly id: number;
  readonly kind: string;
  readonly reason: string;
  readonly placed_at: number;
};

export type AccountView = {
  readonly user_id: number;
  readonly reason: string;
  readonly ends_at: number;
};

export type AdminAnnouncement = {
  readonly id: number;
  readonly title: string;
  readonly message: string;
  readonly level: "info" | "warning";
  readonly from: number;
  readonly until: number | null;
  readonly audience: "everyone" | "hosts" | "renters";
  readonly is_shown: boolean;
  readonly created_by: number;
  readonly created_at: number;
  readonly updated_at: number;
};

export type AdminAnnouncementCreateRequest = {
  readonly title: string;
  readonly message: string;
  readonly level?: "info" | "warning";
  readonly audience?: "everyone" | "hosts" | "renters";
  readonly from?: number;
  readonly until?: number;
};

export type AdminAnnouncementCreateResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminAnnouncementDeleteResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminAnnouncementUpdateRequest = {
  readonly title?: string;
  readonly message?: string;
  readonly level?: "info" | "warning";
  readonly audience?: "everyone" | "hosts" | "renters";
  readonly from?: number;
  readonly until?: number;
};

export type AdminAnnouncementUpdateResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminAnnouncementsResponse = {
  readonly success: true;
  readonly announcements: readonly AdminAnnouncement[];
};

export type AdminAuditFactsResponse = {
  readonly success: true;
  readonly public_key: string;
  readonly head: FactHead;
  readonly links: readonly FactLink[];
};

export type AdminAuditResponse = {
  readonly success: true;
  readonly state: "finished" | "running";
  readonly is_sound: boolean | null;
  readonly is_full: boolean;
  readonly audited_at: number | null;
  readonly sealed_until: number | null;
  readonly checks: readonly AuditCheck[];
};

export type AdminBookCorrectionRequest = {
  readonly user: string;
  readonly reason: string;
  readonly reference: string;
  readonly amount: number;
  readonly side?: "credit" | "earnings";
};

export type AdminCreditRequest = {
  readonly email?: string;
  readonly user_id?: string | number;
  readonly amount: number;
  readonly reason?: string;
  readonly paid_by?: string;
};

export type AdminCreditResponse = {
  readonly success: true;
  readonly id: number;
  readonly email: string;
  readonly credit: number;
};

export type AdminDiskRequest = {
  readonly email?: string;
  readonly user_id?: number;
  readonly size: number;
};

export type AdminDiskResponse = {
  readonly disk_id: number;
  readonly user_id: number;
  readonly email: string;
  readonly size: number;
};

export type AdminDisputesResponse = {
  readonly success: true;
  readonly accounts: readonly DisputedAccount[];
};

export type AdminFlagClearRequest = {
  readonly reason: string;
};

export type AdminFlagClearResponse = {
  readonly success: true;
  readonly flag: HostFlag;
};

export type AdminFreezeAccountRequest = {
  readonly user: string;
  readonly reason: string;
};

export type AdminFreezeAccountResponse = {
  readonly success: true;
  readonly id: number;
  readonly is_new: boolean;
  readonly user_ids: readonly number[];
  readonly team_ids: readonly number[];
};

export type AdminFreezesResponse = {
  readonly success: true;
  readonly freezes: readonly Freeze[];
};

export type AdminHoldPayoutsRequest = {
  readonly user: string;
  readonly reason: string;
};

export type AdminHoldPayoutsResponse = {
  readonly success: true;
  readonly id: number;
  readonly is_new: boolean;
};

export type AdminInstanceStopRequest = {
  readonly reason: string;
};

export type AdminInstanceStopResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminInstancesResponse = {
  readonly success: true;
  readonly instances: readonly FoundInstance[];
  readonly next_token: string | null;
};

export type AdminInvitationCreateRequest = {
  readonly email?: string;
};

export type AdminInvitationListResponse = {
  readonly success: true;
  readonly invitations: readonly SignUpInvitation[];
};

export type AdminKeyCreateRequest = {
  readonly email: string;
  readonly permissions?: unknown;
  readonly name?: string;
};

export type AdminLiftFreezeRequest = {
  readonly reason: string;
};

export type AdminLiftFreezeResponse = {
  readonly success: true;
  readonly user_ids: readonly number[];
};

export type AdminListDocumentsResponse = {
  readonly success: true;
  readonly count: number;
  readonly next_token: string | null;
  readonly results: readonly IssuedDocument[];
};

export type AdminMachineAskToMoveRequest = {
  readonly reason: string;
  readonly until: number;
};

export type AdminMachineAskToMoveResponse = {
  readonly success: true;
  readonly id: number;
  readonly renter_count: number;
};

export type AdminMachineBackUpResponse = {
  readonly success: true;
  readonly queued: number;
  readonly msg: string;
};

export type AdminMachineUnlistRequest = {
  readonly reason: string;
};

export type AdminMachineUnlistResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminMachineVerifyRequest = {
  readonly verification?: "verified" | "unverified" | "automatic";
  readonly hosting_type?: number;
};

export type AdminMachineVerifyResponse = {
  readonly success: true;
  readonly machine_id: number;
  readonly verification: "verified" | "unverified" | "deverified";
  readonly decided_by: "rule" | "administrator" | "operator";
  readonly hosting_type: number;
};

export type AdminMachinesResponse = {
  readonly success: true;
  readonly machines: readonly FoundMachine[];
  readonly next_token: string | null;
};

export type AdminPauseBeginRequest = {
  readonly message: string;
  readonly from?: number;
  readonly until: number;
};

export type AdminPauseBeginResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminPauseEndResponse = {
  readonly success: true;
  readonly id: number;
};

export type AdminPausesResponse = {
  readonly success: true;
  readonly is_paused: boolean;
  readonly pauses: readonly ServicePause[];
};

export type AdminPayout = {
  readonly id: number;
  readonly state: "pending" | "sending" | "paid" | "failed";
  readonly invoiced_at: number;
  readonly due_at: number;
  readonly earned: number;
  readonly fee_percent: number;
  readonly fee: number;
  readonly amount: number;
  readonly method: string | null;
  readonly reference: string | null;
  readonly failure: string | null;
  readonly returned: number;
  readonly settled_at: number | null;
  readonly user_id: number;
  readonly email: string | null;
};

export type AdminPayoutHold = {
  readonly id: number;
  readonly kind: string;
  readonly reason: string;
  readonly placed_at: number;
  readonly user_id: number;
  readonly placed_by: number | null;
};

export type AdminPayoutHoldsResponse = {
  readonly success: true;
  readonly holds: readonly AdminPayoutHold[];
};

export type AdminPayoutResponse = {
  readonly success: true;
  readonly payout: AdminPayout;
  readonly payout_method: PayoutTarget | null;
};

export type AdminPayoutsResponse = {
  readonly success: true;
  readonly payouts: readonly AdminPayout[];
};

export type AdminReconciliationResponse = {
  readonly success: true;
  readonly last_run_at: number | null;
  readonly last_found: Readonly<Record<string, number>>;
  readonly findings: readonly AuditFinding[];
};

export type AdminRefundPaymentRequest = {
  readonly amount?: number;
};

export type AdminRefundPaymentResponse = {
  readonly success: true;
  readonly amount: number;
};

export type AdminReleaseEarningsRequest = {
  readonly email?: string;
  readonly user_id?: number;
  readonly amount?: number;
  readonly reason: string;
};

export type AdminReleaseEarningsResponse = {
  readonly success: true;
  readonly user_id: number;
  readonly released: number;
};

export type AdminReleasePayoutsRequest = {
  readonly reason: string;
};

export type AdminSearchResponse = {
  readonly success: true;
  readonly results: readonly SearchHit[];
  readonly is_cut: boolean;
};

export type AdminSettingsResponse = {
  readonly success: true;
  readonly settings: readonly Setting[];
};

export type AdminSettlePayoutRequest = {
  readonly state: "paid" | "failed";
  readonly reference?: string;
  readonly reason?: string;
};

export type AdminSignInLinkCreateRequest = {
  readonly user_id?: number;
};

export type AdminTakeBackEarningsRequest = {
  readonly user: string;
  readonly reason: string;
  readonly reference: string;
  readonly amount: number;
};

export type AdminUserCreateRequest = {
  readonly email: string;
  readonly username?: string;
  readonly credit?: number;
};

export type AdminUserDeleteRequest = {
  readonly reason: string;
};

export type AdminUserDeleteResponse = {
  readonly success: true;
  readonly user_id: number;
};

export type AdminUserExportRequest = {
  readonly reason: string;
};

export type AdminUserExportResponse = {
  readonly success: true;
  readonly user_id: number;
  readonly exported_at: number;
  readonly data: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  readonly truncated: readonly string[];
};

export type AdminUserProveEmailRequest = {
  readonly email: string;
};

export type AdminUserSeeAsRequest = {
  readonly reason: string;
  readonly minutes?: number;
};

export type AdminUserSeeAsResponse = {
  readonly success: true;
  readonly user_id: number;
  readonly ends_at: number;
};

export type AdminUserShowResponse = {
  readonly success: true;
  readonly account: AccountFile;
};

export type AdminUsersResponse = {
  readonly success: true;
  readonly users: readonly FoundAccount[];
  readonly next_token: string | null;
};

export type AgentCredential = {
  readonly id: number;
  readonly name: string;
  readonly is_own_agent: boolean;
  readonly created_at: number;
  readonly revoked_at: number | null;
  readonly machines: readonly JoinedMachine[];
};

export type AgentJoinRequest = {
  readonly token: string;
  readonly host_key: string;
  readonly fingerprint: string;
  readonly nonce: string;
  readonly name?: string;
};

export type AgentJoinResponse = {
  readonly success: true;
  readonly credential: string;
};

export type AllowedAction = {
  readonly allowed: boolean;
  readonly reason?: string;
};

export type AllowedActions = {
  readonly start: AllowedAction;
  readonly stop: AllowedAction;
  readonly reboot: AllowedAction;
  readonly recycle: AllowedAction;
  readonly destroy: AllowedAction;
  readonly change_bid: AllowedAction;
  readonly label: AllowedAction;
  readonly change_traffic_limit: AllowedAction;
  readonly update_template: AllowedAction;
  readonly attach_ssh_key: AllowedAction;
  readonly snapshot: AllowedAction;
  readonly copy: AllowedAction;
  readonly execute: AllowedAction;
  readonly logs: AllowedAction;
  readonly terminal: AllowedAction;
  readonly files: AllowedAction;
  readonly prepay: AllowedAction;
};

export type Announcement = {
  readonly id: number;
  readonly title: string;
  readonly message: string;
  readonly level: "info" | "warning";
  readonly from: number;
  readonly until: number | null;
};

export type AnnouncementListResponse = {
  readonly success: true;
  readonly announcements: readonly Announcement[];
};

export type ApiKey = {
  readonly id: number;
  readonly user_id: number;
  readonly rights: "full" | "scoped";
  readonly team_id: number | null;
  readonly team_name: string | null;
  readonly team_owner: number | null;
  readonly name: string;
  readonly key: null;
  readonly key_type: "api";
  readonly key_prefix: string;
  readonly permissions: false | Readonly<Record<string, unknown>>;
  readonly key_params: string;
  readonly demands_tfa: boolean;
  readonly created_at: number;
};

export type ApikeyCreateRequest = {
  readonly name: string;
  readonly permissions?: unknown;
  readonly key_params?: string | Readonly<Record<string, unknown>>;
  readonly team_id?: number;
  readonly demands_tfa?: boolean;
};

export type ApikeyCreateResponse = {
  readonly success: true;
  readonly id: number;
  readonly key: string;
  readonly permissions: false | Readonly<Record<string, unknown>>;
};

export type ApikeyListResponse = {
  readonly apikeys: readonly ApiKey[];
};

export type ApikeyResetResponse = {
  readonly success: true;
  readonly new_api_key: string;
};

export type Arrears = {
  readonly began_at: number;
  readonly delete_at: number;
  readonly storage_per_hour: number;
  readonly floor: number;
};

export type ArrearsShowResponse = {
  readonly success: true;
  readonly arrears: Arrears | null;
  readonly balance_stops_at: number | null;
  readonly caps: readonly CappedData[];
};

export type AttachedSshKey = {
  readonly success: true;
  readonly msg: string;
  readonly key: string;
};

export type AuditCheck = {
  readonly name: string;
  readonly title: string;
  readonly examined_count: number;
  readonly difference_count: number;
  readonly differences: readonly AuditDifference[];
};

export type AuditDifference = {
  readonly subject: string;
  readonly problem: string;
  readonly stored: string;
  readonly expected: string;
};

export type AuditFinding = {
  readonly kind: string;
  readonly subject: string;
  readonly outcome: "repaired" | "told" | "alarmed";
  readonly advice: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly first_found_at: number;
  readonly last_found_at: number;
  readonly found_count: number;
};

export type AuditLogEntry = {
  readonly ip_address: string;
  readonly api_key_id: number | null;
  readonly created_at: number;
  readonly api_route: string;
  readonly args: Readonly<Record<string, unknown>>;
};

export type AuditLogFilters = {
  readonly success: boolean;
  readonly msg?: string;
  readonly users: Readonly<Record<string, AuditLogUser>>;
  readonly keys: Readonly<Record<string, AuditLogKey>>;
  readonly api_routes: readonly string[];
  readonly ip_addresses: readonly string[];
};

export type AuditLogKey = {
  readonly key: string;
  readonly key_type: string;
};

export type AuditLogPageResponse = {
  readonly success: true;
  readonly total_logs: number;
  readonly logs_found: number;
  readonly audit_logs: readonly AuditLogRow[];
  readonly next_token: string | null;
};

export type AuditLogRow = {
  readonly id?: number;
  readonly user_id?: number;
  readonly ip_address?: string;
  readonly api_key_id?: number | null;
  readonly created_at?: number;
  readonly api_route?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly key?: string;
  readonly key_type?: string;
  readonly key_status?: string;
  readonly email?: string;
  readonly name?: string;
};

export type AuditLogUser = {
  readonly email: string;
  readonly name: string;
  readonly apikey_ids: readonly number[];
};

export type Autobill = {
  readonly success: true;
  readonly enabled: boolean;
  readonly threshold: number;
  readonly amount: number;
  readonly last4: string | null;
  readonly failure_count: number;
  readonly retry_at: number | null;
};

export type BackgroundLoop = {
  readonly name: string;
  readonly description: string;
  readonly every_ms: number;
  readonly is_late: boolean;
  readonly run_count: number;
  readonly failure_count: number;
  readonly last_started_at: string | null;
  readonly last_status: Readonly<Record<string, number | string>> | null;
  readonly last_error: string | null;
};

export type BackgroundLoops = {
  readonly loops: readonly BackgroundLoop[];
};

export type BackupCodes = {
  readonly success: true;
  readonly msg: string;
  readonly backup_codes: readonly string[];
};

export type BackupFile = {
  readonly name: string;
  readonly size: number | null;
  readonly url: string;
};

export type BackupFilesResponse = {
  readonly authorization_token: string;
  readonly expires_in_sec: number;
  readonly truncated: boolean;
  readonly files: readonly BackupFile[];
};

export type BackupListResponse = {
  readonly success: true;
  readonly backups: readonly InstanceBackup[];
  readonly msg?: string;
};

export type Benchmark = {
  readonly id?: number;
  readonly contract_id?: number | null;
  readonly machine_id?: number;
  readonly gpu_name?: string | null;
  readonly num_gpus?: number;
  readonly image?: string | null;
  readonly launch_args?: string | null;
  readonly template_id?: number | null;
  readonly template_hash?: string | null;
  readonly type?: "perf" | "upload" | "download" | "cpu" | "disk";
  readonly value?: number;
  readonly measured_by?: "server" | "worker" | "agent";
  readonly dph_base?: number | null;
  readonly last_update?: number;
};

export type BenchmarkSearchResponse = {
  readonly success: true;
  readonly benchmarks_found: number;
  readonly next_token: string | null;
  readonly benchmarks: readonly Benchmark[];
};

export type BidFloorPoint = {
  readonly at: number;
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly open_share: number;
};

export type BidOutcome = {
  readonly price: number;
  readonly running_share: number;
  readonly running_hours: number;
  readonly interruptions: number;
  readonly cost: number;
};

export type BillingCardsResponse = {
  readonly success: true;
  readonly payment_methods: readonly Card[];
};

export type BillingChangeAutobillRequest = {
  readonly enabled?: boolean;
  readonly threshold?: number;
  readonly amount?: number;
};

export type BillingChargesChartResponse = {
  readonly success: true;
  readonly chart: readonly ChargesChartDay[];
  readonly total: ChargesChartTotal;
};

export type BillingChargesResponse = {
  readonly success: true;
  readonly count: number;
  readonly total: number;
  readonly total_amount: string;
  readonly next_token: string | null;
  readonly results: readonly (ChargeLine | Charge)[];
};

export type BillingCheckoutRequest = {
  readonly amount: number;
  readonly save_card?: boolean;
};

export type BillingChoosePayoutMethodDetail = {
  readonly account_id?: string;
  readonly email?: string;
  readonly account_holder?: string;
  readonly country?: string;
  readonly iban?: string;
  readonly bic?: string;
  readonly account_number?: string;
  readonly routing_number?: string;
};

export type BillingChoosePayoutMethodRequest = {
  readonly method: "stripe" | "wise" | "paypal" | "bank";
  readonly details: BillingChoosePayoutMethodDetail;
};

export type BillingFetchContractsRequest = {
  readonly label?: string;
  readonly contract_ids?: readonly number[];
};

export type BillingFetchContractsResponse = {
  readonly contracts: readonly ContractName[];
};

export type BillingListAllDocumentsResponse = {
  readonly success: true;
  readonly count: number;
  readonly total: number;
  readonly next_token: string | null;
  readonly results: readonly DocumentHead[];
};

export type BillingListDocumentsResponse = {
  readonly success: true;
  readonly count: number;
  readonly total: number;
  readonly next_token: string | null;
  readonly results: readonly InvoiceSummary[];
};

export type BillingListInvoicesResponse = {
  readonly success: boolean;
  readonly error?: string;
  readonly count: number;
  readonly total: number;
  readonly next_token: string | null;
  readonly results: readonly MoneyMovement[];
};

export type BillingPaymentsResponse = {
  readonly success: true;
  readonly payments: readonly Payment[];
};

export type BillingPayoutsResponse = {
  readonly success: true;
  readonly fee_percent: number;
  readonly holds: readonly PayoutHold[];
  readonly earnings: Earnings;
  readonly payouts: readonly Payout[];
};

export type BillingPreferCardRequest = {
  readonly is_default: true;
};

export type BillingSpendDaysResponse = {
  readonly success: true;
  readonly by: string;
  readonly days: readonly number[];
  readonly total: number;
  readonly series: readonly SpendSeries[];
};

export type BillingSpendForecastResponse = {
  readonly success: true;
  readonly balance: number;
  readonly cost_per_hour: number;
  readonly today: number;
  readonly month: number;
  readonly month_forecast: number;
  readonly month_end: number;
  readonly runs_dry_at: number | null;
};

export type BillingTransferCreditRequest = {
  readonly recipient: string | number;
  readonly amount: number;
  readonly client_id?: string | number;
  readonly sender?: string | number;
  readonly apikey_id?: string | number;
};

export type BookedEntry = {
  readonly success: true;
  readonly user_id: number;
  readonly transfer_id: string;
  readonly is_new: boolean;
  readonly balance: number;
};

export type BrowserConfirmRequest = {
  readonly tfa_method?: "totp" | "sms" | "email";
  readonly code?: string;
  readonly secret?: string;
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
  readonly admin?: boolean;
};

export type BrowserLeaveViewResponse = {
  readonly success: true;
  readonly user_id: number | null;
};

export type BrowserRequestResetRequest = {
  readonly email: string;
};

export type BrowserResetPasswordRequest = {
  readonly token: string;
  readonly password: string;
};

export type BrowserSettings = {
  readonly success: true;
  readonly sign_up: "open" | "invitation" | "sso";
  readonly has_mail: boolean;
  readonly sso: readonly SsoProvider[];
  readonly version: string;
  readonly is_simulated: boolean;
};

export type BrowserSignIn = {
  readonly id?: number;
  readonly email?: string;
  readonly username?: string;
  readonly user?: string;
  readonly fullname?: string;
  readonly balance?: number;
  readonly credit?: number;
  readonly balance_threshold?: number;
  readonly balance_threshold_enabled?: boolean;
  readonly traffic_limit?: number | null;
  readonly email_verified?: boolean;
  readonly has_billing?: boolean;
  readonly has_payout?: boolean;
  readonly can_pay?: boolean;
  readonly billing_creditonly?: boolean;
  readonly billed_expected?: number;
  readonly billed_verified?: number;
  readonly paid_expected?: number;
  readonly paid_verified?: number;
  readonly got_signup_credit?: boolean;
  readonly last4?: string;
  readonly paypal_email?: string;
  readonly wise_email?: string;
  readonly huggingface_cloud_sync_enabled?: boolean;
  readonly password_resettable?: boolean;
  readonly ssh_key?: string;
  readonly sid?: string;
  readonly tfa_status?: "enabled" | "disabled";
  readonly billaddress_line1?: string;
  readonly billaddress_line2?: string;
  readonly billaddress_city?: string;
  readonly billaddress_zip?: string;
  readonly billaddress_country?: string;
  readonly taxinfo?: string;
  readonly parent_id?: number | null;
  readonly host_only?: boolean;
  readonly host_agreement_accepted?: boolean;
  readonly is_admin?: boolean;
  readonly key_id?: number;
  readonly created_at?: number;
  readonly view?: AccountView | null;
  readonly freeze?: AccountFreeze | null;
  readonly success: true;
  readonly session_expires_at?: number;
  readonly msg?: "2fa_required";
  readonly secret?: string;
  readonly methods?: readonly TfaMethod[];
  readonly num_backup_codes?: number;
  readonly backup_codes_remaining?: number;
};

export type BrowserSignInRequest = {
  readonly username?: string;
  readonly password?: string;
  readonly api_key?: string;
  readonly token?: string;
  readonly team_id?: number;
};

export type BrowserSignUpRequest = {
  readonly email?: string;
  readonly password?: string;
  readonly username?: string;
  readonly token?: string;
};

export type BrowserSwitchAccountRequest = {
  readonly team_id?: number;
};

export type CalendarGpu = {
  readonly position: number;
  readonly gpu_name: string;
  readonly is_present: boolean;
  readonly intervals: readonly CalendarInterval[];
};

export type CalendarInterval = {
  readonly from: number;
  readonly until: number | null;
  readonly kind: "on_demand" | "interruptible" | "reserved";
  readonly ends_at: number | null;
};

export type CalendarMaintenance = {
  readonly from: number;
  readonly until: number;
};

export type Cap = {
  readonly id: number;
  readonly scope: "account" | "key" | "endpoint" | "instance";
  readonly scope_id: number;
  readonly period: "day" | "month" | "total";
  readonly limit: number;
  readonly spent: number;
  readonly held: number;
  readonly left: number;
  readonly holds_from: number;
  readonly stops_at: number | null;
  readonly resets_at: number | null;
};

export type CapListResponse = {
  readonly success: true;
  readonly caps: readonly Cap[];
};

export type CapSetRequest = {
  readonly scope: "account" | "key" | "endpoint" | "instance";
  readonly scope_id?: number;
  readonly period: "day" | "month" | "total";
  readonly limit: number;
};

export type CapSetResponse = {
  readonly success: true;
  readonly cap: Cap;
};

export type CappedData = {
  readonly cap_id: number;
  readonly scope: string;
  readonly scope_id: number;
  readonly period: string;
  readonly began_at: number;
  readonly delete_at: number;
  readonly storage_per_hour: number;
  readonly instance_ids: readonly number[];
  readonly volume_ids: readonly number[];
};

export type Card = {
  readonly id: number;
  readonly brand: string;
  readonly last4: string;
  readonly exp_month: number;
  readonly exp_year: number;
  readonly is_default: boolean;
  readonly created_at: number;
};

export type Charge = {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly source: string | null;
  readonly description: string;
  readonly amount: number;
  readonly amount_exact: string;
  readonly metadata: ChargeMetadata;
  readonly items: readonly unknown[];
};

export type ChargeLine = {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly source: string | null;
  readonly description: string;
  readonly amount: number;
  readonly amount_exact: string;
  readonly state: string;
  readonly cause: string;
  readonly instance_id: number | null;
  readonly volume_id: number | null;
  readonly machine_id: number | null;
  readonly generation: number | null;
  readonly quantity: number;
  readonly size_gb: number | null;
  readonly unit_price: string;
  readonly discount: number;
  readonly unpaid: string;
  readonly paid_from: string;
  readonly charged_at: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly items: readonly unknown[];
};

export type ChargeMetadata = {
  readonly template_id?: number;
  readonly label?: string;
  readonly endpoint_id?: number;
  readonly workergroup_id?: number;
  readonly quantity?: number;
  readonly unit?: string;
  readonly unpaid?: string;
};

export type ChargesChartDay = {
  readonly day: number;
  readonly start: number;
  readonly end: number;
  readonly instance: number;
  readonly serverless: number;
  readonly volume: number;
  readonly gpu: number;
  readonly disk: number;
  readonly bwd: number;
  readonly bwu: number;
  readonly amount: number;
  readonly amount_exact: string;
};

export type ChargesChartTotal = {
  readonly instance: number;
  readonly serverless: number;
  readonly volume: number;
  readonly gpu: number;
  readonly disk: number;
  readonly bwd: number;
  readonly bwu: number;
  readonly amount: number;
  readonly amount_exact: string;
};

export type ChatCompletionRequest = {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly max_tokens?: number;
  readonly n?: number;
  readonly stream?: boolean;
  readonly model?: string;
  readonly [key: string]: unknown;
};

export type CloudCancelCopyRequest = {
  readonly dst_id: string | number;
  readonly [key: string]: unknown;
};

export type CloudConnectRequest = {
  readonly provider: "drive" | "s3" | "b2" | "dropbox" | "hf";
  readonly user_given_name?: string;
  readonly access_key?: string;
  readonly secret_access_key?: string;
  readonly key_id?: string;
  readonly application_key?: string;
  readonly namespace?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly code?: string;
  readonly state?: string;
  readonly [key: string]: unknown;
};

export type CloudConnectResponse = {
  readonly success: true;
  readonly msg: string;
  readonly id: number;
};

export type CloudConnection = {
  readonly id: number;
  readonly cloud_service_id: number;
  readonly cloud_type: string;
  readonly user_given_name: string;
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly namespace: string | null;
  readonly created_at: number;
};

export type CloudCopyRequest = {
  readonly instance_id?: string | number;
  readonly src?: string;
  readonly dst?: string;
  readonly selected?: string | number;
  readonly transfer?: string;
  readonly flags?: readonly string[];
  readonly [key: string]: unknown;
};

export type CloudCopyResponse = {
  readonly success: true;
  readonly result_url: string;
  readonly msg: string;
};

export type CloudDisconnectRequest = {
  readonly id: number;
  readonly [key: string]: unknown;
};

export type CloudIntegration = {
  readonly id: number;
  readonly name: string;
  readonly cloud_type: string;
};

export type Cluster = {
  readonly subnet: string;
  readonly nodes: readonly ClusterNode[];
};

export type ClusterCreateRequest = {
  readonly subnet: string;
  readonly manager_id: number;
  readonly [key: string]: unknown;
};

export type ClusterDeleteRequest = {
  readonly cluster_id: number;
  readonly [key: string]: unknown;
};

export type ClusterJoinRequest = {
  readonly cluster_id: number;
  readonly machine_ids: readonly number[];
  readonly [key: string]: unknown;
};

export type ClusterListResponse = {
  readonly clusters: Readonly<Record<string, Cluster>>;
};

export type ClusterNode = {
  readonly machine_id: number;
  readonly is_cluster_manager: boolean;
  readonly local_ip: string;
};

export type ClusterRemoveMachineRequest = {
  readonly cluster_id: number;
  readonly machine_id: number;
  readonly new_manager_id?: number;
  readonly [key: string]: unknown;
};

export type ClusterSearchRequest = {
  readonly q?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
};

export type ClusterSearchResponse = {
  readonly offers: readonly Readonly<Record<string, unknown>>[];
};

export type CodeUpload = {
  readonly key?: string;
  readonly file?: string;
  readonly [key: string]: unknown;
};

export type Completion = {
  readonly choices?: readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
};

export type CompletionRequest = {
  readonly prompt: unknown;
  readonly max_tokens?: number;
  readonly n?: number;
  readonly stream?: boolean;
  readonly model?: string;
  readonly [key: string]: unknown;
};

export type ConfirmedTfaMethod = {
  readonly success: true;
  readonly msg: string;
  readonly backup_codes?: readonly string[];
};

export type ContractName = {
  readonly id: number;
  readonly label: string | null;
};

export type CopyCancellation = {
  readonly client_id?: string | number;
  readonly dst_id?: number | string;
  readonly [key: string]: unknown;
};

export type CopyRequest = {
  readonly client_id?: string | number;
  readonly src_id?: number | string | null;
  readonly dst_id?: number | string | null;
  readonly src_path?: string;
  readonly dst_path?: string;
  readonly [key: string]: unknown;
};

export type CopySizeRequest = {
  readonly client_id?: string | number;
  readonly src_id?: number | string;
  readonly src_path?: string;
  readonly [key: string]: unknown;
};

export type CopySizeResponse = {
  readonly success: true;
  readonly result_url: string;
  readonly msg: string;
};

export type CopyStarted = {
  readonly success: true;
  readonly msg: string;
  readonly src_addr?: string;
  readonly src_port?: number;
  readonly dst_addr?: string;
  readonly dst_port?: number;
  readonly rsync_user?: string;
  readonly rsync_path?: string;
  readonly ssh_host_key?: string | null;
};

export type CreatedInstance = {
  readonly success: true;
  readonly new_contract: number;
  readonly instance_api_key: string;
  readonly ask_id: number;
  readonly dph_total?: number;
  readonly dph_base?: number;
  readonly storage_total_cost?: number;
  readonly storage_cost?: number;
  readonly inet_up_cost?: number;
  readonly inet_down_cost?: number;
  readonly end_date?: number;
  readonly state: "running" | "stopped";
  readonly msg?: string;
};

export type CreditNote = {
  readonly net: number;
  readonly tax: DocumentTax;
  readonly total: number;
  readonly amount_exact: string;
  readonly invoice_number: string;
  readonly invoice_line: number | null;
  readonly description: string;
  readonly reason: string;
  readonly credited_at: number;
  readonly transfer_id: string;
};

export type DayEarnings = {
  readonly day: number;
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly reliability: number | null;
};

export type DefaultJob = {
  readonly image: string;
  readonly args: readonly string[];
  readonly price_gpu: number;
  readonly price_inetu: number;
  readonly price_inetd: number;
};

export type DefragmentedMachine = {
  readonly machine_id: number;
  readonly offers: readonly number[];
  readonly num_new: number;
};

export type Delivery = {
  readonly channel: "email" | "webhook";
  readonly webhook_id: number | null;
  readonly state: "due" | "delivered" | "failed";
  readonly attempt_count: number;
  readonly outcome: string;
  readonly next_attempt_at: number | null;
  readonly ended_at: number | null;
};

export type Deployment = {
  readonly id: number;
  readonly name: string;
  readonly tag: string;
  readonly image: string;
  readonly env: string;
  readonly file_hash: string;
  readonly s3_key: string | null;
  readonly search_params: string;
  readonly storage: number;
  readonly ttl: number | null;
  readonly endpoint_id: number | null;
  readonly endpoint_state: string | null;
  readonly workergroup_id: number | null;
  readonly worker_count: number;
  readonly current_version_id: number | null;
  readonly last_healthy_version_id: number | null;
  readonly last_client_heartbeat: number;
  readonly created_at: number;
  readonly updated_at: number;
};

export type DeploymentDeleteNamedRequest = {
  readonly name: string;
  readonly tag?: string;
};

export type DeploymentDeleteNamedResponse = {
  readonly success: true;
  readonly count: number;
};

export type DeploymentDeployRequest = {
  readonly endpoint_name?: string;
  readonly min_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
  readonly cold_workers?: number;
  readonly min_workers?: number;
  readonly max_workers?: number;
  readonly min_cold_load?: number;
  readonly max_queue_time?: number;
  readonly target_queue_time?: number;
  readonly inactivity_timeout?: number;
  readonly endpoint_state?: string;
  readonly name: string;
  readonly tag?: string;
  readonly image: string;
  readonly file_hash: string;
  readonly file_size: number;
  readonly env?: string;
  readonly search_params?: string;
  readonly storage?: number;
  readonly ttl?: number;
  readonly version_label?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly docker_login_repo?: string;
};

export type DeploymentDeployResponse = {
  readonly success: true;
  readonly action: string;
  readonly deployment_id: number;
  readonly endpoint_id: number;
  readonly workergroup_id?: number;
  readonly upload_url?: string;
  readonly upload_fields?: Readonly<Record<string, string>>;
  readonly evicted_versions?: readonly EvictedVersion[];
};

export type DeploymentDownloadResponse = {
  readonly success: true;
  readonly download_url: string;
};

export type DeploymentHeartbeatResponse = {
  readonly success: true;
  readonly deployment_id: number;
};

export type DeploymentListResponse = {
  readonly success: true;
  readonly deployments: readonly Deployment[];
};

export type DeploymentShowResponse = {
  readonly success: true;
  readonly deployment: Deployment;
};

export type DeploymentState = {
  readonly success: true;
  readonly endpoint_state: string;
};

export type DeploymentVersion = {
  readonly id: number;
  readonly deployment_id: number;
  readonly version_label: string;
  readonly file_hash: string;
  readonly file_size: number;
  readonly state: string;
  readonly is_current: boolean;
  readonly is_last_healthy: boolean;
  readonly image: string;
  readonly env: string;
  readonly storage: number;
  readonly created_at: number;
  readonly last_used_at: number | null;
};

export type DeploymentVersionsResponse = {
  readonly success: true;
  readonly versions: readonly DeploymentVersion[];
};

export type Dispute = {
  readonly reference: string;
  readonly payment_id: number;
  readonly amount: number;
  readonly state: "open" | "lost" | "won";
  readonly opened_at: number;
  readonly closed_at: number | null;
};

export type DisputedAccount = {
  readonly user_id: number;
  readonly open_count: number;
  readonly lost_count: number;
  readonly won_count: number;
  readonly disputed: number;
  readonly owed: number;
  readonly payout_hold_id: number | null;
  readonly disputes: readonly Dispute[];
};

export type DocumentHead = {
  readonly number: string;
  readonly kind: string;
  readonly issued_at: number;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly refers_to: string | null;
  readonly total: number;
};

export type DocumentSheet = {
  readonly title: string;
  readonly subtitle: string;
  readonly facts: readonly DocumentSheetFact[];
  readonly tables: readonly DocumentSheetTable[];
  readonly notes: readonly string[];
};

export type DocumentSheetFact = {
  readonly name: string;
  readonly value: string;
};

export type DocumentSheetTable = {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly DocumentSheetTableRow[];
  readonly totals: readonly DocumentSheetTableTotal[];
};

export type DocumentSheetTableRow = {
  readonly cells: readonly string[];
  readonly note: string;
};

export type DocumentSheetTableTotal = {
  readonly label: string;
  readonly amount: string;
};

export type DocumentTax = {
  readonly percent: string;
  readonly amount: number;
  readonly note: string;
  readonly name: string;
  readonly country: string;
  readonly is_reverse_charge: boolean;
};

export type Done = {
  readonly success: true;
  readonly msg?: string;
};

export type Earnings = {
  readonly balance: number;
  readonly payable: number;
  readonly granted: number;
  readonly young: number;
  readonly held: number;
  readonly debt: number;
  readonly card_hold_days: number;
  readonly granted_after_days: number | null;
};

export type EarningsChartDay = {
  readonly day: number;
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly referral_earn: number;
  readonly referral_count: number;
  readonly total_earn: number;
};

export type EarningsChartResponse = {
  readonly success: true;
  readonly chart: readonly EarningsChartDay[];
  readonly total: EarningsSums;
};

export type EarningsData = {
  readonly success: true;
  readonly machine_earnings: EarningsDataMachineEarning;
  readonly referral_earnings: readonly ReferralEarnings[];
  readonly referral_count: readonly ReferralCount[];
};

export type EarningsDataMachineEarning = {
  readonly summary: EarningsReportSummary;
  readonly per_machine: readonly MachineEarnings[];
  readonly per_day: readonly DayEarnings[];
};

export type EarningsPage = {
  readonly success: true;
  readonly total_rows: number;
  readonly rows_found: number;
  readonly rows: readonly EarningsRow[];
  readonly next_token: string | null;
  readonly total: EarningsSums;
};

export type EarningsReport = {
  readonly sday: number;
  readonly eday: number;
  readonly summary: EarningsReportSummary;
  readonly username: string;
  readonly email: string;
  readonly fullname: string;
  readonly address1: string;
  readonly address2: string;
  readonly city: string;
  readonly zip: string;
  readonly country: string;
  readonly taxinfo: string;
  readonly current: EarningsReportCurrent;
  readonly per_machine: readonly MachineEarnings[];
  readonly per_day: readonly DayEarnings[];
};

export type EarningsReportCurrent = {
  readonly balance: number;
  readonly service_fee: number;
  readonly total: number;
  readonly credit: number;
};

export type EarningsReportSummary = {
  readonly total_gpu: number;
  readonly total_stor: number;
  readonly total_bwu: number;
  readonly total_bwd: number;
  readonly total_sla: number;
  readonly avg_reliability: number | null;
};

export type EarningsRow = {
  readonly day?: number;
  readonly machine_id?: number | null;
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly referral_earn: number;
  readonly referral_count: number;
  readonly total_earn: number;
};

export type EarningsShowResponse = {
  readonly referral_count: number;
  readonly referral_credits: number;
  readonly machine_earnings?: number;
  readonly sla_earnings?: number;
  readonly sla_collateral?: number;
};

export type EarningsSummary = {
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly referral_earn: number;
  readonly referral_count: number;
  readonly total_earn: number;
  readonly reliability: number | null;
};

export type EarningsSummaryResponse = {
  readonly success: true;
  readonly summary: EarningsSummary;
};

export type EarningsSums = {
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly referral_earn: number;
  readonly referral_count: number;
  readonly total_earn: number;
};

export type Endpoint = {
  readonly id: number;
  readonly user_id: number;
  readonly endpoint_name: string;
  readonly api_key: string;
  readonly created_at: number;
  readonly endpoint_state: string;
  readonly min_load: number;
  readonly min_cold_load: number;
  readonly target_util: number;
  readonly cold_mult: number;
  readonly cold_workers: number;
  readonly max_workers: number;
  readonly max_queue_time: number | null;
  readonly target_queue_time: number | null;
  readonly inactivity_timeout: number | null;
  readonly auto_delete_in_seconds: number | null;
  readonly auto_delete_due_24h: boolean;
};

export type EndpointCapacityHistory = {
  readonly ready: readonly (number | null)[];
  readonly starting: readonly (number | null)[];
  readonly stopped: readonly (number | null)[];
};

export type EndpointCreateResponse = {
  readonly success: true;
  readonly result: number;
};

export type EndpointDecision = {
  readonly at: number;
  readonly reason: string | null;
  readonly sentence: string;
};

export type EndpointEvent = {
  readonly id: number;
  readonly at: number;
  readonly kind: "decision" | "worker" | "change";
  readonly level: number;
  readonly sentence: string;
  readonly worker_id?: number;
  readonly workergroup_id?: number;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type EndpointEventsResponse = {
  readonly success: true;
  readonly events: readonly EndpointEvent[];
};

export type EndpointHistoryResponse = {
  readonly success: true;
  readonly from: number;
  readonly to: number;
  readonly step_s: number;
  readonly at: readonly number[];
  readonly load: readonly number[];
  readonly requests: readonly number[];
  readonly waited: readonly number[];
  readonly wait_mean: readonly number[];
  readonly wait_max: readonly number[];
  readonly queued: readonly (number | null)[];
  readonly capacity: EndpointCapacityHistory;
  readonly workers: EndpointWorkersHistory;
  readonly cost_per_hour: readonly (number | null)[];
  readonly decisions: readonly EndpointDecision[];
};

export type EndpointListResponse = {
  readonly success: true;
  readonly results: readonly Endpoint[];
};

export type EndpointLogsRequest = {
  readonly id?: number;
  readonly endpoint?: string;
  readonly api_key?: string;
  readonly tail?: number;
};

export type EndpointMetricsRequest = {
  readonly endpoint_id?: number;
  readonly start?: number;
  readonly end?: number;
  readonly start_date?: number;
  readonly end_date?: number;
  readonly step?: number;
};

export type EndpointMetricsResponse = {
  readonly success: true;
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly results: Readonly<Record<string, readonly MetricsPoint[]>>;
  readonly rows: readonly EndpointTraffic[];
};

export type EndpointSettings = {
  readonly endpoint_name?: string;
  readonly min_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
  readonly cold_workers?: number;
  readonly min_workers?: number;
  readonly max_workers?: number;
  readonly min_cold_load?: number;
  readonly max_queue_time?: number;
  readonly target_queue_time?: number;
  readonly inactivity_timeout?: number;
  readonly endpoint_state?: string;
};

export type EndpointShowResponse = {
  readonly success: true;
  readonly result: Endpoint;
};

export type EndpointSimulateRequest = {
  readonly endpoint_name?: string;
  readonly min_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
  readonly cold_workers?: number;
  readonly min_workers?: number;
  readonly max_workers?: number;
  readonly min_cold_load?: number;
  readonly max_queue_time?: number;
  readonly target_queue_time?: number;
  readonly inactivity_timeout?: number;
  readonly endpoint_state?: string;
  readonly from?: number;
  readonly to?: number;
  readonly trace?: readonly (readonly number[])[];
  readonly worker?: WorkerModel;
};

export type EndpointSimulateResponse = {
  readonly success: true;
  readonly sentence: string;
  readonly from?: number;
  readonly to?: number;
  readonly decided_every: number;
  readonly worker: EndpointSimulateWorker;
  readonly present: SimulatedFigures;
  readonly proposed: SimulatedFigures;
};

export type EndpointSimulateWorker = {
  readonly perf: number;
  readonly price_per_hour: number;
  readonly storage_per_hour: number;
  readonly first_start_s: number;
  readonly warm_start_s: number;
  readonly parallel_requests: number;
};

export type EndpointSpend = {
  readonly endpoint_id: number;
  readonly endpoint_name?: string;
  readonly worker_count: number;
  readonly amount: number;
  readonly amount_exact: string;
  readonly gpu: string;
  readonly disk: string;
  readonly bandwidth: string;
  readonly unpaid: string;
};

export type EndpointSpendResponse = {
  readonly success: true;
  readonly start: number;
  readonly end: number;
  readonly total: string;
  readonly results: readonly EndpointSpend[];
  readonly endpoints: readonly HourlySpend[];
  readonly data_timestamp: number;
};

export type EndpointTraffic = {
  readonly endpoint_id: number;
  readonly at: number;
  readonly requests: number;
  readonly load: number;
  readonly waited: number;
  readonly wait_mean: number;
  readonly wait_max: number;
};

export type EndpointWorkersHistory = {
  readonly ready: readonly (number | null)[];
  readonly starting: readonly (number | null)[];
  readonly stopping: readonly (number | null)[];
  readonly stopped: readonly (number | null)[];
  readonly failed: readonly (number | null)[];
};

export type EndpointWorkersRequest = {
  readonly id: number;
  readonly api_key?: string;
};

export type EnvironmentVariable = {
  readonly key?: string;
  readonly value?: string;
};

export type Error = {
  readonly success: false;
  readonly error: string;
  readonly msg: string;
  readonly request_id?: string;
  readonly [key: string]: unknown;
};

export type EvictedVersion = {
  readonly id: number;
  readonly file_hash: string;
  readonly version_label: string;
  readonly file_size: number;
};

export type EvictionNotice = {
  readonly reason: "outbid" | "on_demand";
  readonly noticed_at: number;
  readonly stops_at: number;
  readonly winning_bid: number | null;
  readonly bid_to_run_now: number | null;
};

export type FactHead = {
  readonly number: number;
  readonly sha256: string;
};

export type FactLink = {
  readonly number: number;
  readonly made_at: string;
  readonly facts: readonly string[];
  readonly sha256: string;
  readonly signature: string;
};

export type FileDone = {
  readonly success: true;
  readonly path: string;
};

export type FileEntry = {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
  readonly size_bytes: number;
  readonly modified_at: number;
  readonly mode: string;
  readonly target: string | null;
  readonly leads_to: "file" | "folder" | "link" | "other" | null;
  readonly is_addressable: boolean;
};

export type ForecastCap = {
  readonly id: number;
  readonly scope: string;
  readonly scope_id: number;
  readonly period: string;
  readonly limit: number;
  readonly left: number;
};

export type FoundAccount = {
  readonly id: number;
  readonly email: string;
  readonly is_email_proven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parent_id: number | null;
  readonly is_admin: boolean;
  readonly is_team: boolean;
  readonly has_tfa: boolean;
  readonly freeze_id: number | null;
  readonly created_at: number;
  readonly last_seen_at: number | null;
  readonly credit: number;
  readonly held: number;
  readonly earnings: number;
  readonly running_count: number;
  readonly instance_count: number;
  readonly machine_count: number;
};

export type FoundInstance = {
  readonly id: number;
  readonly user_id: number;
  readonly email: string;
  readonly machine_id: number;
  readonly label: string | null;
  readonly image: string;
  readonly is_bid: boolean;
  readonly device_count: number;
  readonly disk_gb: number;
  readonly dph_total: number;
  readonly desired: string;
  readonly phase: string;
  readonly phase_cause: string;
  readonly phase_since: number;
  readonly status_msg: string;
  readonly problem: string;
  readonly created_at: number;
  readonly end_at: number;
  readonly ended_at: number | null;
};

export type FoundMachine = {
  readonly id: number;
  readonly host_id: number;
  readonly host_email: string;
  readonly hostname: string;
  readonly is_simulated: boolean;
  readonly gpu_name: string;
  readonly gpu_count: number;
  readonly rented_count: number;
  readonly sick_count: number;
  readonly absent_count: number;
  readonly geolocation: string;
  readonly agent_version: string;
  readonly is_connected: boolean;
  readonly last_seen_at: number;
  readonly is_listed: boolean;
  readonly verification: string;
  readonly reliability: number;
  readonly price_gpu: number;
  readonly end_at: number;
  readonly rests_until: number | null;
  readonly flag_count: number;
  readonly report_count: number;
  readonly created_at: number;
};

export type Freeze = {
  readonly id: number;
  readonly user_id: number;
  readonly reason: string;
  readonly frozen_by: number;
  readonly frozen_at: number;
  readonly lifted_by: number | null;
  readonly lifted_at: number | null;
  readonly lift_reason: string | null;
};

export type GpuHistory = {
  readonly supply_demand: GpuHistorySupplyDemand;
  readonly pricing: GpuHistoryPricing;
  readonly stats: GpuHistoryStat;
};

export type GpuHistoryPricing = {
  readonly timestamps: readonly number[];
  readonly rented_p10: readonly (number | null)[];
  readonly rented_median: readonly (number | null)[];
  readonly rented_p90: readonly (number | null)[];
  readonly avail_p10: readonly (number | null)[];
  readonly avail_median: readonly (number | null)[];
  readonly avail_p90: readonly (number | null)[];
};

export type GpuHistoryStat = {
  readonly tflops: number | null;
  readonly dlperf: number | null;
  readonly tflops_per_dollar: number | null;
  readonly dlperf_per_dollar: number | null;
};

export type GpuHistorySupplyDemand = {
  readonly timestamps: readonly number[];
  readonly rented_verified: readonly number[];
  readonly avail_verified: readonly number[];
  readonly rented_unverified: readonly number[];
  readonly avail_unverified: readonly number[];
  readonly total: readonly number[];
  readonly available: readonly number[];
  readonly unavail_verified: readonly number[];
  readonly unavail_unverified: readonly number[];
  readonly total_gpus: readonly number[];
  readonly available_gpus: readonly number[];
  readonly rented_verified_gpus: readonly number[];
  readonly avail_verified_gpus: readonly number[];
  readonly rented_unverified_gpus: readonly number[];
  readonly avail_unverified_gpus: readonly number[];
  readonly bucket_size: number;
};

export type GpuLocation = {
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly city: string;
  readonly country_code: string;
  readonly gpu_name: string;
  readonly rented: boolean;
  readonly state: string;
  readonly verified: boolean;
  readonly datacenter: boolean;
  readonly num_gpus: number;
};

export type GpuPriceFigures = {
  readonly available: number;
  readonly median: number | null;
  readonly p10: number | null;
  readonly p90: number | null;
};

export type GpuPrices = {
  readonly gpu_name: string;
  readonly now: GpuPriceFigures;
  readonly day_ago: GpuPriceFigures;
};

export type GpuSupply = {
  readonly gpu_name: string;
  readonly total: number;
  readonly available: number;
  readonly rented_verified: number;
  readonly avail_verified: number;
  readonly rented_unverified: number;
  readonly avail_unverified: number;
  readonly unavailable: number;
  readonly total_gpus: number;
  readonly available_gpus: number;
  readonly rented_verified_gpus: number;
  readonly avail_verified_gpus: number;
  readonly rented_unverified_gpus: number;
  readonly avail_unverified_gpus: number;
  readonly bucket_size: number;
  readonly usage: number;
  readonly usage_30d: number;
  readonly dlperf: number;
  readonly tflops: number;
  readonly price_p10: number | null;
  readonly price_p25: number | null;
  readonly price_median: number | null;
  readonly price_p75: number | null;
  readonly price_p90: number | null;
  readonly tflops_per_dollar: number | null;
  readonly dlperf_per_dollar: number | null;
};

export type GpuType = {
  readonly canonical_name: string;
  readonly gpu_ram_mb: number;
};

export type Health = {
  readonly status: string;
};

export type HostFlag = {
  readonly id: number;
  readonly host_id: number;
  readonly machine_id: number | null;
  readonly kind: string;
  readonly msg: string;
  readonly facts: Readonly<Record<string, number | string | null>>;
  readonly since: number;
  readonly last_at: number;
  readonly seen_count: number;
  readonly cleared_at: number | null;
  readonly cleared_by: number | null;
  readonly clear_reason: string | null;
};

export type HostFlags = {
  readonly success: true;
  readonly flags: readonly HostFlag[];
};

export type HostListResponse = {
  readonly success: true;
  readonly credentials: readonly AgentCredential[];
};

export type HostTokenCreateRequest = {
  readonly name?: string;
  readonly expires_in_s?: number;
};

export type HostTokenCreateResponse = {
  readonly success: true;
  readonly id: number;
  readonly token: string;
  readonly expires_at: number;
};

export type HostTokenListResponse = {
  readonly success: true;
  readonly tokens: readonly JoinToken[];
};

export type HourlySpend = {
  readonly id: number;
  readonly hourly_spend: number;
};

export type Instance = {
  readonly id: number;
  readonly actual_status: string | null;
  readonly intended_status: "running" | "stopped" | "destroyed";
  readonly cur_state: "running" | "stopped";
  readonly next_state: "running" | "stopped";
  readonly status_msg: string | null;
  readonly pull: PullProgress | null;
  readonly label: string | null;
  readonly machine_id: number;
  readonly host_id: number;
  readonly bundle_id: number | null;
  readonly host_last_seen: number;
  readonly hosting_type: number;
  readonly template_id: number | null;
  readonly template_hash_id: string | null;
  readonly template_name: string | null;
  readonly is_bid: boolean;
  readonly is_reserved: boolean;
  readonly is_simulated: boolean;
  readonly gpu_is_declared: boolean;
  readonly start_date: number;
  readonly end_date: number;
  readonly deletes_at: number;
  readonly duration: number;
  readonly uptime_mins: number | null;
  readonly client_run_time: number;
  readonly host_run_time: number;
  readonly time_remaining: string;
  readonly time_remaining_isbid: string;
  readonly rentable: boolean;
  readonly external: boolean;
  readonly verification: string;
  readonly static_ip: boolean;
  readonly image_uuid: string;
  readonly image_args: readonly string[];
  readonly image_runtype: string;
  readonly extra_env: readonly (readonly string[])[];
  readonly onstart: string | null;
  readonly jupyter_token: string;
  readonly ssh_host: string;
  readonly ssh_port: number;
  readonly ssh_idx: string;
  readonly ssh_host_key: string | null;
  readonly machine_dir_ssh_port: number;
  readonly public_ipaddr: string;
  readonly local_ipaddrs: string;
  readonly ports: Readonly<Record<string, readonly InstancePort[]>>;
  readonly port_urls: Readonly<Record<string, string>>;
  readonly direct_port_count: number;
  readonly direct_port_start: number;
  readonly direct_port_end: number;
  readonly num_gpus: number;
  readonly gpu_name: string;
  readonly gpu_arch: string;
  readonly gpu_frac: number;
  readonly gpu_lanes: number;
  readonly gpu_mem_bw: number;
  readonly bw_nvlink: number;
  readonly gpu_ram: number;
  readonly gpu_totalram: number;
  readonly gpu_total_ram: number;
  readonly gpu_util: number | null;
  readonly gpu_temp: number | null;
  readonly cpu_cores: number;
  readonly cpu_cores_effective: number;
  readonly cpu_name: string;
  readonly cpu_arch: string;
  readonly cpu_ram: number;
  readonly cpu_util: number;
  readonly mem_limit: number | null;
  readonly mem_usage: number | null;
  readonly vmem_usage: number | null;
  readonly disk_space: number;
  readonly disk_usage: number;
  readonly disk_util: number;
  readonly disk_bw: number;
  readonly disk_name: string;
  readonly inet_up: number;
  readonly inet_down: number;
  readonly mobo_name: string;
  readonly os_version: string;
  readonly pci_gen: number;
  readonly pcie_bw: number;
  readonly driver_version: string;
  readonly cuda_max_good: number;
  readonly dlperf: number;
  readonly total_flops: number;
  readonly score: number;
  readonly reliability2: number;
  readonly geolocation: string;
  readonly country_code: string;
  readonly logo: string;
  readonly webpage: string | null;
  readonly dph_base: number;
  readonly dph_total: number;
  readonly min_bid: number;
  readonly storage_cost: number;
  readonly storage_total_cost: number;
  readonly vram_costperhour: number;
  readonly inet_up_cost: number;
  readonly inet_down_cost: number;
  readonly internet_up_cost_per_tb: number;
  readonly internet_down_cost_per_tb: number;
  readonly traffic_cost: number;
  readonly traffic_limit: number;
  readonly traffic_limit_source: "budget" | "renter";
  readonly traffic_limit_reached: boolean;
  readonly credit_balance: number | null;
  readonly credit_discount: number | null;
  readonly credit_discount_max: number;
  readonly dlperf_per_dphtotal: number;
  readonly flops_per_dphtotal: number;
  readonly search: PriceBreakdown;
  readonly instance: PriceBreakdown;
  readonly interruption: EvictionNotice | null;
  readonly waiting_for: WaitingInstance | null;
  readonly maintenance: readonly InstanceMaintenance[];
  readonly volume_info: readonly InstanceVolumeInfo[];
  readonly actions: InstanceAction;
  readonly allowed_actions: AllowedActions;
};

export type InstanceAcceptOwnPriceIncreaseRequest = {
  readonly pending_price_increase_id?: number;
};

export type InstanceAction = {
  readonly start: AllowedAction;
  readonly stop: AllowedAction;
  readonly reboot: AllowedAction;
  readonly recycle: AllowedAction;
  readonly destroy: AllowedAction;
};

export type InstanceAttachSshKeyRequest = {
  readonly ssh_key?: string | number;
};

export type InstanceBackup = {
  readonly id: number;
  readonly contract_id: number;
  readonly type: string | null;
  readonly machine_id: number;
  readonly status: "pending" | "success" | "error";
  readonly created_at: number | null;
  readonly info: string | null;
};

export type InstanceChange = {
  readonly id: number;
  readonly success: boolean;
  readonly error?: string;
  readonly msg?: string;
};

export type InstanceChangeBidRequest = {
  readonly client_id: string | number;
  readonly price: number | null;
  readonly [key: string]: unknown;
};

export type InstanceChanges = {
  readonly success: true;
  readonly msg: string;
  readonly results: readonly InstanceChange[];
};

export type InstanceCountResponse = {
  readonly count: number;
};

export type InstanceCountsResponse = {
  readonly data: OwnCounts;
};

export type InstanceCreateBulkRequest = {
  readonly template_hash_id?: string;
  readonly image?: string;
  readonly env?: string | Readonly<Record<string, unknown>>;
  readonly volume_info?: VolumeMount;
  readonly price?: number;
  readonly max_dph?: number;
  readonly target_state?: "running" | "stopped";
  readonly cancel_unavail?: boolean;
  readonly disk?: number | string;
  readonly label?: string;
  readonly runtype?: string;
  readonly onstart?: string;
  readonly traffic_limit?: number | string | null;
  readonly args?: string | readonly string[];
  readonly args_str?: string;
  readonly image_login?: string;
  readonly user?: string;
  readonly use_jupyter_lab?: boolean;
  readonly jupyter_dir?: string;
  readonly python_utf8?: boolean;
  readonly lang_utf8?: boolean;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly vm?: boolean;
  readonly force?: boolean;
  readonly extra?: string;
  readonly create_from?: string;
  readonly ids: readonly number[];
  readonly [key: string]: unknown;
};

export type InstanceCreateBulkResponse = {
  readonly success: true;
  readonly created: readonly number[];
  readonly failed: readonly number[];
  readonly elapsed: number;
  readonly new_contracts: readonly number[];
  readonly results: readonly (CreatedInstance | RefusedOffer)[];
};

export type InstanceCreateRequest = {
  readonly template_hash_id?: string;
  readonly image?: string;
  readonly env?: string | Readonly<Record<string, unknown>>;
  readonly volume_info?: VolumeMount;
  readonly price?: number;
  readonly max_dph?: number;
  readonly target_state?: "running" | "stopped";
  readonly cancel_unavail?: boolean;
  readonly disk?: number | string;
  readonly label?: string;
  readonly runtype?: string;
  readonly onstart?: string;
  readonly traffic_limit?: number | string | null;
  readonly args?: string | readonly string[];
  readonly args_str?: string;
  readonly image_login?: string;
  readonly user?: string;
  readonly use_jupyter_lab?: boolean;
  readonly jupyter_dir?: string;
  readonly python_utf8?: boolean;
  readonly lang_utf8?: boolean;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly vm?: boolean;
  readonly force?: boolean;
  readonly extra?: string;
  readonly create_from?: string;
  readonly dry_run?: boolean;
  readonly [key: string]: unknown;
};

export type InstanceDeleteFileResponse = {
  readonly success: true;
  readonly path: string;
};

export type InstanceDepositResponse = {
  readonly success: true;
  readonly refundable_deposit: number;
  readonly total_discount: number;
  readonly discount_months: number;
  readonly deposit: number;
  readonly discount_rate: number;
};

export type InstanceDestroyBulkRequest = {
  readonly instance_ids: readonly number[];
  readonly [key: string]: unknown;
};

export type InstanceEvent = {
  readonly at: number;
  readonly actor: string;
  readonly cause: string;
  readonly from: string | null;
  readonly to: string;
  readonly message: string;
};

export type InstanceEventsResponse = {
  readonly success: true;
  readonly events: readonly InstanceEvent[];
};

export type InstanceExecuteRequest = {
  readonly command: string;
  readonly [key: string]: unknown;
};

export type InstanceExecuteResponse = {
  readonly success: true;
  readonly result_url: string;
  readonly writeable_path: string;
  readonly msg: string;
};

export type InstanceFilter = {
  readonly actual_status: string | null;
  readonly verification: string;
  readonly gpu_name: string;
};

export type InstanceFiltersResponse = {
  readonly filters: readonly InstanceFilter[];
};

export type InstanceLaunchRequest = {
  readonly template_hash_id?: string;
  readonly image?: string;
  readonly env?: string | Readonly<Record<string, unknown>>;
  readonly volume_info?: VolumeMount;
  readonly price?: number;
  readonly max_dph?: number;
  readonly target_state?: "running" | "stopped";
  readonly cancel_unavail?: boolean;
  readonly disk?: number | string;
  readonly label?: string;
  readonly runtype?: string;
  readonly onstart?: string;
  readonly traffic_limit?: number | string | null;
  readonly args?: string | readonly string[];
  readonly args_str?: string;
  readonly image_login?: string;
  readonly user?: string;
  readonly use_jupyter_lab?: boolean;
  readonly jupyter_dir?: string;
  readonly python_utf8?: boolean;
  readonly lang_utf8?: boolean;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly vm?: boolean;
  readonly force?: boolean;
  readonly extra?: string;
  readonly create_from?: string;
  readonly q?: string | Readonly<Record<string, unknown>>;
  readonly gpu_name?: string;
  readonly num_gpus?: number | string;
  readonly region?: string;
  readonly [key: string]: unknown;
};

export type InstanceListFilesResponse = {
  readonly success: true;
  readonly path: string;
  readonly entries: readonly FileEntry[];
  readonly is_complete: boolean;
};

export type InstanceListPriceIncreasesResponse = {
  readonly success: true;
  readonly count: number;
  readonly truncated: boolean;
  readonly pending_price_increases: readonly PriceIncrease[];
};

export type InstanceListResponse = {
  readonly instances_found: number;
  readonly instances: readonly Instance[];
};

export type InstanceListSshKeysResponse = {
  readonly success: true;
  readonly ssh_keys: string;
};

export type InstanceMaintenance = {
  readonly start_time: number;
  readonly end_time: number;
  readonly maintenance_category: string;
  readonly maintenance_reason: string;
};

export type InstanceMakeFolderRequest = {
  readonly path: string;
  readonly [key: string]: unknown;
};

export type InstanceMakeFolderResponse = {
  readonly success: true;
  readonly path: string;
};

export type InstanceMeasurementsResponse = {
  readonly success: true;
  readonly resolution_seconds: number;
  readonly from: number;
  readonly to: number;
  readonly times: readonly number[];
  readonly series: MeasuredSeries;
  readonly maxima: MeasuredSeries;
  readonly gpus: readonly MeasuredGpu[];
};

export type InstancePageResponse = {
  readonly success: true;
  readonly instances_found: number;
  readonly total_instances: number;
  readonly label_counts: Readonly<Record<string, number>>;
  readonly next_token: string | null;
  readonly instances: readonly Readonly<Record<string, unknown>>[];
};

export type InstancePort = {
  readonly HostIp: string;
  readonly HostPort: string;
};

export type InstancePrepayRequest = {
  readonly amount: number;
  readonly [key: string]: unknown;
};

export type InstancePrepayResponse = {
  readonly success: true;
  readonly timescale: number;
  readonly discount_rate: number;
  readonly deposit: number;
};

export type InstancePutSshKeyRequest = {
  readonly ssh_key_id?: string | number;
  readonly ssh_key?: string | number;
};

export type InstanceRequestLogsRequest = {
  readonly tail?: string | number;
  readonly filter?: string;
  readonly daemon_logs?: string | boolean;
  readonly [key: string]: unknown;
};

export type InstanceRequestLogsResponse = {
  readonly success: true;
  readonly result_url: string;
  readonly msg: string;
};

export type InstanceShowResponse = {
  readonly instances: Instance | null;
};

export type InstanceSpark = {
  readonly id: number;
  readonly gpu_util: readonly (number | null)[];
  readonly gpu_memory_bytes: readonly (number | null)[];
  readonly cpu_util: readonly (number | null)[];
  readonly memory_bytes: readonly (number | null)[];
};

export type InstanceSparksResponse = {
  readonly success: true;
  readonly resolution_seconds: number;
  readonly from: number;
  readonly to: number;
  readonly times: readonly number[];
  readonly instances: readonly InstanceSpark[];
};

export type InstanceStartBulkRequest = {
  readonly IDs: readonly number[];
  readonly [key: string]: unknown;
};

export type InstanceTakeSnapshotRequest = {
  readonly container_registry?: string;
  readonly personal_repo?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly pause?: string | boolean;
  readonly [key: string]: unknown;
};

export type InstanceUpdateBulkRequest = {
  readonly state: "running" | "stopped";
  readonly ids: readonly number[];
  readonly [key: string]: unknown;
};

export type InstanceUpdateRequest = {
  readonly state?: "running" | "stopped";
  readonly label?: string;
  readonly traffic_limit?: number | null;
  readonly [key: string]: unknown;
};

export type InstanceUpdateTemplateRequest = {
  readonly template_id?: number | string;
  readonly template_hash_id?: string;
  readonly image?: string;
  readonly args?: string | readonly string[];
  readonly env?: string | Readonly<Record<string, unknown>>;
  readonly onstart?: string;
  readonly [key: string]: unknown;
};

export type InstanceUpdateTemplateResponse = {
  readonly success: true;
  readonly updated_instance: Instance;
  readonly msg: string;
};

export type InstanceVolumeInfo = {
  readonly id: number;
  readonly avail_space: number;
  readonly total_space: number;
};

export type Invoice = {
  readonly success: true;
  readonly number: string;
  readonly issued_at: number;
  readonly period_start: number;
  readonly period_end: number;
  readonly currency: string;
  readonly total: number;
  readonly seller: InvoiceSeller;
  readonly buyer: InvoiceBuyer;
  readonly lines: readonly InvoiceLine[];
  readonly net: number;
  readonly tax: InvoiceTax;
  readonly balance: InvoiceBalance;
};

export type InvoiceBalance = {
  readonly opening: number;
  readonly entries: readonly InvoiceBalanceEntry[];
  readonly usage: number;
  readonly rounding: number;
  readonly closing: number;
};

export type InvoiceBalanceEntry = {
  readonly label: string;
  readonly amount: number;
};

export type InvoiceBuyer = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
  readonly user_id: number;
  readonly email: string;
};

export type InvoiceLine = {
  readonly source: string;
  readonly type: string;
  readonly description: string;
  readonly start: number;
  readonly end: number;
  readonly quantity: number;
  readonly unit: string;
  readonly rate: string;
  readonly is_rate_average: boolean;
  readonly amount: number;
  readonly unpaid: string;
  readonly machine_id: number | null;
  readonly hardware: string | null;
  readonly label: string | null;
  readonly is_late: boolean;
};

export type InvoiceReport = {
  readonly invoices: readonly InvoiceReportItem[];
  readonly username: string;
  readonly email: string;
  readonly fullname: string;
  readonly address1: string;
  readonly address2: string;
  readonly city: string;
  readonly zip: string;
  readonly country: string;
  readonly taxinfo: string;
  readonly bill_to: string;
  readonly current: InvoiceReportCurrent;
};

export type InvoiceReportCurrent = {
  readonly charges: number;
  readonly service_fee: number;
  readonly total: number;
  readonly credit: number;
};

export type InvoiceReportItem = {
  readonly id: number;
  readonly type: "charge" | "payment";
  readonly service: string;
  readonly amount: number;
  readonly timestamp: number;
  readonly description: string;
  readonly quantity: number;
  readonly rate: number;
  readonly last4: string;
  readonly is_credit: boolean;
  readonly instance_id?: number;
};

export type InvoiceSeller = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
};

export type InvoiceSummary = {
  readonly number: string;
  readonly issued_at: number;
  readonly period_start: number;
  readonly period_end: number;
  readonly currency: string;
  readonly total: number;
};

export type InvoiceTax = {
  readonly percent: string;
  readonly amount: number;
  readonly note: string;
  readonly name: string;
  readonly country: string;
  readonly is_reverse_charge: boolean;
};

export type IpAddressUse = {
  readonly id: number;
  readonly user_id: number;
  readonly ip_address: string;
  readonly timestamp: string;
  readonly ip: string;
  readonly first_seen: string;
  readonly first_location: string;
};

export type IssuedDocument = {
  readonly number: string;
  readonly kind: string;
  readonly issued_at: number;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly refers_to: string | null;
  readonly total: number;
  readonly currency: string;
  readonly user_id: number;
  readonly name: string;
  readonly email: string;
  readonly tax_id: string;
  readonly event: string | null;
  readonly method: string | null;
  readonly taxed: IssuedDocumentTaxed | null;
  readonly earned: number | null;
  readonly self_billed: IssuedDocumentSelfBilled | null;
};

export type IssuedDocumentSelfBilled = {
  readonly net: number;
  readonly tax: number;
  readonly percent: string;
  readonly country: string;
  readonly is_reverse_charge: boolean;
};

export type IssuedDocumentTaxed = {
  readonly net: number;
  readonly tax: number;
  readonly total: number;
  readonly percent: string;
  readonly tax_name: string;
  readonly country: string;
  readonly is_reverse_charge: boolean;
};

export type IssuedKey = {
  readonly id: number;
  readonly email: string;
  readonly api_key: string;
  readonly key_id: number;
};

export type JoinToken = {
  readonly id: number;
  readonly name: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly used_at: number | null;
  readonly credential_id: number | null;
};

export type JoinedMachine = {
  readonly id: number;
  readonly host_key: string;
  readonly hostname: string;
  readonly is_simulated: boolean;
  readonly is_connected: boolean;
  readonly last_seen_at: number;
  readonly clone_noticed_at: number | null;
  readonly gpu_problems: readonly string[];
  readonly agent_version: string;
  readonly agent_update: string | null;
};

export type ListedMachine = {
  readonly extended: number;
  readonly price_increases: number;
  readonly machine_id: number;
  readonly end_date: number;
  readonly user_id: number;
};

export type ListedSpace = {
  readonly machine_id: number;
  readonly user_id: number;
  readonly extended: number;
  readonly new_contracts: readonly NewSpaceListing[];
  readonly upd_contracts: readonly number[];
};

export type Logs = {
  readonly info0: string;
  readonly info1: string;
  readonly trace: string;
  readonly debug: string;
  readonly logs: string;
};

export type Machine = {
  readonly id: number;
  readonly machine_id: number;
  readonly hostname: string | null;
  readonly is_simulated: boolean;
  readonly num_gpus: number;
  readonly gpu_name: string;
  readonly gpu_ram: number;
  readonly total_flops: number;
  readonly cpu_cores: number;
  readonly cpu_name: string;
  readonly cpu_ram: number;
  readonly disk_space: number;
  readonly avail_disk_space: number;
  readonly driver_version: string;
  readonly cuda_max_good: number;
  readonly inet_up: number;
  readonly inet_down: number;
  readonly public_ipaddr: string;
  readonly geolocation: string;
  readonly verification: string;
  readonly hosting_type: number;
  readonly reliability2: number;
  readonly listed: boolean;
  readonly rentable: boolean;
  readonly listed_gpu_cost: number;
  readonly min_bid_price: number;
  readonly listed_storage_cost: number;
  readonly listed_volume_cost: number | null;
  readonly listed_inet_up_cost: number;
  readonly listed_inet_down_cost: number;
  readonly credit_discount_max: number;
  readonly min_chunk: number;
  readonly end_date: number;
  readonly duration: number | null;
  readonly volume_offer: MachineVolumeListing | null;
  readonly is_online: boolean;
  readonly timeout: number;
  readonly online_since: number | null;
  readonly last_seen: number;
  readonly gpu_occupancy: string;
  readonly rented_devices: number;
  readonly num_renters: number;
  readonly current_rentals_running: number;
  readonly current_rentals_running_on_demand: number;
  readonly current_rentals_on_demand: number;
  readonly current_rentals_reserved: number;
  readonly current_rentals_interruptible: number;
  readonly current_rentals_resident: number;
  readonly client_end_date: number | null;
  readonly earn_hour: number;
  readonly earn_day: number;
  readonly earn_month: number;
  readonly num_reports: number;
  readonly gpu_problems: readonly string[];
  readonly error_description: string | null;
  readonly rests_until: number | null;
  readonly default_job: DefaultJob | null;
  readonly maintenance: readonly Maintenance[];
  readonly allowed_actions: MachineActions;
};

export type MachineActions = {
  readonly list: AllowedAction;
  readonly unlist: AllowedAction;
  readonly set_default_job: AllowedAction;
  readonly end_default_job: AllowedAction;
  readonly schedule_maintenance: AllowedAction;
  readonly clean_up: AllowedAction;
  readonly delete: AllowedAction;
};

export type MachineCalendar = {
  readonly success: true;
  readonly machine_id: number;
  readonly from: number;
  readonly now: number;
  readonly listed_until: number | null;
  readonly gpus: readonly CalendarGpu[];
  readonly maintenances: readonly CalendarMaintenance[];
  readonly is_cut: boolean;
};

export type MachineCancelMaintenanceResponse = {
  readonly success: true;
  readonly ctime: number;
  readonly machine_id: number;
  readonly msg: string;
};

export type MachineCancelMaintenancesRequest = {
  readonly maintenance_ids: readonly number[];
};

export type MachineCancelMaintenancesResponse = {
  readonly success: boolean;
  readonly results: readonly MaintenanceCancelResult[];
};

export type MachineCancelOneMaintenanceRequest = {
  readonly maintenance_id: number;
};

export type MachineChange = {
  readonly success: true;
  readonly machine_id: number;
  readonly user_id: number;
};

export type MachineCleanupResponse = {
  readonly success: true;
  readonly ctime: number;
  readonly machine_id: number;
  readonly user_id: number;
  readonly num_deleted: number;
  readonly msg: string;
};

export type MachineColumns = {
  readonly id?: number;
  readonly machine_id?: number;
  readonly hostname?: string | null;
  readonly is_simulated?: boolean;
  readonly num_gpus?: number;
  readonly gpu_name?: string;
  readonly gpu_ram?: number;
  readonly total_flops?: number;
  readonly cpu_cores?: number;
  readonly cpu_name?: string;
  readonly cpu_ram?: number;
  readonly disk_space?: number;
  readonly avail_disk_space?: number;
  readonly driver_version?: string;
  readonly cuda_max_good?: number;
  readonly inet_up?: number;
  readonly inet_down?: number;
  readonly public_ipaddr?: string;
  readonly geolocation?: string;
  readonly verification?: string;
  readonly hosting_type?: number;
  readonly reliability2?: number;
  readonly listed?: boolean;
  readonly rentable?: boolean;
  readonly listed_gpu_cost?: number;
  readonly min_bid_price?: number;
  readonly listed_storage_cost?: number;
  readonly listed_volume_cost?: number | null;
  readonly listed_inet_up_cost?: number;
  readonly listed_inet_down_cost?: number;
  readonly credit_discount_max?: number;
  readonly min_chunk?: number;
  readonly end_date?: number;
  readonly duration?: number | null;
  readonly volume_offer?: MachineVolumeListing | null;
  readonly is_online?: boolean;
  readonly timeout?: number;
  readonly online_since?: number | null;
  readonly last_seen?: number;
  readonly gpu_occupancy?: string;
  readonly rented_devices?: number;
  readonly num_renters?: number;
  readonly current_rentals_running?: number;
  readonly current_rentals_running_on_demand?: number;
  readonly current_rentals_on_demand?: number;
  readonly current_rentals_reserved?: number;
  readonly current_rentals_interruptible?: number;
  readonly current_rentals_resident?: number;
  readonly client_end_date?: number | null;
  readonly earn_hour?: number;
  readonly earn_day?: number;
  readonly earn_month?: number;
  readonly num_reports?: number;
  readonly gpu_problems?: readonly string[];
  readonly error_description?: string | null;
  readonly rests_until?: number | null;
  readonly default_job?: DefaultJob | null;
  readonly maintenance?: readonly Maintenance[];
  readonly allowed_actions?: MachineActions;
};

export type MachineCreateAsksRequest = {
  readonly machine?: number;
  readonly machines?: readonly number[];
  readonly hidden_listing?: boolean;
  readonly price_gpu?: number;
  readonly price_disk?: number;
  readonly price_inetu?: number;
  readonly price_inetd?: number;
  readonly price_min_bid?: number;
  readonly min_chunk?: number;
  readonly end_date?: number;
  readonly credit_discount_max?: number;
  readonly duration?: number | string;
  readonly vol_size?: number;
  readonly vol_price?: number;
};

export type MachineCreateAsksResponse = {
  readonly success: true;
  readonly extended: number;
  readonly price_increases: number;
  readonly machine_id: number;
  readonly end_date: number;
  readonly msg: string;
  readonly you_sent: Readonly<Record<string, unknown>>;
  readonly results: readonly ListedMachine[];
};

export type MachineCreateBidsRequest = {
  readonly machine: number;
  readonly price_gpu?: number;
  readonly price_inetu?: number;
  readonly price_inetd?: number;
  readonly image: string;
  readonly args?: readonly string[];
};

export type MachineCreateBidsResponse = {
  readonly success: true;
  readonly machine_id: number;
  readonly user_id: number;
  readonly you_sent: DefaultJob;
};

export type MachineDefragOffersRequest = {
  readonly machine_ids: readonly number[] | number | string;
};

export type MachineDefragOffersResponse = {
  readonly success: boolean;
  readonly defragmented: readonly number[] | null;
  readonly n0: number;
  readonly n1: number;
  readonly n2: number;
  readonly machines: readonly DefragmentedMachine[];
  readonly msg: string;
};

export type MachineDeleteAsksResponse = {
  readonly success: true;
  readonly machine_id: number;
  readonly user_id: number;
  readonly orphaned_cleaned: number;
};

export type MachineEarnings = {
  readonly machine_id: number;
  readonly gpu_earn: number;
  readonly sto_earn: number;
  readonly bwu_earn: number;
  readonly bwd_earn: number;
  readonly sla_earn: number;
  readonly reliability: number | null;
};

export type MachineError = {
  readonly machine_id: number;
  readonly error_description: string;
  readonly date: number;
};

export type MachineErrorCountResponse = {
  readonly count: number;
};

export type MachineFindMaintenancesRequest = {
  readonly machine_ids: readonly number[] | number | string;
  readonly ctime?: number;
};

export type MachineListResponse = {
  readonly machines: readonly Machine[];
};

export type MachineMeasurementsResponse = {
  readonly success: true;
  readonly resolution_seconds: number;
  readonly from: number;
  readonly to: number;
  readonly times: readonly number[];
  readonly series: MeasuredSeries;
  readonly maxima: MeasuredSeries;
  readonly gpus: readonly MeasuredGpu[];
};

export type MachinePageResponse = {
  readonly success: true;
  readonly total_machines: number;
  readonly machines_found: number;
  readonly machines: readonly MachineColumns[];
  readonly next_token: string | null;
};

export type MachineReliability = {
  readonly success: true;
  readonly machine_id: number;
  readonly is_simulated: boolean;
  readonly reliability: number;
  readonly shown_reliability: number;
  readonly formula: string;
  readonly window_days: number;
  readonly terms: ReliabilityTerms;
  readonly days: readonly ReliabilityDay[];
};

export type MachineReport = {
  readonly problem: string;
  readonly message: string;
  readonly created_at: number;
};

export type MachineReportRequest = {
  readonly problem: string;
  readonly message?: string;
};

export type MachineScheduleMaintenanceRequest = {
  readonly sdate: number | string;
  readonly duration: number;
  readonly maintenance_reason?: string;
  readonly maintenance_category?: "power" | "internet" | "disk" | "gpu" | "software" | "other" | "not provided";
};

export type MachineScheduleMaintenanceResponse = {
  readonly success: true;
  readonly you_sent: string;
  readonly machine_id: number;
  readonly notifications_sent: number;
};

export type MachineScheduleMaintenancesRequest = {
  readonly machine_ids: readonly number[];
  readonly sdate?: number | string;
  readonly duration?: number;
  readonly maintenance_reason?: string;
  readonly maintenance_category?: "power" | "internet" | "disk" | "gpu" | "software" | "other" | "not provided";
};

export type MachineScheduleMaintenancesResponse = {
  readonly success: boolean;
  readonly results: readonly MaintenanceBatchResult[];
};

export type MachineSetMinBidRequest = {
  readonly price: number;
};

export type MachineSetMinBidResponse = {
  readonly success: true;
  readonly you_sent: MachineSetMinBidYouSent;
};

export type MachineSetMinBidYouSent = {
  readonly price: number;
};

export type MachineUplink = {
  readonly inet_up: number;
  readonly inet_down: number;
  readonly measured_inet_up: number | null;
  readonly measured_inet_down: number | null;
  readonly measured_at: number | null;
  readonly measured_count: number;
};

export type MachineVerification = {
  readonly success: true;
  readonly machine_id: number;
  readonly verification: "verified" | "unverified" | "deverified";
  readonly decided_by: "rule" | "administrator" | "operator";
  readonly hosting_type: number;
  readonly msg: string;
  readonly checks: readonly VerificationCheck[];
  readonly line: MachineUplink;
  readonly rests_until: number | null;
  readonly rest_reason: string | null;
};

export type MachineVolumeListing = {
  readonly id: number;
  readonly size: number;
  readonly rented: number;
  readonly storage_cost: number;
  readonly end_date: number;
};

export type Maintenance = {
  readonly id: number;
  readonly machine_id: number;
  readonly start_time: number;
  readonly end_time: number;
  readonly duration_hours: number;
  readonly maintenance_category: "power" | "internet" | "disk" | "gpu" | "software" | "other" | "not provided";
  readonly maintenance_reason: string;
  readonly created_at: number;
  readonly cancelled_at: null;
};

export type MaintenanceBatchResult = {
  readonly success: boolean;
  readonly machine_id: number;
  readonly maintenance_id?: number;
  readonly notifications_sent?: number;
  readonly error?: string;
  readonly msg?: string;
};

export type MaintenanceCancelResult = {
  readonly success: boolean;
  readonly maintenance_id: number;
  readonly msg: string;
};

export type MarketBidHistoryResponse = {
  readonly success: true;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly from: number;
  readonly to: number;
  readonly known_hours: number;
  readonly lowest_now: number | null;
  readonly at_price: BidOutcome | null;
  readonly ladder: readonly BidOutcome[];
  readonly points: readonly BidFloorPoint[];
};

export type MarketHistoryPoint = {
  readonly at: number;
  readonly lowest_ask: number | null;
  readonly median_ask: number | null;
  readonly offered_gpus: number;
  readonly rented_gpus: number | null;
  readonly free_gpus: number | null;
};

export type MarketHistoryResponse = {
  readonly success: true;
  readonly gpu_name: string;
  readonly num_gpus: string;
  readonly step_s: number;
  readonly points: readonly MarketHistoryPoint[];
};

export type MeasuredGpu = {
  readonly index: number;
  readonly gpu_util: readonly (number | null)[];
  readonly gpu_memory_bytes: readonly (number | null)[];
  readonly gpu_temperature: readonly (number | null)[];
  readonly gpu_power_watts: readonly (number | null)[];
};

export type MeasuredSeries = {
  readonly gpu_util: readonly (number | null)[];
  readonly gpu_memory_bytes: readonly (number | null)[];
  readonly gpu_temperature: readonly (number | null)[];
  readonly gpu_power_watts: readonly (number | null)[];
  readonly cpu_util: readonly (number | null)[];
  readonly memory_bytes: readonly (number | null)[];
  readonly disk_bytes: readonly (number | null)[];
  readonly net_in_bytes_per_second: readonly (number | null)[];
  readonly net_out_bytes_per_second: readonly (number | null)[];
};

export type MemberRole = {
  readonly success: true;
  readonly msg: string;
  readonly role: string;
  readonly new_role_permissions: Readonly<Record<string, unknown>>;
};

export type Message = {
  readonly success: true;
  readonly msg: string;
};

export type MetricsGpuCurrentResponse = {
  readonly success: true;
  readonly needs_machine?: boolean;
  readonly gpus?: readonly GpuSupply[];
};

export type MetricsGpuHistoryResponse = {
  readonly success: true;
  readonly needs_machine?: boolean;
  readonly gpus?: Readonly<Record<string, GpuHistory>>;
};

export type MetricsGpuLocationsResponse = {
  readonly success: true;
  readonly needs_machine?: boolean;
  readonly locations?: readonly GpuLocation[];
};

export type MetricsGpuPricesResponse = {
  readonly success: true;
  readonly sampled_at: number | null;
  readonly gpus: readonly GpuPrices[];
};

export type MetricsPoint = {
  readonly timestamp: number;
  readonly value: string;
};

export type MoneyMovement = {
  readonly start: number;
  readonly end: number | null;
  readonly type: "credit" | "transfer" | "payout" | "refund" | "reserved";
  readonly source: string;
  readonly description: string;
  readonly amount: number;
  readonly amount_exact: string;
  readonly metadata: MoneyMovementMetadata;
  readonly items: readonly unknown[];
};

export type MoneyMovementMetadata = {
  readonly invoice_id: number;
  readonly service: string;
  readonly direction: string;
  readonly paid_from?: string;
  readonly state?: string;
};

export type MovementRecord = {
  readonly id?: number;
  readonly user_id?: number;
  readonly when?: number;
  readonly paid_on?: number | null;
  readonly payment_expected?: number;
  readonly amount_cents?: number;
  readonly original_amount?: number;
  readonly is_credit?: boolean;
  readonly is_delayed?: boolean;
  readonly balance_before?: number | null;
  readonly balance_after?: number | null;
  readonly event_id?: string;
  readonly cut_amount?: number;
  readonly cut_percent?: number;
  readonly extra?: unknown;
  readonly service?: string;
  readonly stripe_charge?: null;
  readonly stripe_refund?: null;
  readonly stripe_payout?: null;
  readonly error?: MovementRecordError | null;
  readonly paypal_email?: null;
  readonly transfer_group?: null;
  readonly failed?: boolean;
  readonly refunded?: boolean;
  readonly is_check?: boolean;
  readonly description?: string;
};

export type MovementRecordError = {
  readonly message: string;
};

export type NetworkDisk = {
  readonly network_disk_id: number;
  readonly free_space: number;
  readonly total_space: number;
};

export type NetworkDiskListResponse = {
  readonly data: readonly NetworkDisks[];
};

export type NetworkDiskMountRequest = {
  readonly machines: readonly number[];
  readonly mount_point: string;
  readonly disk_id?: number;
  readonly size?: number;
};

export type NetworkDiskMountResponse = {
  readonly success: true;
  readonly disk_id: number;
};

export type NetworkDisks = {
  readonly cluster_id: number | null;
  readonly network_disks: readonly NetworkDisk[];
  readonly machine_ids: readonly number[];
  readonly mounts: Readonly<Record<string, string>>;
};

export type NetworkVolumeListRequest = {
  readonly disk_id: number;
  readonly size?: number;
  readonly price_disk?: number;
  readonly end_date?: number;
  readonly credit_discount_max?: number;
};

export type NetworkVolumeListResponse = {
  readonly success: true;
  readonly disk_id: string;
  readonly msg: string;
};

export type NetworkVolumeUnlistRequest = {
  readonly id: number;
};

export type NewInstance = {
  readonly success: true;
  readonly new_contract: number;
  readonly instance_api_key: string;
  readonly ask_id: number;
  readonly dph_total?: number;
  readonly dph_base?: number;
  readonly storage_total_cost?: number;
  readonly storage_cost?: number;
  readonly inet_up_cost?: number;
  readonly inet_down_cost?: number;
  readonly end_date?: number;
};

export type NewPasskey = {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly authenticatorAttachment?: string;
  readonly response: PasskeyAttestation;
};

export type NewSignUpInvitation = {
  readonly success: true;
  readonly id: number;
  readonly email: string | null;
  readonly user_id: number | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly used_at: number | null;
  readonly token: string;
  readonly path: string;
};

export type NewSpaceListing = {
  readonly id: number;
  readonly size: number;
};

export type NewVolume = {
  readonly success: true;
  readonly id: number;
  readonly volume_name: string;
  readonly storage_cost?: number;
  readonly storage_total_cost?: number;
  readonly end_date?: number;
};

export type NoticeListResponse = {
  readonly success: true;
  readonly notices: readonly Notification[];
  readonly unread_count: number;
  readonly next_token: string | null;
};

export type NoticeReadRequest = {
  readonly ids?: readonly number[];
  readonly up_to_id?: number;
};

export type NoticeReadResponse = {
  readonly success: true;
  readonly marked: number;
  readonly unread_count: number;
};

export type Notification = {
  readonly id: number;
  readonly event_id: string;
  readonly type: string;
  readonly subject: string;
  readonly message: string;
  readonly created_at: number;
  readonly read_at: number | null;
  readonly deliveries: readonly Delivery[];
};

export type NotificationPreferenceUpdateRequest = {
  readonly notification_preferences: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, boolean>>>>>>;
};

export type NotificationPreferences = {
  readonly success: true;
  readonly notification_preferences: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, boolean>>>>>>;
};

export type NotificationType = {
  readonly key: string;
  readonly slug: string;
  readonly context: "client" | "host";
  readonly topic: string | null;
  readonly category: string;
  readonly display_name: string;
  readonly default_preferences: NotificationTypeDefaultPreference;
  readonly mandatory_email: boolean;
};

export type NotificationTypeDefaultPreference = {
  readonly email: boolean;
  readonly webhooks: boolean;
};

export type NotificationTypeListResponse = {
  readonly success: true;
  readonly notification_types: readonly NotificationType[];
};

export type Offer = {
  readonly id: number;
  readonly ask_contract_id: number;
  readonly bundle_id: number;
  readonly bundled_results: number | null;
  readonly rn: number;
  readonly machine_id: number;
  readonly host_id: number;
  readonly hostname: string | null;
  readonly is_simulated: boolean;
  readonly gpu_is_declared: boolean;
  readonly public_ipaddr: string;
  readonly cluster_id: null;
  readonly resource_type: string;
  readonly rentable: boolean;
  readonly rented: boolean;
  readonly is_bid: boolean;
  readonly external: boolean;
  readonly verification: string;
  readonly verified: boolean;
  readonly vericode: number;
  readonly is_vm_deverified: boolean;
  readonly hosting_type: number;
  readonly logo: null;
  readonly webpage: null;
  readonly error_description: null;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly gpu_frac: number;
  readonly gpu_ram: number;
  readonly gpu_total_ram: number;
  readonly gpu_arch: string;
  readonly gpu_ids: readonly number[];
  readonly gpu_lanes: number;
  readonly gpu_mem_bw: number;
  readonly gpu_max_power: number;
  readonly gpu_max_temp: number;
  readonly gpu_display_active: boolean;
  readonly compute_cap: number;
  readonly cuda_max_good: number;
  readonly driver_version: string;
  readonly driver_vers: number;
  readonly bw_nvlink: number;
  readonly dlperf: number;
  readonly total_flops: number;
  readonly vram_costperhour: number;
  readonly cpu_cores: number;
  readonly cpu_cores_effective: number;
  readonly cpu_ram: number;
  readonly cpu_ghz: number;
  readonly cpu_name: string;
  readonly cpu_arch: string;
  readonly has_avx: number;
  readonly mobo_name: string;
  readonly pci_gen: number;
  readonly pcie_bw: number;
  readonly os_version: string;
  readonly vms_enabled: boolean;
  readonly disk_space: number;
  readonly disk_bw: number;
  readonly disk_name: string;
  readonly inet_up: number;
  readonly inet_down: number;
  readonly inet_up_cost: number;
  readonly inet_down_cost: number;
  readonly internet_up_cost_per_tb: number;
  readonly internet_down_cost_per_tb: number;
  readonly direct_port_count: number;
  readonly static_ip: boolean;
  readonly private_registries: boolean;
  readonly geolocation: string;
  readonly geolocode: number;
  readonly avail_vol_ask_id: number | null;
  readonly avail_vol_size: number | null;
  readonly avail_vol_dph: number | null;
  readonly nw_disk_min_bw: number | null;
  readonly nw_disk_max_bw: number | null;
  readonly nw_disk_avg_bw: number | null;
  readonly dph_base: number;
  readonly dph_total: number;
  readonly dph_total_adj: number;
  readonly min_bid: number;
  readonly discount_rate: number;
  readonly discounted_hourly: number;
  readonly discounted_dph_total: number;
  readonly storage_cost: number;
  readonly storage_total_cost: number;
  readonly dlperf_per_dphtotal: number;
  readonly flops_per_dphtotal: number;
  readonly search: PriceBreakdown;
  readonly instance: PriceBreakdown;
  readonly credit_discount_max: number;
  readonly platform_fee: number;
  readonly reliability: number;
  readonly reliability2: number;
  readonly expected_reliability: number;
  readonly reliability_mult: number;
  readonly score: number;
  readonly start_date: number;
  readonly end_date: number;
  readonly duration: number;
  readonly time_remaining: string;
  readonly time_remaining_isbid: string;
};

export type OfferBidHistoryResponse = {
  readonly success: true;
  readonly ask_id: number;
  readonly num_gpus: number;
  readonly from: number;
  readonly to: number;
  readonly known_hours: number;
  readonly lowest_now: number | null;
  readonly at_price: BidOutcome | null;
  readonly ladder: readonly BidOutcome[];
  readonly points: readonly BidFloorPoint[];
};

export type OfferGpuNamesResponse = {
  readonly gpu_names: readonly string[];
};

export type OfferGpuTypesResponse = {
  readonly gpu_types: readonly GpuType[];
};

export type OfferQueryAsksResponse = {
  readonly offers: readonly Readonly<Record<string, unknown>>[];
  readonly matching: number;
};

export type OfferQueryResponse = {
  readonly offers: readonly Readonly<Record<string, unknown>>[];
  readonly matching: number;
};

export type OfferSearch = {
  readonly q?: string | Readonly<Record<string, unknown>>;
  readonly type?: string;
  readonly order?: readonly (readonly string[])[];
  readonly limit?: number;
  readonly allocated_storage?: number;
  readonly disable_bundling?: boolean;
  readonly target_reliability?: number;
  readonly [key: string]: unknown;
};

export type OfferSearchAsksRequest = {
  readonly select_cols?: readonly string[];
  readonly q?: OfferSearch;
  readonly [key: string]: unknown;
};

export type OfferSearchAsksResponse = {
  readonly offers: readonly Readonly<Record<string, unknown>>[];
  readonly matching: number;
};

export type OfferSuggestBidRequest = {
  readonly price?: number;
  readonly max_start?: number;
  readonly min_duration?: number;
  readonly [key: string]: unknown;
};

export type OfferUpdateBundleRequest = {
  readonly price?: number;
  readonly max_start?: number;
  readonly min_duration?: number;
  readonly [key: string]: unknown;
};

export type Offers = {
  readonly offers: readonly Offer[];
  readonly matching: number;
};

export type OutlookOffer = {
  readonly ask_id: number;
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly dph_total: number;
  readonly disk_space: number;
  readonly geolocation: string | null;
};

export type OutlookRefusal = {
  readonly field: string;
  readonly wanted: Readonly<Record<string, unknown>>;
  readonly offers: number;
  readonly alone: number;
  readonly msg: string;
};

export type Overlay = {
  readonly overlay_id: number;
  readonly name: string;
  readonly internal_subnet: string | null;
  readonly cluster_id: number;
  readonly instances: readonly number[];
};

export type OverlayCreateRequest = {
  readonly cluster_id: number;
  readonly name: string;
  readonly [key: string]: unknown;
};

export type OverlayDeleteRequest = {
  readonly overlay_id?: number;
  readonly overlay_name?: string;
  readonly [key: string]: unknown;
};

export type OverlayJoinRequest = {
  readonly name: string;
  readonly instance_id: number;
  readonly [key: string]: unknown;
};

export type Overview = {
  readonly success: true;
  readonly at: number;
  readonly gpus: readonly OverviewGpus[];
  readonly occupancy: number | null;
  readonly machines: OverviewMachines;
  readonly instances: Readonly<Record<string, number>>;
  readonly rents: OverviewRents;
  readonly money: OverviewMoney;
  readonly payouts: OverviewPayouts;
  readonly attention: OverviewAttention;
  readonly queue: OverviewQueue;
  readonly endpoints: OverviewEndpoints;
  readonly loops: OverviewLoops;
  readonly audit: OverviewAudit;
};

export type OverviewAttention = {
  readonly flag_count: number;
  readonly report_count: number;
  readonly freeze_count: number;
};

export type OverviewAudit = {
  readonly reconciled_at: number | null;
  readonly last_found: Readonly<Record<string, number>>;
  readonly alarm_count: number;
  readonly sealed_until: number | null;
};

export type OverviewEndpoints = {
  readonly active_count: number;
  readonly worker_count: number;
};

export type OverviewGpus = {
  readonly gpu_name: string;
  readonly total_count: number;
  readonly rented_count: number;
  readonly free_count: number;
  readonly broken_count: number;
  readonly offline_count: number;
  readonly unlisted_count: number;
};

export type OverviewLoops = {
  readonly total_count: number;
  readonly late: readonly string[];
};

export type OverviewMachines = {
  readonly total_count: number;
  readonly connected_count: number;
  readonly listed_count: number;
  readonly agents_here_count: number;
};

export type OverviewMoney = {
  readonly credit: number;
  readonly held: number;
  readonly deposits: number;
  readonly earnings: number;
  readonly debt: number;
  readonly fees: number;
  readonly movements: readonly OverviewMovement[];
};

export type OverviewMovement = {
  readonly code: string;
  readonly day_amount: number;
  readonly month_amount: number;
};

export type OverviewPayouts = {
  readonly waiting_count: number;
  readonly waiting_amount: number;
  readonly failed_count: number;
  readonly hold_count: number;
};

export type OverviewQueue = {
  readonly open_count: number;
  readonly oldest_at: number | null;
};

export type OverviewRefusal = {
  readonly code: string;
  readonly hour_count: number;
  readonly day_count: number;
};

export type OverviewRents = {
  readonly hour_count: number;
  readonly day_count: number;
  readonly refusals: readonly OverviewRefusal[];
  readonly refusals_since: number;
};

export type OwnCounts = {
  readonly total_instances: number;
  readonly total_volumes: number;
};

export type Passkey = {
  readonly id: number;
  readonly label: string;
  readonly is_synced: boolean;
  readonly transports: readonly string[];
  readonly created_at: number;
  readonly last_used: number | null;
};

export type PasskeyAlgorithm = {
  readonly type: "public-key";
  readonly alg: number;
};

export type PasskeyAnswer = {
  readonly success: true;
  readonly msg: string;
  readonly passkey: Passkey;
};

export type PasskeyAssertion = {
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle?: string;
};

export type PasskeyAttestation = {
  readonly clientDataJSON: string;
  readonly attestationObject: string;
  readonly transports?: readonly string[];
};

export type PasskeyCreateRequest = {
  readonly label?: string;
  readonly response: NewPasskey;
};

export type PasskeyCreation = {
  readonly success: true;
  readonly options: PasskeyCreationOptions;
};

export type PasskeyCreationOptions = {
  readonly rp: PasskeySite;
  readonly user: PasskeyUser;
  readonly challenge: string;
  readonly pubKeyCredParams: readonly PasskeyAlgorithm[];
  readonly timeout: number;
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: PasskeySelection;
  readonly attestation: "none";
};

export type PasskeyDescriptor = {
  readonly id: string;
  readonly type: "public-key";
  readonly transports?: readonly string[];
};

export type PasskeyListResponse = {
  readonly success: true;
  readonly passkeys: readonly Passkey[];
};

export type PasskeyProof = {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly authenticatorAttachment?: string;
  readonly response: PasskeyAssertion;
};

export type PasskeyRequest = {
  readonly success: true;
  readonly options: PasskeyRequestOptions;
};

export type PasskeyRequestOptions = {
  readonly challenge: string;
  readonly timeout: number;
  readonly rpId: string;
  readonly userVerification: "required" | "preferred" | "discouraged";
};

export type PasskeySelection = {
  readonly residentKey: "required";
  readonly requireResidentKey: boolean;
  readonly userVerification: "required" | "preferred" | "discouraged";
};

export type PasskeySignInRequest = {
  readonly response: PasskeyProof;
};

export type PasskeySite = {
  readonly id: string;
  readonly name: string;
};

export type PasskeyUpdateRequest = {
  readonly label: string;
};

export type PasskeyUser = {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
};

export type Payment = {
  readonly id: number;
  readonly kind: "checkout" | "autobill";
  readonly state: "pending" | "paid" | "failed" | "expired" | "mismatched";
  readonly amount: number;
  readonly failure: string | null;
  readonly created_at: number;
  readonly settled_at: number | null;
};

export type PaymentPage = {
  readonly success: true;
  readonly url: string;
  readonly payment_id: number;
};

export type Payout = {
  readonly id: number;
  readonly state: "pending" | "sending" | "paid" | "failed";
  readonly invoiced_at: number;
  readonly due_at: number;
  readonly earned: number;
  readonly fee_percent: number;
  readonly fee: number;
  readonly amount: number;
  readonly method: string | null;
  readonly reference: string | null;
  readonly failure: string | null;
  readonly returned: number;
  readonly settled_at: number | null;
};

export type PayoutHold = {
  readonly id: number;
  readonly kind: string;
  readonly reason: string;
  readonly placed_at: number;
};

export type PayoutMethod = {
  readonly success: true;
  readonly method: string | null;
  readonly shown: string | null;
  readonly updated_at: number | null;
};

export type PayoutTarget = {
  readonly method: string;
  readonly details: Readonly<Record<string, string>>;
};

export type PriceBand = {
  readonly gpu_count: number;
  readonly host_count: number;
  readonly p10: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
};

export type PriceBreakdown = {
  readonly gpuCostPerHour: number;
  readonly diskHour: number;
  readonly totalHour: number;
  readonly discountTotalHour: number;
  readonly discountedTotalPerHour: number;
};

export type PriceHint = {
  readonly success: true;
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly price_gpu: number;
  readonly asked: PriceBand | WithheldBand;
  readonly rented: PriceBand | WithheldBand;
};

export type PriceIncrease = {
  readonly pending_price_increase_id: number;
  readonly contract_id: number;
  readonly host_id: number;
  readonly old_gpu_costpersec: number;
  readonly new_gpu_costpersec: number | null;
  readonly old_disk_ram_costpersec: number;
  readonly new_disk_ram_costpersec: number | null;
  readonly old_bwu_cost: number;
  readonly new_bwu_cost: number | null;
  readonly old_bwd_cost: number;
  readonly new_bwd_cost: number | null;
  readonly old_platform_fee: number;
  readonly new_platform_fee: number | null;
  readonly contract_end_date: number;
  readonly ask_end_date: number;
  readonly created_at: number;
};

export type PriceIncreaseAnswer = {
  readonly success: true;
  readonly pending_price_increase_id: number;
  readonly contract_id: number;
};

export type PriceIncreaseChoice = {
  readonly pending_price_increase_id: number;
  readonly [key: string]: unknown;
};

export type PublicKey = {
  readonly id: number;
  readonly algorithm: "RSA-SHA256";
  readonly public_key: string;
};

export type PullProgress = {
  readonly done_bytes: number;
  readonly total_bytes: number;
  readonly bytes_per_second: number;
  readonly eta_seconds: number | null;
};

export type RateLimited = {
  readonly detail: string;
  readonly msg: string;
  readonly [key: string]: unknown;
};

export type Readiness = {
  readonly status: string;
  readonly warnings?: readonly string[];
};

export type Receipt = {
  readonly event: string;
  readonly amount: number;
  readonly amount_exact: string;
  readonly paid_at: number;
  readonly method: string;
  readonly payment_id: number | null;
  readonly transfer_id: string;
};

export type ReferralCount = {
  readonly day: number;
  readonly referral_count: number;
};

export type ReferralEarnings = {
  readonly day: number;
  readonly earn_referral: number;
};

export type RefusedOffer = {
  readonly success: false;
  readonly ask_id: number;
  readonly error: string;
  readonly msg: string;
};

export type RegeneratedKey = {
  readonly user_id: number;
  readonly email: string;
  readonly derived_key: string;
};

export type ReliabilityDay = {
  readonly day: number;
  readonly online_ms: number;
  readonly offline_ms: number;
  readonly offline_rented_ms: number;
  readonly maintenance_ms: number;
  readonly starts_succeeded: number;
  readonly starts_failed: number;
};

export type ReliabilityTerms = {
  readonly prior_ms: number;
  readonly online_ms: number;
  readonly offline_ms: number;
  readonly offline_rented_extra_ms: number;
  readonly failed_starts_ms: number;
};

export type RemovedTfaMethod = {
  readonly success: true;
  readonly msg: string;
  readonly remaining_methods: number;
};

export type RemovedWorkers = {
  readonly success: true;
  readonly deleted_workers: readonly number[];
  readonly failed_workers: readonly number[];
  readonly msg: string;
};

export type RentalForecast = {
  readonly success: true;
  readonly dry_run: true;
  readonly ask_id: number;
  readonly price: RentalForecastPrice;
  readonly traffic_limit: number;
  readonly traffic_limit_source: "budget" | "renter";
  readonly hold: number;
  readonly balance: number;
  readonly balance_lasts_hours: RentalForecastBalanceLastsHour;
  readonly caps: readonly ForecastCap[];
  readonly would_start: boolean;
  readonly reason: RentalForecastReason | null;
};

export type RentalForecastBalanceLastsHour = {
  readonly now: number | null;
  readonly after: number | null;
};

export type RentalForecastPrice = {
  readonly gpu_per_hour: number;
  readonly disk_per_hour: number;
  readonly volume_per_hour: number;
  readonly total_per_hour: number;
  readonly inet_up_per_gb: number;
  readonly inet_down_per_gb: number;
};

export type RentalForecastReason = {
  readonly error: string;
  readonly msg: string;
};

export type RoutePublicKeysResponse = {
  readonly success: true;
  readonly pubkeys: readonly PublicKey[];
};

export type RouteRequestRequest = {
  readonly endpoint?: string;
  readonly endpoint_id?: number;
  readonly cost: number;
  readonly latency?: number;
  readonly guid?: number;
  readonly api_key?: string;
  readonly request_idx?: number;
  readonly replay_timeout?: number;
};

export type RouteRequestResponse = {
  readonly endpoint: string;
  readonly url?: string;
  readonly cost: number;
  readonly reqnum?: number;
  readonly request_idx: number;
  readonly signature?: string;
  readonly expires_at?: number;
  readonly ticket?: string;
  readonly status?: string;
  readonly __request_id: string;
};

export type SavedSearch = {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly columns: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
};

export type SavedSearchListResponse = {
  readonly success: true;
  readonly saved_searches: readonly SavedSearch[];
};

export type SavedSearchSaveRequest = {
  readonly name: string;
  readonly query: string;
  readonly columns?: readonly string[];
};

export type SavedSearchSaveResponse = {
  readonly success: true;
  readonly saved_search: SavedSearch;
};

export type ScheduleCreateRequest = {
  readonly api_endpoint: string;
  readonly request_method: "GET" | "POST" | "PUT" | "DELETE";
  readonly request_body?: Readonly<Record<string, unknown>>;
  readonly frequency: "HOURLY" | "DAILY" | "WEEKLY" | "ONCE";
  readonly day_of_the_week?: number;
  readonly hour_of_the_day?: number;
  readonly min_of_the_hour?: number;
  readonly start_time?: number;
  readonly end_time?: number;
  readonly instance_id?: number;
  readonly api_key_id?: number;
  readonly [key: string]: unknown;
};

export type ScheduleCreateResponse = {
  readonly success: true;
  readonly scheduled_job_id: number;
  readonly msg: string;
};

export type ScheduleUpdateRequest = {
  readonly api_endpoint?: string;
  readonly request_method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly request_body?: Readonly<Record<string, unknown>>;
  readonly frequency?: "HOURLY" | "DAILY" | "WEEKLY" | "ONCE";
  readonly day_of_the_week?: number;
  readonly hour_of_the_day?: number;
  readonly min_of_the_hour?: number;
  readonly start_time?: number;
  readonly end_time?: number;
  readonly instance_id?: number;
  readonly api_key_id?: number;
  readonly [key: string]: unknown;
};

export type ScheduleUpdateResponse = {
  readonly success: true;
  readonly scheduled_job_id: number;
  readonly msg: string;
};

export type ScheduledJob = {
  readonly id: number;
  readonly instance_id: number | null;
  readonly api_endpoint: string;
  readonly request_method: string;
  readonly request_body?: Readonly<Record<string, unknown>>;
  readonly start_time: number;
  readonly end_time: number;
  readonly day_of_the_week: number | null;
  readonly hour_of_the_day: number | null;
  readonly min_of_the_hour: number | null;
  readonly frequency: string;
  readonly status: "active" | "ended" | "stopped";
  readonly stop_reason: string | null;
  readonly next_time: number | null;
  readonly api_key_id: number;
  readonly created_at: number;
  readonly last_run: ScheduledRun | null;
};

export type ScheduledRun = {
  readonly due_time: number;
  readonly last_due_time: number;
  readonly occurrences: number;
  readonly outcome: "running" | "done" | "failed" | "unknown" | "missed";
  readonly api_key_id: number;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly msg: string | null;
  readonly start_time: number | null;
  readonly end_time: number | null;
};

export type SearchHit = {
  readonly kind: "person" | "team" | "machine" | "instance" | "volume" | "document" | "payout";
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly user_id: number;
};

export type SecretDeleteRequest = {
  readonly key?: string;
};

export type SecretListResponse = {
  readonly success: true;
  readonly secrets: Readonly<Record<string, string>>;
};

export type SentCode = {
  readonly success: true;
  readonly msg: string;
  readonly secret: string;
};

export type ServicePause = {
  readonly id: number;
  readonly message: string;
  readonly from: number;
  readonly until: number;
  readonly ended_at: number | null;
  readonly started_by: number;
};

export type Session = {
  readonly id: number;
  readonly key_type: "session";
  readonly last_ipaddr: string;
  readonly location: string;
  readonly browser: string | null;
  readonly system: string | null;
  readonly last_used_at: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly deleted_at: null;
  readonly has_tfa: boolean;
  readonly is_current: boolean;
};

export type SessionCreateRequest = {
  readonly username?: string;
  readonly email?: string;
  readonly password?: string;
  readonly captcha?: string;
  readonly team_id?: number;
};

export type SessionDeleteRequest = {
  readonly all?: boolean;
  readonly key_id?: number;
};

export type SessionEndResponse = {
  readonly success: true;
  readonly sid: string;
};

export type SessionListResponse = {
  readonly success: true;
  readonly sessions: readonly Session[];
};

export type Setting = {
  readonly name: string;
  readonly meaning: string;
  readonly value: string | null;
  readonly set_by: "environment" | "default";
  readonly by_default: string;
  readonly option: string | null;
  readonly is_secret: boolean;
  readonly is_shared: boolean;
};

export type ShownStandingRequest = {
  readonly id: number;
  readonly status: "open" | "claimed" | "cancelled" | "expired" | "failed";
  readonly reason: string;
  readonly position: number | null;
  readonly q: Readonly<Record<string, unknown>>;
  readonly max_dph: number | null;
  readonly price: number | null;
  readonly image: string;
  readonly template_hash_id: string | null;
  readonly disk: number;
  readonly label: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly attempted_at: number | null;
  readonly closed_at: number | null;
  readonly instance_id: number | null;
  readonly offers_matching: number;
  readonly offers_at_any_price: number;
  readonly cheapest_dph: number | null;
};

export type ShownTemplate = {
  readonly success: true;
  readonly msg: string;
  readonly template: Template;
};

export type SignIn = {
  readonly id?: number;
  readonly email?: string;
  readonly username?: string;
  readonly user?: string;
  readonly fullname?: string;
  readonly balance?: number;
  readonly credit?: number;
  readonly balance_threshold?: number;
  readonly balance_threshold_enabled?: boolean;
  readonly traffic_limit?: number | null;
  readonly email_verified?: boolean;
  readonly has_billing?: boolean;
  readonly has_payout?: boolean;
  readonly can_pay?: boolean;
  readonly billing_creditonly?: boolean;
  readonly billed_expected?: number;
  readonly billed_verified?: number;
  readonly paid_expected?: number;
  readonly paid_verified?: number;
  readonly got_signup_credit?: boolean;
  readonly last4?: string;
  readonly paypal_email?: string;
  readonly wise_email?: string;
  readonly huggingface_cloud_sync_enabled?: boolean;
  readonly password_resettable?: boolean;
  readonly ssh_key?: string;
  readonly sid?: string;
  readonly tfa_status?: "enabled" | "disabled";
  readonly billaddress_line1?: string;
  readonly billaddress_line2?: string;
  readonly billaddress_city?: string;
  readonly billaddress_zip?: string;
  readonly billaddress_country?: string;
  readonly taxinfo?: string;
  readonly parent_id?: number | null;
  readonly host_only?: boolean;
  readonly host_agreement_accepted?: boolean;
  readonly is_admin?: boolean;
  readonly key_id?: number;
  readonly created_at?: number;
  readonly view?: AccountView | null;
  readonly freeze?: AccountFreeze | null;
  readonly success: true;
  readonly api_key?: string;
  readonly session_key?: string;
  readonly session_expires_at?: number;
  readonly msg?: "2fa_required";
  readonly secret?: string;
  readonly methods?: readonly TfaMethod[];
  readonly num_backup_codes?: number;
  readonly backup_codes_remaining?: number;
};

export type SignInLink = {
  readonly success: true;
  readonly user_id: number;
  readonly token: string;
  readonly path: string;
  readonly expires_at: number;
};

export type SignUpInvitation = {
  readonly id: number;
  readonly email: string | null;
  readonly user_id: number | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly used_at: number | null;
};

export type SimulatedFigures = {
  readonly requests: number;
  readonly unserved: number;
  readonly late_share: number;
  readonly wait_p50: number | null;
  readonly wait_p95: number | null;
  readonly wait_p99: number | null;
  readonly hot_hours: number;
  readonly cold_hours: number;
  readonly cost: number;
  readonly cost_per_1000_requests: number | null;
  readonly workers_max: number;
  readonly starts: number;
  readonly stops: number;
  readonly flaps: number;
};

export type SpendSeries = {
  readonly id: string;
  readonly name: string;
  readonly total: number;
  readonly amounts: readonly number[];
};

export type SshKey = {
  readonly id: number;
  readonly user_id: number;
  readonly key: string;
  readonly public_key: string;
  readonly ssh_key: string;
  readonly created_at: number;
  readonly deleted_at: null;
};

export type SshPublicKey = {
  readonly ssh_key?: string;
};

export type SsoProblem = {
  readonly code: string;
  readonly msg: string;
};

export type SsoProblemsResponse = {
  readonly success: true;
  readonly problems: readonly SsoProblem[];
};

export type SsoProvider = {
  readonly id: string;
  readonly name: string;
};

export type StandingRequest = {
  readonly id: number;
  readonly status: "open" | "claimed" | "cancelled" | "expired" | "failed";
  readonly reason: string;
  readonly position: number | null;
  readonly q: Readonly<Record<string, unknown>>;
  readonly max_dph: number | null;
  readonly price: number | null;
  readonly image: string;
  readonly template_hash_id: string | null;
  readonly disk: number;
  readonly label: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly attempted_at: number | null;
  readonly closed_at: number | null;
  readonly instance_id: number | null;
};

export type StandingRequestCreateRequest = {
  readonly template_hash_id?: string;
  readonly image?: string;
  readonly env?: string | Readonly<Record<string, unknown>>;
  readonly volume_info?: VolumeMount;
  readonly price?: number;
  readonly max_dph?: number;
  readonly target_state?: "running" | "stopped";
  readonly cancel_unavail?: boolean;
  readonly disk?: number | string;
  readonly label?: string;
  readonly runtype?: string;
  readonly onstart?: string;
  readonly traffic_limit?: number | string | null;
  readonly args?: string | readonly string[];
  readonly args_str?: string;
  readonly image_login?: string;
  readonly user?: string;
  readonly use_jupyter_lab?: boolean;
  readonly jupyter_dir?: string;
  readonly python_utf8?: boolean;
  readonly lang_utf8?: boolean;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly vm?: boolean;
  readonly force?: boolean;
  readonly extra?: string;
  readonly create_from?: string;
  readonly q?: string | Readonly<Record<string, unknown>>;
  readonly expires_in_hours?: number;
  readonly [key: string]: unknown;
};

export type StandingRequestCreateResponse = {
  readonly success: true;
  readonly id: number;
  readonly position: number;
  readonly expires_at: number;
};

export type StandingRequestListResponse = {
  readonly success: true;
  readonly standing_requests: readonly StandingRequest[];
};

export type StandingRequestShowResponse = {
  readonly success: true;
  readonly standing_request: ShownStandingRequest;
};

export type Statement = {
  readonly lines: readonly StatementLine[];
  readonly earned: number;
  readonly earned_exact: string;
  readonly fee: StatementFee | null;
  readonly self_billing: StatementSelfBilling | null;
  readonly movements: readonly StatementMovement[];
  readonly opening: number;
  readonly opening_exact: string;
  readonly rounding: number;
  readonly closing: number;
  readonly closing_exact: string;
  readonly waiting: StatementWaiting;
};

export type StatementFee = {
  readonly net: number;
  readonly tax: DocumentTax;
  readonly total: number;
  readonly total_exact: string;
};

export type StatementLine = {
  readonly machine_id: number | null;
  readonly type: string;
  readonly description: string;
  readonly amount: number;
  readonly amount_exact: string;
};

export type StatementMovement = {
  readonly type: string;
  readonly label: string;
  readonly amount: number;
  readonly amount_exact: string;
};

export type StatementSelfBilling = {
  readonly net: number;
  readonly tax: DocumentTax;
  readonly total: number;
};

export type StatementWaiting = {
  readonly as_of: number;
  readonly payable_exact: string;
  readonly granted_exact: string;
  readonly young_exact: string;
  readonly held_exact: string;
  readonly debt_exact: string;
};

export type StatusMessage = {
  readonly status: "success";
  readonly message: string;
};

export type StoredSshKey = {
  readonly success: true;
  readonly key: SshKey;
};

export type StoredTemplate = {
  readonly id?: number | string;
  readonly hash_id?: string;
  readonly name?: string;
  readonly image?: string;
  readonly tag?: string;
  readonly desc?: string;
  readonly readme?: string;
  readonly readme_visible?: boolean;
  readonly env?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly args_str?: string;
  readonly ssh_direct?: boolean;
  readonly use_ssh?: boolean;
  readonly jup_direct?: boolean;
  readonly jupyter_dir?: string;
  readonly use_jupyter_lab?: boolean;
  readonly docker_login_repo?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly href?: string;
  readonly repo?: string;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly recommended_disk_space?: number | string;
  readonly private?: boolean;
  readonly volume_info?: unknown;
  readonly traffic_limit?: number;
  readonly [key: string]: unknown;
};

export type Subaccount = {
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly user: string;
  readonly fullname: string;
  readonly balance: number;
  readonly credit: number;
  readonly balance_threshold: number;
  readonly balance_threshold_enabled: boolean;
  readonly traffic_limit: number | null;
  readonly email_verified: boolean;
  readonly has_billing: boolean;
  readonly has_payout: boolean;
  readonly can_pay: boolean;
  readonly billing_creditonly: boolean;
  readonly billed_expected: number;
  readonly billed_verified: number;
  readonly paid_expected: number;
  readonly paid_verified: number;
  readonly got_signup_credit: boolean;
  readonly last4: string;
  readonly paypal_email: string;
  readonly wise_email: string;
  readonly huggingface_cloud_sync_enabled: boolean;
  readonly password_resettable: boolean;
  readonly ssh_key: string;
  readonly sid: string;
  readonly tfa_status: "enabled" | "disabled";
  readonly billaddress_line1: string;
  readonly billaddress_line2: string;
  readonly billaddress_city: string;
  readonly billaddress_zip: string;
  readonly billaddress_country: string;
  readonly taxinfo: string;
  readonly parent_id: number | null;
  readonly host_only: boolean;
  readonly host_agreement_accepted: boolean;
  readonly key_id: number | null;
  readonly api_key: string;
  readonly created_at: string;
  readonly deleted_at: string | null;
};

export type SubaccountListResponse = {
  readonly users: readonly Subaccount[];
};

export type SubaccountRegenerateKeysRequest = {
  readonly subaccount_user_id?: number;
  readonly regenerate_all?: boolean;
};

export type SubaccountRegenerateKeysResponse = {
  readonly success: true;
  readonly regenerated_keys: readonly RegeneratedKey[];
};

export type Success = {
  readonly success: true;
};

export type Team = {
  readonly id: number;
  readonly team_name: string;
  readonly role: string;
  readonly is_owner: boolean;
};

export type TeamAcceptInviteResponse = {
  readonly success: true;
  readonly msg: string;
  readonly team_id: number;
  readonly team_name: string;
  readonly role: string;
  readonly key_id: number;
  readonly key: string;
};

export type TeamApikeysResponse = {
  readonly success: boolean;
  readonly msg?: string;
  readonly keys_found: number;
  readonly keys: Readonly<Record<string, readonly TeamKey[]>>;
  readonly apikeys: readonly ApiKey[];
};

export type TeamBalance = {
  readonly team_id: number;
  readonly team_name: string;
  readonly balance: number;
  readonly credit: number;
};

export type TeamBalancesResponse = {
  readonly success: true;
  readonly msg: string;
  readonly balances: readonly TeamBalance[];
};

export type TeamCreateRequest = {
  readonly team_name?: string;
  readonly transfer_credit?: number;
};

export type TeamCreateResponse = {
  readonly success: true;
  readonly msg: string;
  readonly id: number;
  readonly team_name: string;
  readonly key_id: number;
  readonly key: string;
};

export type TeamCreateRoleRequest = {
  readonly name?: string;
  readonly permissions?: unknown;
};

export type TeamCreateRoleResponse = {
  readonly msg: "success";
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
};

export type TeamDeleteResponse = {
  readonly success: true;
  readonly msg: string;
  readonly pkey_id: number | null;
};

export type TeamDeleteRoleRequest = {
  readonly role_id?: number;
};

export type TeamInviteRequest = {
  readonly email?: string;
  readonly role?: string;
};

export type TeamInviteResponse = {
  readonly success: true;
  readonly msg: string;
  readonly token: string;
  readonly expires_at: number;
};

export type TeamKey = {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly key: string;
  readonly key_type: "api";
  readonly created_at: number;
  readonly role_name: string;
};

export type TeamListResponse = {
  readonly teams: readonly Team[];
};

export type TeamMember = {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly fullname: string;
  readonly roles: readonly string[];
  readonly role: string;
};

export type TeamRole = {
  readonly id: number;
  readonly name: string;
  readonly identifier: string | null;
  readonly permissions: Readonly<Record<string, unknown>>;
};

export type TeamSession = {
  readonly id: number;
  readonly key_type: "session";
  readonly last_ipaddr: string;
  readonly location: string;
  readonly browser: string | null;
  readonly system: string | null;
  readonly last_used_at: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly user_id: number;
  readonly username: string;
  readonly role_name: string;
};

export type TeamSessionsResponse = {
  readonly success: boolean;
  readonly msg?: string;
  readonly sessions_found: number;
  readonly sessions: readonly TeamSession[];
};

export type TeamSetMemberRoleRequest = {
  readonly role?: string;
  readonly role_id?: number;
};

export type TeamTransferRequest = {
  readonly new_team_owner_id?: number;
  readonly user_id?: number;
  readonly email?: string;
};

export type TeamUpdateRequest = {
  readonly team_name?: string;
};

export type TeamUpdateResponse = {
  readonly success: true;
  readonly msg: string;
  readonly id: number;
  readonly team_name: string;
};

export type TeamUpdateRoleRequest = {
  readonly name?: string;
  readonly permissions?: unknown;
};

export type Template = {
  readonly id: number;
  readonly hash_id: string;
  readonly name: string;
  readonly image?: string;
  readonly tag?: string;
  readonly default_tag?: string;
  readonly desc?: string;
  readonly readme?: string;
  readonly readme_visible?: boolean;
  readonly env?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly args_str?: string;
  readonly ssh_direct?: boolean;
  readonly use_ssh?: boolean;
  readonly jup_direct?: boolean;
  readonly jupyter_dir?: string | null;
  readonly use_jupyter_lab?: boolean;
  readonly docker_login_repo?: string;
  readonly docker_login_user?: string;
  readonly href?: string;
  readonly repo?: string;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly recommended_disk_space?: number;
  readonly private?: boolean;
  readonly recommended?: boolean;
  readonly shipped?: boolean;
  readonly volume_info?: unknown;
  readonly traffic_limit?: number | string | null;
  readonly creator_id?: number;
  readonly created_at?: number;
  readonly count_created?: number;
  readonly recent_create_date?: number | null;
  readonly user_template_id?: number;
  readonly last_used_at?: number;
};

export type TemplateAddRequest = {
  readonly template_id: number | string;
  readonly [key: string]: unknown;
};

export type TemplateChange = {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
};

export type TemplateCheckLoginRequest = {
  readonly server?: string;
  readonly username?: string;
  readonly token?: string;
  readonly [key: string]: unknown;
};

export type TemplateCheckLoginResponse = {
  readonly success: true;
  readonly authenticated: boolean;
  readonly repositories: readonly string[];
};

export type TemplateChoicesResponse = {
  readonly success: true;
  readonly templates: readonly Template[];
  readonly referral_templates: readonly Template[];
  readonly popular: readonly Template[];
  readonly recommended: readonly Template[];
  readonly autoscaler: readonly Template[];
};

export type TemplateCreateRequest = {
  readonly name: string;
  readonly image: string;
  readonly tag?: string;
  readonly desc?: string;
  readonly readme?: string;
  readonly readme_visible?: boolean;
  readonly env?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly args_str?: string;
  readonly ssh_direct?: boolean;
  readonly use_ssh?: boolean;
  readonly jup_direct?: boolean;
  readonly jupyter_dir?: string;
  readonly use_jupyter_lab?: boolean;
  readonly docker_login_repo?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly href?: string;
  readonly repo?: string;
  readonly extra_filters?: unknown;
  readonly recommended_disk_space?: number | string;
  readonly private?: boolean;
  readonly volume_info?: unknown;
  readonly traffic_limit?: number;
};

export type TemplateDeleteRequest = {
  readonly template_id?: number | string;
  readonly hash_id?: string;
};

export type TemplateDockerTagsResponse = {
  readonly success: boolean;
  readonly tags: readonly string[];
  readonly error?: string;
  readonly msg?: string;
};

export type TemplateEditRequest = {
  readonly hash_id: string;
  readonly restore_hash_id?: string;
  readonly name?: string;
  readonly image?: string;
  readonly tag?: string;
  readonly desc?: string;
  readonly readme?: string;
  readonly readme_visible?: boolean;
  readonly env?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly args_str?: string;
  readonly ssh_direct?: boolean;
  readonly use_ssh?: boolean;
  readonly jup_direct?: boolean;
  readonly jupyter_dir?: string;
  readonly use_jupyter_lab?: boolean;
  readonly docker_login_repo?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly href?: string;
  readonly repo?: string;
  readonly extra_filters?: Readonly<Record<string, unknown>>;
  readonly recommended_disk_space?: number | string;
  readonly private?: boolean;
  readonly volume_info?: unknown;
  readonly traffic_limit?: number;
};

export type TemplateEditResponse = {
  readonly success: true;
  readonly msg: string;
  readonly template: Template;
  readonly hash_id: string;
};

export type TemplateFetchTagsRequest = {
  readonly image?: string;
  readonly server?: string;
  readonly username?: string;
  readonly token?: string;
  readonly [key: string]: unknown;
};

export type TemplateFetchTagsResponse = {
  readonly success: boolean;
  readonly tags: readonly string[];
  readonly error?: string;
  readonly msg?: string;
};

export type TemplateForWorkersResponse = {
  readonly success: true;
  readonly autoscaler: readonly Template[];
  readonly recommended: readonly Template[];
};

export type TemplateLibraryResponse = {
  readonly success: true;
  readonly templates: readonly Template[];
};

export type TemplateOutlookResponse = {
  readonly success: true;
  readonly template_id: number;
  readonly hash_id: string;
  readonly disk: number;
  readonly would_start: boolean;
  readonly offers: number;
  readonly matching: number;
  readonly cheapest: readonly OutlookOffer[];
  readonly refused: readonly OutlookRefusal[];
};

export type TemplatePageResponse = {
  readonly success: boolean;
  readonly msg?: string;
  readonly templates_found: number;
  readonly templates: readonly Template[];
  readonly next_token: string | null;
};

export type TemplateParamsResponse = {
  readonly success: true;
  readonly limits: Readonly<Record<string, number>>;
};

export type TemplateRecentResponse = {
  readonly success: true;
  readonly templates_found: number;
  readonly templates: readonly Template[];
  readonly page_size: number;
  readonly last_page_template_id: number | null;
  readonly last_page_last_used_at: number | null;
};

export type TemplateRemoveRequest = {
  readonly template_id: number | string;
  readonly [key: string]: unknown;
};

export type TemplateSearchResponse = {
  readonly success: true;
  readonly templates_found: number;
  readonly templates: readonly Template[];
};

export type TemplateStoreRequest = {
  readonly templates: readonly StoredTemplate[];
  readonly is_an_edit?: boolean;
  readonly referral_template_id?: number;
  readonly [key: string]: unknown;
};

export type TemplateStoreResponse = {
  readonly success: true;
  readonly templates: readonly Template[];
};

export type TemplateVersion = {
  readonly hash_id: string;
  readonly made_at: number;
  readonly is_current: boolean;
  readonly is_readable: boolean;
  readonly changes: readonly TemplateChange[];
};

export type TemplateVersionsResponse = {
  readonly success: true;
  readonly template_id: number;
  readonly versions: readonly TemplateVersion[];
  readonly next_token: string | null;
};

export type TfaAuthorization = {
  readonly success: true;
  readonly msg: string;
  readonly secret?: string;
};

export type TfaAuthorizeRequest = {
  readonly tfa_method?: "totp" | "sms" | "email";
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
  readonly password?: string;
};

export type TfaConfirmNewRequest = {
  readonly tfa_method?: "totp" | "sms";
  readonly code?: string;
  readonly secret?: string;
  readonly phone_number?: string;
  readonly label?: string;
};

export type TfaDeleteRequest = {
  readonly tfa_method?: "totp" | "sms" | "email";
  readonly code?: string;
  readonly secret?: string;
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
  readonly target_id?: number;
  readonly delete_legacy?: boolean;
};

export type TfaFinishAuthorizationRequest = {
  readonly code?: string;
  readonly secret?: string;
};

export type TfaLoginRequest = {
  readonly tfa_method?: "totp" | "sms" | "email";
  readonly code?: string;
  readonly secret?: string;
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
  readonly admin?: boolean;
};

export type TfaMethod = {
  readonly id: number;
  readonly user_id: number;
  readonly method: "totp" | "sms";
  readonly label: string;
  readonly phone_number: string | null;
  readonly is_primary: boolean;
  readonly fail_count: number;
  readonly locked_until: number | null;
  readonly created_at: number;
  readonly last_used: number | null;
};

export type TfaRegenBackupCodesRequest = {
  readonly tfa_method?: "totp" | "sms" | "email";
  readonly code?: string;
  readonly secret?: string;
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
};

export type TfaResendSmsRequest = {
  readonly phone_number?: string;
  readonly tfa_method_id?: number;
  readonly secret?: string;
};

export type TfaSendMailRequest = {
  readonly secret?: string;
};

export type TfaSendSmsRequest = {
  readonly phone_number?: string;
  readonly tfa_method_id?: number;
  readonly secret?: string;
};

export type TfaStatus = {
  readonly success: true;
  readonly tfa_enabled: boolean;
  readonly methods: readonly TfaMethod[];
  readonly backup_codes_remaining: number;
  readonly new_method_authorized: boolean;
};

export type TfaUpdateRequest = {
  readonly tfa_method_id?: number;
  readonly tfa_method?: "totp" | "sms";
  readonly label?: string;
  readonly is_primary?: boolean;
};

export type TotpSetup = {
  readonly success: true;
  readonly secret: string;
  readonly provisioning_uri: string;
};

export type UpdatedTfaMethod = {
  readonly success: true;
  readonly msg: string;
  readonly method: TfaMethod;
};

export type UserChangePasswordRequest = {
  readonly new_password: string;
  readonly password?: string;
  readonly code?: string;
  readonly backup_code?: string;
};

export type UserConfirmEmailRequest = {
  readonly token: string;
};

export type UserCreateRequest = {
  readonly email?: string;
  readonly username?: string;
  readonly password?: string;
  readonly host_only?: boolean;
  readonly parent_id?: string | number;
  readonly ssh_key?: string;
  readonly captcha?: string;
};

export type UserCreateResponse = {
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly user: string;
  readonly fullname: string;
  readonly balance: number;
  readonly credit: number;
  readonly balance_threshold: number;
  readonly balance_threshold_enabled: boolean;
  readonly traffic_limit: number | null;
  readonly email_verified: boolean;
  readonly has_billing: boolean;
  readonly has_payout: boolean;
  readonly can_pay: boolean;
  readonly billing_creditonly: boolean;
  readonly billed_expected: number;
  readonly billed_verified: number;
  readonly paid_expected: number;
  readonly paid_verified: number;
  readonly got_signup_credit: boolean;
  readonly last4: string;
  readonly paypal_email: string;
  readonly wise_email: string;
  readonly huggingface_cloud_sync_enabled: boolean;
  readonly password_resettable: boolean;
  readonly ssh_key: string;
  readonly sid: string;
  readonly tfa_status: "enabled" | "disabled";
  readonly billaddress_line1: string;
  readonly billaddress_line2: string;
  readonly billaddress_city: string;
  readonly billaddress_zip: string;
  readonly billaddress_country: string;
  readonly taxinfo: string;
  readonly parent_id: number | null;
  readonly host_only: boolean;
  readonly host_agreement_accepted: boolean;
  readonly is_admin: boolean;
  readonly key_id: number;
  readonly created_at: number;
  readonly view: AccountView | null;
  readonly freeze: AccountFreeze | null;
  readonly api_key: string;
};

export type UserIpaddrsResponse = {
  readonly success: true;
  readonly results: readonly IpAddressUse[];
};

export type UserSettingsResponse = {
  readonly o: string | null;
};

export type UserSpendRateResponse = {
  readonly success: true;
  readonly gpu_cost_per_hour: number;
  readonly container_storage_cost_per_hour: number;
  readonly volume_storage_cost_per_hour: number;
  readonly has_active_resources: boolean;
};

export type UserUpdateRequest = {
  readonly normalized_email?: string;
  readonly username?: string;
  readonly fullname?: string;
  readonly ssh_key?: string;
  readonly billaddress_line1?: string;
  readonly billaddress_line2?: string;
  readonly billaddress_city?: string;
  readonly billaddress_zip?: string;
  readonly billaddress_country?: string;
  readonly taxinfo?: string;
  readonly billaddress_taxinfo?: string;
  readonly balance_threshold?: number | string;
  readonly balance_threshold_enabled?: boolean | string;
  readonly traffic_limit?: number | null;
};

export type UserUpdateResponse = {
  readonly success: true;
  readonly msg: string;
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly user: string;
  readonly fullname: string;
  readonly balance: number;
  readonly credit: number;
  readonly balance_threshold: number;
  readonly balance_threshold_enabled: boolean;
  readonly traffic_limit: number | null;
  readonly email_verified: boolean;
  readonly has_billing: boolean;
  readonly has_payout: boolean;
  readonly can_pay: boolean;
  readonly billing_creditonly: boolean;
  readonly billed_expected: number;
  readonly billed_verified: number;
  readonly paid_expected: number;
  readonly paid_verified: number;
  readonly got_signup_credit: boolean;
  readonly last4: string;
  readonly paypal_email: string;
  readonly wise_email: string;
  readonly huggingface_cloud_sync_enabled: boolean;
  readonly password_resettable: boolean;
  readonly ssh_key: string;
  readonly sid: string;
  readonly tfa_status: "enabled" | "disabled";
  readonly billaddress_line1: string;
  readonly billaddress_line2: string;
  readonly billaddress_city: string;
  readonly billaddress_zip: string;
  readonly billaddress_country: string;
  readonly taxinfo: string;
  readonly parent_id: number | null;
  readonly host_only: boolean;
  readonly host_agreement_accepted: boolean;
  readonly is_admin: boolean;
  readonly key_id: number;
  readonly created_at: number;
  readonly view: AccountView | null;
  readonly freeze: AccountFreeze | null;
};

export type VerificationCheck = {
  readonly name: string;
  readonly value: number | boolean;
  readonly needed: number | boolean;
  readonly passed: boolean;
  readonly msg: string;
};

export type Volume = {
  readonly id: number;
  readonly machine_id: number | null;
  readonly host_id: number;
  readonly cluster_id: number | null;
  readonly disk_name: string;
  readonly storage_total_cost: number;
  readonly inet_up: number;
  readonly inet_down: number;
  readonly reliability2: number;
  readonly verification: string;
  readonly geolocation: string | null;
  readonly static_ip: boolean;
  readonly cuda_max_good: number;
  readonly cpu_arch: string;
  readonly cpu_name: string;
  readonly mobo_name: string;
  readonly os_version: string;
  readonly driver_version: string;
  readonly is_simulated: boolean;
  readonly label: string;
  readonly disk_space: number;
  readonly status: string;
  readonly start_date: number;
  readonly end_date: number;
  readonly deletes_at: number | null;
  readonly storage_cost: number;
  readonly instances: readonly number[];
  readonly used_space: number;
  readonly status_msg: string;
  readonly public_ipaddr: string;
  readonly allowed_actions: VolumeActions;
};

export type VolumeActions = {
  readonly delete: AllowedAction;
  readonly clone: AllowedAction;
};

export type VolumeCopyRequest = {
  readonly src_id: number;
  readonly dst_id: number;
  readonly size?: number;
  readonly disable_compression?: boolean;
};

export type VolumeCopyResponse = {
  readonly success: true;
  readonly msg: string;
  readonly id: number;
  readonly volume_name: string;
};

export type VolumeDeleteRequest = {
  readonly id?: number;
};

export type VolumeHostListRequest = {
  readonly machine?: number | readonly number[];
  readonly machines?: readonly number[];
  readonly hidden_listing?: boolean;
  readonly size?: number;
  readonly price_disk?: number;
  readonly end_date?: number;
};

export type VolumeHostListResponse = {
  readonly success: true;
  readonly msg: string;
  readonly you_sent: Readonly<Record<string, unknown>>;
  readonly results: readonly ListedSpace[];
};

export type VolumeListResponse = {
  readonly volumes: readonly Volume[];
};

export type VolumeMount = {
  readonly create_new?: boolean;
  readonly volume_id: number;
  readonly size?: number;
  readonly mount_path?: string;
  readonly name?: string;
};

export type VolumeOffer = {
  readonly id: number;
  readonly ask_contract_id: number;
  readonly bundle_id: number;
  readonly machine_id: number | null;
  readonly host_id: number;
  readonly cluster_id: number | null;
  readonly disk_name: string;
  readonly storage_total_cost: number;
  readonly inet_up: number;
  readonly inet_down: number;
  readonly reliability2: number;
  readonly verification: string;
  readonly geolocation: string | null;
  readonly static_ip: boolean;
  readonly cuda_max_good: number;
  readonly cpu_arch: string;
  readonly cpu_name: string;
  readonly mobo_name: string;
  readonly os_version: string;
  readonly driver_version: string;
  readonly is_simulated: boolean;
  readonly disk_space: number;
  readonly disk_bw: number;
  readonly storage_cost: number;
  readonly credit_discount_max: number;
  readonly reliability: number;
  readonly reliability_mult: number;
  readonly duration: number;
  readonly start_date: number;
  readonly end_date: number;
  readonly vericode: number;
  readonly hosting_type: number;
  readonly external: boolean;
  readonly geolocode: number | null;
  readonly cpu_ghz: number;
  readonly has_avx: number;
  readonly pci_gen: number;
  readonly pcie_bw: number;
  readonly driver_vers: number;
  readonly gpu_arch: string;
  readonly total_flops: number;
  readonly vms_enabled: boolean;
  readonly nw_disk_min_bw: number | null;
  readonly nw_disk_max_bw: number | null;
  readonly nw_disk_avg_bw: number | null;
  readonly score: number;
};

export type VolumeOffers = {
  readonly offers: readonly VolumeOffer[];
};

export type VolumeRental = {
  readonly id: number;
  readonly size?: number;
  readonly name?: string;
};

export type VolumeSearch = {
  readonly q?: unknown;
  readonly order?: unknown;
  readonly limit?: number;
  readonly disable_bundling?: unknown;
  readonly allocated_storage?: number;
  readonly [key: string]: unknown;
};

export type VolumeUnlistRequest = {
  readonly id: number;
};

export type WaitingInstance = {
  readonly reason: "outbid" | "devices" | "slice" | "host";
  readonly ahead: number;
  readonly winning_bid: number | null;
  readonly bid_to_run_now: number | null;
  readonly resumes_no_earlier_than: number | null;
};

export type Webhook = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string | null;
  readonly webhook_url: string;
  readonly event_types: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
};

export type WebhookCreateRequest = {
  readonly webhook_url: string;
  readonly event_types: readonly string[];
  readonly name?: string | null;
};

export type WebhookCreateResponse = {
  readonly success: true;
  readonly webhook: WebhookWithSecret;
  readonly enabled_notification_preferences: readonly string[];
};

export type WebhookDeliveriesResponse = {
  readonly success: true;
  readonly deliveries: readonly WebhookDelivery[];
};

export type WebhookDelivery = {
  readonly event_id: string;
  readonly type: string;
  readonly subject: string;
  readonly state: "due" | "delivered" | "failed";
  readonly attempt_count: number;
  readonly outcome: string;
  readonly created_at: number;
  readonly next_attempt_at: number | null;
  readonly ended_at: number | null;
};

export type WebhookListResponse = {
  readonly success: true;
  readonly webhooks: readonly Webhook[];
};

export type WebhookRotateSecretResponse = {
  readonly success: true;
  readonly webhook: WebhookWithSecret;
};

export type WebhookTestResponse = {
  readonly success: boolean;
  readonly msg: string;
  readonly webhook_id: number;
  readonly event_id: string;
};

export type WebhookUpdateRequest = {
  readonly webhook_url?: string;
  readonly event_types?: readonly string[];
  readonly name?: string | null;
};

export type WebhookUpdateResponse = {
  readonly success: true;
  readonly webhook: Webhook;
  readonly enabled_notification_preferences: readonly string[];
};

export type WebhookWithSecret = {
  readonly id: number;
  readonly user_id: number;
  readonly name: string | null;
  readonly webhook_url: string;
  readonly event_types: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly webhook_secret: string;
};

export type WithheldBand = {
  readonly gpu_count: number;
  readonly host_count: number;
  readonly withheld: true;
};

export type Worker = {
  readonly id: number;
  readonly status: string;
  readonly created_at: number;
  readonly cur_load?: number;
  readonly reqs_working?: number;
  readonly perf?: number;
  readonly measured_perf?: number;
  readonly cur_perf?: number;
  readonly dlperf?: number;
  readonly reliability?: number;
  readonly gpu_name?: string;
  readonly dph_total?: number;
  readonly disk_usage?: number;
  readonly started_at?: number;
  readonly loaded_at?: number;
  readonly url?: string;
  readonly machine_id?: number;
  readonly workergroup_id?: number;
  readonly error_msg?: string;
};

export type WorkerFinishRequest = {
  readonly worker_id?: number | string;
  readonly mtoken?: string;
  readonly requests?: readonly Readonly<Record<string, unknown>>[];
  readonly request_idxs?: readonly number[];
  readonly [key: string]: unknown;
};

export type WorkerGroup = {
  readonly id: number;
  readonly endpoint_id: number;
  readonly endpoint_name: string;
  readonly user_id: number;
  readonly api_key?: string;
  readonly template_id?: number;
  readonly template_hash: string;
  readonly search_params: string;
  readonly search_query: Readonly<Record<string, unknown>>;
  readonly launch_args: string;
  readonly gpu_ram: number;
  readonly test_workers: number;
  readonly cold_workers: number;
  readonly max_workers: number;
  readonly max_dph?: number;
  readonly is_max_dph_by_owner: boolean;
  readonly waits_for_price_since?: number;
  readonly min_load: number;
  readonly min_cold_load: number;
  readonly target_util: number;
  readonly cold_mult: number;
  readonly generation: number;
  readonly is_updating: boolean;
  readonly failure_count: number;
  readonly resumes_at?: number;
  readonly created_at: number;
};

export type WorkerGroupSettings = {
  readonly endpoint_id?: number;
  readonly endpoint_name?: string;
  readonly template_hash?: string;
  readonly template_id?: number;
  readonly search_params?: string | readonly string[] | Readonly<Record<string, unknown>>;
  readonly launch_args?: string;
  readonly gpu_ram?: number;
  readonly test_workers?: number;
  readonly cold_workers?: number;
  readonly max_workers?: number;
  readonly max_dph?: number;
  readonly min_load?: number;
  readonly min_cold_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly docker_login_repo?: string;
};

export type WorkerGroupSpend = {
  readonly workergroup_id?: number;
  readonly endpoint_id: number;
  readonly worker_count: number;
  readonly amount: number;
  readonly amount_exact: string;
  readonly gpu: string;
  readonly disk: string;
  readonly bandwidth: string;
  readonly unpaid: string;
};

export type WorkerModel = {
  readonly perf?: number;
  readonly price_per_hour?: number;
  readonly storage_per_hour?: number;
  readonly first_start_s?: number;
  readonly warm_start_s?: number;
  readonly parallel_requests?: number;
};

export type WorkerReportRequest = {
  readonly id?: number | string;
  readonly mtoken?: string;
  readonly version?: string;
  readonly url?: string;
  readonly loadtime?: number;
  readonly max_perf?: number;
  readonly cur_perf?: number;
  readonly new_load?: number;
  readonly cur_load?: number;
  readonly num_requests_working?: number;
  readonly working_request_idxs?: readonly number[];
  readonly additional_disk_usage?: number;
  readonly error_msg?: string;
  readonly [key: string]: unknown;
};

export type WorkergroupCreateResponse = {
  readonly success: true;
  readonly id: number;
  readonly result: number;
};

export type WorkergroupListResponse = {
  readonly success: true;
  readonly results: readonly WorkerGroup[];
};

export type WorkergroupLogsRequest = {
  readonly id: number;
  readonly api_key?: string;
  readonly tail?: number;
};

export type WorkergroupSpendResponse = {
  readonly success: true;
  readonly start: number;
  readonly end: number;
  readonly total: string;
  readonly results: readonly WorkerGroupSpend[];
  readonly workergroups: readonly HourlySpend[];
  readonly data_timestamp: number;
};

export type WorkergroupUpdateWorkersRequest = {
  readonly workergroup_id: number;
  readonly api_key?: string;
  readonly cancel_update?: boolean;
};

export type WorkergroupUpdateWorkersResponse = {
  readonly success: true;
  readonly cancelled: boolean;
  readonly workers_to_update: number;
};

export type WorkergroupWorkersRequest = {
  readonly id: number;
  readonly api_key?: string;
};

export type WorkergroupWorkersResponse = {
  readonly workers: readonly Worker[];
};

export type AdminAnnouncementsAnswer = AdminAnnouncementsResponse;

/** List announcements of all times: `GET /api/v0/admin/announcements/` */
export function adminAnnouncements(client: Client, options?: CallOptions): Promise<AdminAnnouncementsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/announcements/" }, options);
}

export type AdminAnnouncementCreateInput = {
  readonly body: AdminAnnouncementCreateRequest;
};

export type AdminAnnouncementCreateAnswer = AdminAnnouncementCreateResponse;

/** Publish an announcement: `POST /api/v0/admin/announcements/` */
export function adminAnnouncementCreate(client: Client, input: AdminAnnouncementCreateInput, options?: CallOptions): Promise<AdminAnnouncementCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/announcements/", body: input.body ?? {} }, options);
}

export type AdminAnnouncementUpdateInput = {
  readonly id: number;
  readonly body?: AdminAnnouncementUpdateRequest;
};

export type AdminAnnouncementUpdateAnswer = AdminAnnouncementUpdateResponse;

/** Change an announcement: `PUT /api/v0/admin/announcements/{id}/` */
export function adminAnnouncementUpdate(client: Client, input: AdminAnnouncementUpdateInput, options?: CallOptions): Promise<AdminAnnouncementUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/announcements/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type AdminAnnouncementDeleteInput = {
  readonly id: number;
};

export type AdminAnnouncementDeleteAnswer = AdminAnnouncementDeleteResponse;

/** Remove an announcement: `DELETE /api/v0/admin/announcements/{id}/` */
export function adminAnnouncementDelete(client: Client, input: AdminAnnouncementDeleteInput, options?: CallOptions): Promise<AdminAnnouncementDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/admin/announcements/${encodeURIComponent(input.id)}/` }, options);
}

export type AdminAuditInput = {
  readonly query?: {
    readonly full?: string;
    readonly against?: string;
  };
};

export type AdminAuditAnswer = AdminAuditResponse;

/** Recompute the books from the facts, and show what differs: `GET /api/v0/admin/audit/` */
export function adminAudit(client: Client, input: AdminAuditInput = {}, options?: CallOptions): Promise<AdminAuditAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/audit/", query: input.query }, options);
}

export type AdminAuditFactsInput = {
  readonly query?: {
    readonly after?: number;
    readonly limit?: number;
  };
};

export type AdminAuditFactsAnswer = AdminAuditFactsResponse;

/** Export the signed chain of facts about money: `GET /api/v0/admin/audit/facts/` */
export function adminAuditFacts(client: Client, input: AdminAuditFactsInput = {}, options?: CallOptions): Promise<AdminAuditFactsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/audit/facts/", query: input.query }, options);
}

export type AdminBookCorrectionInput = {
  readonly body: AdminBookCorrectionRequest;
};

export type AdminBookCorrectionAnswer = BookedEntry;

/** Correct the credit or the earnings of an account: `POST /api/v0/admin/corrections/` */
export function adminBookCorrection(client: Client, input: AdminBookCorrectionInput, options?: CallOptions): Promise<AdminBookCorrectionAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/corrections/", body: input.body ?? {} }, options);
}

export type AdminCreditInput = {
  readonly body: AdminCreditRequest;
};

export type AdminCreditAnswer = AdminCreditResponse;

/** Give a user credit: `POST /api/v0/admin/credit/` */
export function adminCredit(client: Client, input: AdminCreditInput, options?: CallOptions): Promise<AdminCreditAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/credit/", body: input.body ?? {} }, options);
}

export type AdminDiskInput = {
  readonly body: AdminDiskRequest;
};

export type AdminDiskAnswer = AdminDiskResponse;

/** Give a user a network disk: `POST /api/v0/admin/disks/` */
export function adminDisk(client: Client, input: AdminDiskInput, options?: CallOptions): Promise<AdminDiskAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/disks/", body: input.body ?? {} }, options);
}

export type AdminDisputesInput = {
  readonly query?: {
    readonly all?: "true" | "false";
  };
};

export type AdminDisputesAnswer = AdminDisputesResponse;

/** Show accounts with disputed card payments: `GET /api/v0/admin/disputes/` */
export function adminDisputes(client: Client, input: AdminDisputesInput = {}, options?: CallOptions): Promise<AdminDisputesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/disputes/", query: input.query }, options);
}

export type AdminListDocumentsInput = {
  readonly query: {
    readonly month: string;
    readonly kind?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type AdminListDocumentsAnswer = AdminListDocumentsResponse;

/** List the documents of all accounts that were issued in a month: `GET /api/v0/admin/documents/` */
export function adminListDocuments(client: Client, input: AdminListDocumentsInput, options?: CallOptions): Promise<AdminListDocumentsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/documents/", query: input.query }, options);
}

export type AdminExportDocumentsInput = {
  readonly query: {
    readonly month: string;
    readonly kind?: string;
  };
};

export type AdminExportDocumentsAnswer = Uint8Array;

/** Export the documents of all accounts that were issued in a month as CSV: `GET /api/v0/admin/documents/export/` */
export function adminExportDocuments(client: Client, input: AdminExportDocumentsInput, options?: CallOptions): Promise<AdminExportDocumentsAnswer> {
  return client.download({ method: "GET", path: "/api/v0/admin/documents/export/", query: input.query }, options);
}

export type AdminReleaseEarningsInput = {
  readonly body: AdminReleaseEarningsRequest;
};

export type AdminReleaseEarningsAnswer = AdminReleaseEarningsResponse;

/** Release earnings of granted credit: `POST /api/v0/admin/earnings/release/` */
export function adminReleaseEarnings(client: Client, input: AdminReleaseEarningsInput, options?: CallOptions): Promise<AdminReleaseEarningsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/earnings/release/", body: input.body ?? {} }, options);
}

export type AdminTakeBackEarningsInput = {
  readonly body: AdminTakeBackEarningsRequest;
};

export type AdminTakeBackEarningsAnswer = BookedEntry;

/** Take earnings back from a host: `POST /api/v0/admin/earnings/take_back/` */
export function adminTakeBackEarnings(client: Client, input: AdminTakeBackEarningsInput, options?: CallOptions): Promise<AdminTakeBackEarningsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/earnings/take_back/", body: input.body ?? {} }, options);
}

export type AdminFlagListInput = {
  readonly query?: {
    readonly open?: "true" | "false";
  };
};

export type AdminFlagListAnswer = HostFlags;

/** Show the flags of all hosts: `GET /api/v0/admin/flags/` */
export function adminFlagList(client: Client, input: AdminFlagListInput = {}, options?: CallOptions): Promise<AdminFlagListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/flags/", query: input.query }, options);
}

export type AdminFlagClearInput = {
  readonly id: string;
  readonly body: AdminFlagClearRequest;
};

export type AdminFlagClearAnswer = AdminFlagClearResponse;

/** Clear a flag of a host: `PUT /api/v0/admin/flags/{id}/clear/` */
export function adminFlagClear(client: Client, input: AdminFlagClearInput, options?: CallOptions): Promise<AdminFlagClearAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/flags/${encodeURIComponent(input.id)}/clear/`, body: input.body ?? {} }, options);
}

export type AdminFreezesInput = {
  readonly query?: {
    readonly all?: "true" | "false";
  };
};

export type AdminFreezesAnswer = AdminFreezesResponse;

/** Show freezes of accounts: `GET /api/v0/admin/freezes/` */
export function adminFreezes(client: Client, input: AdminFreezesInput = {}, options?: CallOptions): Promise<AdminFreezesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/freezes/", query: input.query }, options);
}

export type AdminFreezeAccountInput = {
  readonly body: AdminFreezeAccountRequest;
};

export type AdminFreezeAccountAnswer = AdminFreezeAccountResponse;

/** Freeze an account with its subaccounts: `POST /api/v0/admin/freezes/` */
export function adminFreezeAccount(client: Client, input: AdminFreezeAccountInput, options?: CallOptions): Promise<AdminFreezeAccountAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/freezes/", body: input.body ?? {} }, options);
}

export type AdminLiftFreezeInput = {
  readonly id: number;
  readonly body: AdminLiftFreezeRequest;
};

export type AdminLiftFreezeAnswer = AdminLiftFreezeResponse;

/** Lift a freeze of an account: `PUT /api/v0/admin/freezes/{id}/` */
export function adminLiftFreeze(client: Client, input: AdminLiftFreezeInput, options?: CallOptions): Promise<AdminLiftFreezeAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/freezes/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type AdminInstancesInput = {
  readonly query?: {
    readonly q?: string;
    readonly renter_id?: number;
    readonly machine_id?: number;
    readonly phase?: "scheduled" | "starting" | "running" | "yielding" | "stopping" | "stopped" | "ending" | "ended";
    readonly bid?: "true" | "false";
    readonly over?: "true" | "false";
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type AdminInstancesAnswer = AdminInstancesResponse;

/** List instances of all renters: `GET /api/v0/admin/instances/` */
export function adminInstances(client: Client, input: AdminInstancesInput = {}, options?: CallOptions): Promise<AdminInstancesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/instances/", query: input.query }, options);
}

export type AdminInstanceStopInput = {
  readonly id: number;
  readonly body: AdminInstanceStopRequest;
};

export type AdminInstanceStopAnswer = AdminInstanceStopResponse;

/** Stop an instance of any renter, with its data kept: `POST /api/v0/admin/instances/{id}/stop/` */
export function adminInstanceStop(client: Client, input: AdminInstanceStopInput, options?: CallOptions): Promise<AdminInstanceStopAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/instances/${encodeURIComponent(input.id)}/stop/`, body: input.body ?? {} }, options);
}

export type AdminInvitationCreateInput = {
  readonly body?: AdminInvitationCreateRequest;
};

export type AdminInvitationCreateAnswer = NewSignUpInvitation;

/** Invite a person to sign up: `POST /api/v0/admin/invitations/` */
export function adminInvitationCreate(client: Client, input: AdminInvitationCreateInput = {}, options?: CallOptions): Promise<AdminInvitationCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/invitations/", body: input.body ?? {} }, options);
}

export type AdminInvitationListAnswer = AdminInvitationListResponse;

/** Show invitations to sign up: `GET /api/v0/admin/invitations/` */
export function adminInvitationList(client: Client, options?: CallOptions): Promise<AdminInvitationListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/invitations/" }, options);
}

export type AdminInvitationDeleteInput = {
  readonly id: string;
};

export type AdminInvitationDeleteAnswer = Message;

/** Revoke an invitation to sign up: `DELETE /api/v0/admin/invitations/{id}/` */
export function adminInvitationDelete(client: Client, input: AdminInvitationDeleteInput, options?: CallOptions): Promise<AdminInvitationDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/admin/invitations/${encodeURIComponent(input.id)}/` }, options);
}

export type AdminKeyCreateInput = {
  readonly body: AdminKeyCreateRequest;
};

export type AdminKeyCreateAnswer = IssuedKey;

/** Create an API key for a user: `POST /api/v0/admin/keys/` */
export function adminKeyCreate(client: Client, input: AdminKeyCreateInput, options?: CallOptions): Promise<AdminKeyCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/keys/", body: input.body ?? {} }, options);
}

export type AdminLoopsAnswer = BackgroundLoops;

/** Show the background loops: `GET /api/v0/admin/loops/` */
export function adminLoops(client: Client, options?: CallOptions): Promise<AdminLoopsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/loops/" }, options);
}

export type AdminMachinesInput = {
  readonly query?: {
    readonly q?: string;
    readonly host_id?: number;
    readonly gpu_name?: string;
    readonly connected?: "true" | "false";
    readonly listed?: "true" | "false";
    readonly broken?: "true" | "false";
    readonly flagged?: "true" | "false";
    readonly verification?: "verified" | "unverified" | "deverified";
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type AdminMachinesAnswer = AdminMachinesResponse;

/** List machines of all hosts: `GET /api/v0/admin/machines/` */
export function adminMachines(client: Client, input: AdminMachinesInput = {}, options?: CallOptions): Promise<AdminMachinesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/machines/", query: input.query }, options);
}

export type AdminMachineBackUpInput = {
  readonly id: number;
};

export type AdminMachineBackUpAnswer = AdminMachineBackUpResponse;

/** Make backups of all instances and volumes on a machine: `POST /api/v0/admin/machines/{id}/backups/` */
export function adminMachineBackUp(client: Client, input: AdminMachineBackUpInput, options?: CallOptions): Promise<AdminMachineBackUpAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/machines/${encodeURIComponent(input.id)}/backups/` }, options);
}

export type AdminMachineAskToMoveInput = {
  readonly id: number;
  readonly body: AdminMachineAskToMoveRequest;
};

export type AdminMachineAskToMoveAnswer = AdminMachineAskToMoveResponse;

/** Ask everybody who rents on a machine to move: `POST /api/v0/admin/machines/{id}/move_notice/` */
export function adminMachineAskToMove(client: Client, input: AdminMachineAskToMoveInput, options?: CallOptions): Promise<AdminMachineAskToMoveAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/machines/${encodeURIComponent(input.id)}/move_notice/`, body: input.body ?? {} }, options);
}

export type AdminMachineUnlistInput = {
  readonly id: number;
  readonly body: AdminMachineUnlistRequest;
};

export type AdminMachineUnlistAnswer = AdminMachineUnlistResponse;

/** Take a machine of any host off the market: `POST /api/v0/admin/machines/{id}/unlist/` */
export function adminMachineUnlist(client: Client, input: AdminMachineUnlistInput, options?: CallOptions): Promise<AdminMachineUnlistAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/machines/${encodeURIComponent(input.id)}/unlist/`, body: input.body ?? {} }, options);
}

export type AdminMachineVerifyInput = {
  readonly id: string;
  readonly body?: AdminMachineVerifyRequest;
};

export type AdminMachineVerifyAnswer = AdminMachineVerifyResponse;

/** Decide by hand whether a machine is verified, and whether it is in a data centre: `PUT /api/v0/admin/machines/{id}/verification/` */
export function adminMachineVerify(client: Client, input: AdminMachineVerifyInput, options?: CallOptions): Promise<AdminMachineVerifyAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/machines/${encodeURIComponent(input.id)}/verification/`, body: input.body ?? {} }, options);
}

export type AdminOverviewAnswer = Overview;

/** Show the market at a glance: `GET /api/v0/admin/overview/` */
export function adminOverview(client: Client, options?: CallOptions): Promise<AdminOverviewAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/overview/" }, options);
}

export type AdminPausesAnswer = AdminPausesResponse;

/** Show pauses of the service: `GET /api/v0/admin/pause/` */
export function adminPauses(client: Client, options?: CallOptions): Promise<AdminPausesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/pause/" }, options);
}

export type AdminPauseBeginInput = {
  readonly body: AdminPauseBeginRequest;
};

export type AdminPauseBeginAnswer = AdminPauseBeginResponse;

/** Pause the service: nothing is rented or changed, what runs goes on: `PUT /api/v0/admin/pause/` */
export function adminPauseBegin(client: Client, input: AdminPauseBeginInput, options?: CallOptions): Promise<AdminPauseBeginAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/admin/pause/", body: input.body ?? {} }, options);
}

export type AdminPauseEndAnswer = AdminPauseEndResponse;

/** End the pause of the service: `DELETE /api/v0/admin/pause/` */
export function adminPauseEnd(client: Client, options?: CallOptions): Promise<AdminPauseEndAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/admin/pause/" }, options);
}

export type AdminRefundPaymentInput = {
  readonly id: number;
  readonly body?: AdminRefundPaymentRequest;
};

export type AdminRefundPaymentAnswer = AdminRefundPaymentResponse;

/** Refund a card payment: `POST /api/v0/admin/payments/{id}/refund/` */
export function adminRefundPayment(client: Client, input: AdminRefundPaymentInput, options?: CallOptions): Promise<AdminRefundPaymentAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/payments/${encodeURIComponent(input.id)}/refund/`, body: input.body ?? {} }, options);
}

export type AdminPayoutHoldsAnswer = AdminPayoutHoldsResponse;

/** Show open holds on payouts: `GET /api/v0/admin/payout_holds/` */
export function adminPayoutHolds(client: Client, options?: CallOptions): Promise<AdminPayoutHoldsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/payout_holds/" }, options);
}

export type AdminHoldPayoutsInput = {
  readonly body: AdminHoldPayoutsRequest;
};

export type AdminHoldPayoutsAnswer = AdminHoldPayoutsResponse;

/** Hold the payouts of a host: `POST /api/v0/admin/payout_holds/` */
export function adminHoldPayouts(client: Client, input: AdminHoldPayoutsInput, options?: CallOptions): Promise<AdminHoldPayoutsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/payout_holds/", body: input.body ?? {} }, options);
}

export type AdminReleasePayoutsInput = {
  readonly id: number;
  readonly body: AdminReleasePayoutsRequest;
};

export type AdminReleasePayoutsAnswer = Success;

/** Release a hold on payouts: `PUT /api/v0/admin/payout_holds/{id}/` */
export function adminReleasePayouts(client: Client, input: AdminReleasePayoutsInput, options?: CallOptions): Promise<AdminReleasePayoutsAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/payout_holds/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type AdminPayoutsInput = {
  readonly query?: {
    readonly limit?: number;
    readonly before_id?: number;
    readonly state?: "pending" | "sending" | "paid" | "failed";
  };
};

export type AdminPayoutsAnswer = AdminPayoutsResponse;

/** Show payouts to hosts: `GET /api/v0/admin/payouts/` */
export function adminPayouts(client: Client, input: AdminPayoutsInput = {}, options?: CallOptions): Promise<AdminPayoutsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/payouts/", query: input.query }, options);
}

export type AdminPayoutInput = {
  readonly id: number;
};

export type AdminPayoutAnswer = AdminPayoutResponse;

/** Show a payout with its full destination: `GET /api/v0/admin/payouts/{id}/` */
export function adminPayout(client: Client, input: AdminPayoutInput, options?: CallOptions): Promise<AdminPayoutAnswer> {
  return client.request({ method: "GET", path: `/api/v0/admin/payouts/${encodeURIComponent(input.id)}/` }, options);
}

export type AdminSettlePayoutInput = {
  readonly id: number;
  readonly body: AdminSettlePayoutRequest;
};

export type AdminSettlePayoutAnswer = Success;

/** Mark a payout as paid, or as failed when it came back: `PUT /api/v0/admin/payouts/{id}/` */
export function adminSettlePayout(client: Client, input: AdminSettlePayoutInput, options?: CallOptions): Promise<AdminSettlePayoutAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/admin/payouts/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type AdminReconciliationAnswer = AdminReconciliationResponse;

/** Show mismatches that rules repaired, and those that they could only report: `GET /api/v0/admin/reconciliation/` */
export function adminReconciliation(client: Client, options?: CallOptions): Promise<AdminReconciliationAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/reconciliation/" }, options);
}

export type AdminSearchInput = {
  readonly query: {
    readonly q: string;
  };
};

export type AdminSearchAnswer = AdminSearchResponse;

/** Find people, teams, machines, instances, volumes, documents and payouts: `GET /api/v0/admin/search/` */
export function adminSearch(client: Client, input: AdminSearchInput, options?: CallOptions): Promise<AdminSearchAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/search/", query: input.query }, options);
}

export type AdminSettingsAnswer = AdminSettingsResponse;

/** Show settings as they are in force: `GET /api/v0/admin/settings/` */
export function adminSettings(client: Client, options?: CallOptions): Promise<AdminSettingsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/settings/" }, options);
}

export type AdminSignInLinkCreateInput = {
  readonly body?: AdminSignInLinkCreateRequest;
};

export type AdminSignInLinkCreateAnswer = SignInLink;

/** Make a link that signs a person in once: `POST /api/v0/admin/sign_in_links/` */
export function adminSignInLinkCreate(client: Client, input: AdminSignInLinkCreateInput = {}, options?: CallOptions): Promise<AdminSignInLinkCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/sign_in_links/", body: input.body ?? {} }, options);
}

export type AdminUserCreateInput = {
  readonly body: AdminUserCreateRequest;
};

export type AdminUserCreateAnswer = IssuedKey;

/** Create an account for somebody: `POST /api/v0/admin/users/` */
export function adminUserCreate(client: Client, input: AdminUserCreateInput, options?: CallOptions): Promise<AdminUserCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/admin/users/", body: input.body ?? {} }, options);
}

export type AdminUsersInput = {
  readonly query?: {
    readonly q?: string;
    readonly key_id?: number;
    readonly frozen?: "true" | "false";
    readonly admin?: "true" | "false";
    readonly team?: "true" | "false";
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type AdminUsersAnswer = AdminUsersResponse;

/** Find accounts of people and teams: `GET /api/v0/admin/users/` */
export function adminUsers(client: Client, input: AdminUsersInput = {}, options?: CallOptions): Promise<AdminUsersAnswer> {
  return client.request({ method: "GET", path: "/api/v0/admin/users/", query: input.query }, options);
}

export type AdminUserShowInput = {
  readonly id: number;
};

export type AdminUserShowAnswer = AdminUserShowResponse;

/** Show the record of one account: `GET /api/v0/admin/users/{id}/` */
export function adminUserShow(client: Client, input: AdminUserShowInput, options?: CallOptions): Promise<AdminUserShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/admin/users/${encodeURIComponent(input.id)}/` }, options);
}

export type AdminUserDeleteInput = {
  readonly id: number;
  readonly body: AdminUserDeleteRequest;
};

export type AdminUserDeleteAnswer = AdminUserDeleteResponse;

/** Delete the account of a person, with all data that no law keeps: `POST /api/v0/admin/users/{id}/delete/` */
export function adminUserDelete(client: Client, input: AdminUserDeleteInput, options?: CallOptions): Promise<AdminUserDeleteAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/users/${encodeURIComponent(input.id)}/delete/`, body: input.body ?? {} }, options);
}

export type AdminUserExportInput = {
  readonly id: number;
  readonly body: AdminUserExportRequest;
};

export type AdminUserExportAnswer = AdminUserExportResponse;

/** Take a copy of everything that is known of an account: `POST /api/v0/admin/users/{id}/export/` */
export function adminUserExport(client: Client, input: AdminUserExportInput, options?: CallOptions): Promise<AdminUserExportAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/users/${encodeURIComponent(input.id)}/export/`, body: input.body ?? {} }, options);
}

export type AdminUserProveEmailInput = {
  readonly user_id: string;
  readonly body: AdminUserProveEmailRequest;
};

export type AdminUserProveEmailAnswer = Message;

/** Vouch for the address of an account: `POST /api/v0/admin/users/{user_id}/prove_email/` */
export function adminUserProveEmail(client: Client, input: AdminUserProveEmailInput, options?: CallOptions): Promise<AdminUserProveEmailAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/users/${encodeURIComponent(input.user_id)}/prove_email/`, body: input.body ?? {} }, options);
}

export type AdminUserSeeAsInput = {
  readonly user_id: string;
  readonly body: AdminUserSeeAsRequest;
};

export type AdminUserSeeAsAnswer = AdminUserSeeAsResponse;

/** See the console as another account, without changing anything: `POST /api/v0/admin/users/{user_id}/see_as/` */
export function adminUserSeeAs(client: Client, input: AdminUserSeeAsInput, options?: CallOptions): Promise<AdminUserSeeAsAnswer> {
  return client.request({ method: "POST", path: `/api/v0/admin/users/${encodeURIComponent(input.user_id)}/see_as/`, body: input.body ?? {} }, options);
}

export type AdminUserRemoveTfaInput = {
  readonly user_id: string;
};

export type AdminUserRemoveTfaAnswer = RemovedTfaMethod;

/** Delete the second factors of an account: `DELETE /api/v0/admin/users/{user_id}/tfa/` */
export function adminUserRemoveTfa(client: Client, input: AdminUserRemoveTfaInput, options?: CallOptions): Promise<AdminUserRemoveTfaAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/admin/users/${encodeURIComponent(input.user_id)}/tfa/` }, options);
}

export type AgentJoinInput = {
  readonly body: AgentJoinRequest;
};

export type AgentJoinAnswer = AgentJoinResponse;

/** Exchange a join token for an agent credential: `POST /api/v0/agent/join/` */
export function agentJoin(client: Client, input: AgentJoinInput, options?: CallOptions): Promise<AgentJoinAnswer> {
  return client.request({ method: "POST", path: "/api/v0/agent/join/", body: input.body ?? {} }, options);
}

export type AnnouncementListAnswer = AnnouncementListResponse;

/** Show announcements of the operator: `GET /api/v0/announcements/` */
export function announcementList(client: Client, options?: CallOptions): Promise<AnnouncementListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/announcements/" }, options);
}

export type ArrearsShowAnswer = ArrearsShowResponse;

/** Show until when unpaid data is kept, and when the balance stops what runs: `GET /api/v0/arrears/` */
export function arrearsShow(client: Client, options?: CallOptions): Promise<ArrearsShowAnswer> {
  return client.request({ method: "GET", path: "/api/v0/arrears/" }, options);
}

export type InstanceCreateBulkInput = {
  readonly body: InstanceCreateBulkRequest;
};

export type InstanceCreateBulkAnswer = InstanceCreateBulkResponse;

/** Create an instance from each of these offers: `POST /api/v0/asks/bulk/` */
export function instanceCreateBulk(client: Client, input: InstanceCreateBulkInput, options?: CallOptions): Promise<InstanceCreateBulkAnswer> {
  return client.request({ method: "POST", path: "/api/v0/asks/bulk/", body: input.body ?? {} }, options);
}

export type InstanceCreateInput = {
  readonly id: number;
  readonly body?: InstanceCreateRequest;
};

export type InstanceCreateAnswer = NewInstance | RentalForecast;

/** Create an instance from an offer: `PUT /api/v0/asks/{id}/` */
export function instanceCreate(client: Client, input: InstanceCreateInput & { readonly body: { readonly dry_run: true } }, options?: CallOptions): Promise<RentalForecast>;
export function instanceCreate(client: Client, input: InstanceCreateInput & { readonly body?: { readonly dry_run?: false } }, options?: CallOptions): Promise<NewInstance>;
export function instanceCreate(client: Client, input: InstanceCreateInput, options?: CallOptions): Promise<InstanceCreateAnswer>;
export function instanceCreate(client: Client, input: InstanceCreateInput, options?: CallOptions): Promise<InstanceCreateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/asks/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type OfferBidHistoryInput = {
  readonly id: number;
  readonly query?: {
    readonly hours?: number;
    readonly price?: number;
  };
};

export type OfferBidHistoryAnswer = OfferBidHistoryResponse;

/** What a bid for an offer would have done in the past days: `GET /api/v0/asks/{id}/bid-history/` */
export function offerBidHistory(client: Client, input: OfferBidHistoryInput, options?: CallOptions): Promise<OfferBidHistoryAnswer> {
  return client.request({ method: "GET", path: `/api/v0/asks/${encodeURIComponent(input.id)}/bid-history/`, query: input.query }, options);
}

export type AuditLogFiltersAnswer = AuditLogFilters;

/** Show the values by which own audit log can be filtered: `GET /api/v0/audit_log_filters/` */
export function auditLogFilters(client: Client, options?: CallOptions): Promise<AuditLogFiltersAnswer> {
  return client.request({ method: "GET", path: "/api/v0/audit_log_filters/" }, options);
}

export type AuditLogListAnswer = readonly AuditLogEntry[];

/** Show the audit log of own account: `GET /api/v0/audit_logs/` */
export function auditLogList(client: Client, options?: CallOptions): Promise<AuditLogListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/audit_logs/" }, options);
}

export type ApikeyListAnswer = ApikeyListResponse;

/** Show own API keys: `GET /api/v0/auth/apikeys/` */
export function apikeyList(client: Client, options?: CallOptions): Promise<ApikeyListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/apikeys/" }, options);
}

export type ApikeyCreateInput = {
  readonly body: ApikeyCreateRequest;
};

export type ApikeyCreateAnswer = ApikeyCreateResponse;

/** Create an API key: `POST /api/v0/auth/apikeys/` */
export function apikeyCreate(client: Client, input: ApikeyCreateInput, options?: CallOptions): Promise<ApikeyCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/apikeys/", body: input.body ?? {} }, options);
}

export type ApikeyShowInput = {
  readonly id: string;
};

export type ApikeyShowAnswer = ApiKey;

/** Show one API key: `GET /api/v0/auth/apikeys/{id}/` */
export function apikeyShow(client: Client, input: ApikeyShowInput, options?: CallOptions): Promise<ApikeyShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/auth/apikeys/${encodeURIComponent(input.id)}/` }, options);
}

export type ApikeyDeleteInput = {
  readonly id: string;
};

export type ApikeyDeleteAnswer = "Successfully Deleted API Key";

/** Delete an API key: `DELETE /api/v0/auth/apikeys/{id}/` */
export function apikeyDelete(client: Client, input: ApikeyDeleteInput, options?: CallOptions): Promise<ApikeyDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/auth/apikeys/${encodeURIComponent(input.id)}/` }, options);
}

export type BrowserSignInInput = {
  readonly body?: BrowserSignInRequest;
};

export type BrowserSignInAnswer = BrowserSignIn;

/** Sign a browser in: `POST /api/v0/auth/browser/` */
export function browserSignIn(client: Client, input: BrowserSignInInput = {}, options?: CallOptions): Promise<BrowserSignInAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/", body: input.body ?? {} }, options);
}

export type BrowserSignOutAnswer = Success;

/** Sign a browser out: `DELETE /api/v0/auth/browser/` */
export function browserSignOut(client: Client, options?: CallOptions): Promise<BrowserSignOutAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/auth/browser/" }, options);
}

export type BrowserRequestResetInput = {
  readonly body: BrowserRequestResetRequest;
};

export type BrowserRequestResetAnswer = Message;

/** Have a link mailed that resets a password: `POST /api/v0/auth/browser/reset/` */
export function browserRequestReset(client: Client, input: BrowserRequestResetInput, options?: CallOptions): Promise<BrowserRequestResetAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/reset/", body: input.body ?? {} }, options);
}

export type BrowserResetPasswordInput = {
  readonly body: BrowserResetPasswordRequest;
};

export type BrowserResetPasswordAnswer = Message;

/** Reset a password with the link that was mailed: `POST /api/v0/auth/browser/reset/confirm/` */
export function browserResetPassword(client: Client, input: BrowserResetPasswordInput, options?: CallOptions): Promise<BrowserResetPasswordAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/reset/confirm/", body: input.body ?? {} }, options);
}

export type BrowserSettingsAnswer = BrowserSettings;

/** Show the ways to sign in with a browser: `GET /api/v0/auth/browser/settings/` */
export function browserSettings(client: Client, options?: CallOptions): Promise<BrowserSettingsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/browser/settings/" }, options);
}

export type BrowserSignUpInput = {
  readonly body?: BrowserSignUpRequest;
};

export type BrowserSignUpAnswer = BrowserSignIn;

/** Make an account and sign its browser in: `POST /api/v0/auth/browser/sign-up/` */
export function browserSignUp(client: Client, input: BrowserSignUpInput = {}, options?: CallOptions): Promise<BrowserSignUpAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/sign-up/", body: input.body ?? {} }, options);
}

export type BrowserSwitchAccountInput = {
  readonly body?: BrowserSwitchAccountRequest;
};

export type BrowserSwitchAccountAnswer = BrowserSignIn;

/** Act for a team, or for oneself, in the session of a browser: `POST /api/v0/auth/browser/team/` */
export function browserSwitchAccount(client: Client, input: BrowserSwitchAccountInput = {}, options?: CallOptions): Promise<BrowserSwitchAccountAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/team/", body: input.body ?? {} }, options);
}

export type BrowserConfirmInput = {
  readonly body?: BrowserConfirmRequest;
};

export type BrowserConfirmAnswer = BrowserSignIn;

/** Sign a browser in with a second factor: `POST /api/v0/auth/browser/tfa/` */
export function browserConfirm(client: Client, input: BrowserConfirmInput = {}, options?: CallOptions): Promise<BrowserConfirmAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/browser/tfa/", body: input.body ?? {} }, options);
}

export type BrowserLeaveViewAnswer = BrowserLeaveViewResponse;

/** Leave the view of another account: `DELETE /api/v0/auth/browser/view/` */
export function browserLeaveView(client: Client, options?: CallOptions): Promise<BrowserLeaveViewAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/auth/browser/view/" }, options);
}

export type PasskeyCreateInput = {
  readonly body: PasskeyCreateRequest;
};

export type PasskeyCreateAnswer = PasskeyAnswer;

/** Add a passkey: `POST /api/v0/auth/passkeys/` */
export function passkeyCreate(client: Client, input: PasskeyCreateInput, options?: CallOptions): Promise<PasskeyCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/passkeys/", body: input.body ?? {} }, options);
}

export type PasskeyListAnswer = PasskeyListResponse;

/** Show own passkeys: `GET /api/v0/auth/passkeys/` */
export function passkeyList(client: Client, options?: CallOptions): Promise<PasskeyListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/passkeys/" }, options);
}

export type PasskeyOptionsAnswer = PasskeyCreation;

/** Begin to add a passkey: `POST /api/v0/auth/passkeys/options/` */
export function passkeyOptions(client: Client, options?: CallOptions): Promise<PasskeyOptionsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/passkeys/options/" }, options);
}

export type PasskeySignInOptionsAnswer = PasskeyRequest;

/** Begin to sign in with a passkey: `POST /api/v0/auth/passkeys/sign-in/options/` */
export function passkeySignInOptions(client: Client, options?: CallOptions): Promise<PasskeySignInOptionsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/passkeys/sign-in/options/" }, options);
}

export type PasskeySignInInput = {
  readonly body: PasskeySignInRequest;
};

export type PasskeySignInAnswer = BrowserSignIn;

/** Sign a browser in with a passkey: `POST /api/v0/auth/passkeys/sign-in/verify/` */
export function passkeySignIn(client: Client, input: PasskeySignInInput, options?: CallOptions): Promise<PasskeySignInAnswer> {
  return client.request({ method: "POST", path: "/api/v0/auth/passkeys/sign-in/verify/", body: input.body ?? {} }, options);
}

export type PasskeyUpdateInput = {
  readonly id: string;
  readonly body: PasskeyUpdateRequest;
};

export type PasskeyUpdateAnswer = PasskeyAnswer;

/** Rename a passkey: `PUT /api/v0/auth/passkeys/{id}/` */
export function passkeyUpdate(client: Client, input: PasskeyUpdateInput, options?: CallOptions): Promise<PasskeyUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/auth/passkeys/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type PasskeyDeleteInput = {
  readonly id: string;
};

export type PasskeyDeleteAnswer = Message;

/** Delete a passkey: `DELETE /api/v0/auth/passkeys/{id}/` */
export function passkeyDelete(client: Client, input: PasskeyDeleteInput, options?: CallOptions): Promise<PasskeyDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/auth/passkeys/${encodeURIComponent(input.id)}/` }, options);
}

export type RoutePublicKeysAnswer = RoutePublicKeysResponse;

/** Show the public keys of what the server signs: `GET /api/v0/auth/pubkeys/` */
export function routePublicKeys(client: Client, options?: CallOptions): Promise<RoutePublicKeysAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/pubkeys/" }, options);
}

export type SessionListAnswer = SessionListResponse;

/** Show own sessions: `GET /api/v0/auth/sessions/` */
export function sessionList(client: Client, options?: CallOptions): Promise<SessionListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/sessions/" }, options);
}

export type SessionDeleteInput = {
  readonly body?: SessionDeleteRequest;
};

export type SessionDeleteAnswer = Message;

/** End own sessions: `DELETE /api/v0/auth/sessions/` */
export function sessionDelete(client: Client, input: SessionDeleteInput = {}, options?: CallOptions): Promise<SessionDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/auth/sessions/", body: input.body ?? {} }, options);
}

export type SsoCallbackInput = {
  readonly query?: {
    readonly code?: string;
    readonly state?: string;
    readonly iss?: string;
    readonly error?: string;
    readonly error_description?: string;
  };
};

export type SsoCallbackAnswer = unknown;

/** Come back from the issuer: `GET /api/v0/auth/sso/callback/` */
export function ssoCallback(client: Client, input: SsoCallbackInput = {}, options?: CallOptions): Promise<SsoCallbackAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/sso/callback/", query: input.query }, options);
}

export type SsoProblemsAnswer = SsoProblemsResponse;

/** Show the reasons why single sign-on may fail: `GET /api/v0/auth/sso/problems/` */
export function ssoProblems(client: Client, options?: CallOptions): Promise<SsoProblemsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/sso/problems/" }, options);
}

export type SsoStartAnswer = unknown;

/** Go to the issuer to sign in: `GET /api/v0/auth/sso/start/` */
export function ssoStart(client: Client, options?: CallOptions): Promise<SsoStartAnswer> {
  return client.request({ method: "GET", path: "/api/v0/auth/sso/start/" }, options);
}

export type BenchmarkSearchInput = {
  readonly query?: {
    readonly select_filters?: string;
    readonly query?: string;
    readonly select_cols?: string;
    readonly order_by?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type BenchmarkSearchAnswer = BenchmarkSearchResponse;

/** Search measurements of machines: `GET /api/v0/benchmarks/` */
export function benchmarkSearch(client: Client, input: BenchmarkSearchInput = {}, options?: CallOptions): Promise<BenchmarkSearchAnswer> {
  return client.request({ method: "GET", path: "/api/v0/benchmarks/", query: input.query }, options);
}

export type BillingAutobillAnswer = Autobill;

/** Show automatic payments: `GET /api/v0/billing/autobill/` */
export function billingAutobill(client: Client, options?: CallOptions): Promise<BillingAutobillAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/autobill/" }, options);
}

export type BillingChangeAutobillInput = {
  readonly body?: BillingChangeAutobillRequest;
};

export type BillingChangeAutobillAnswer = Autobill;

/** Change automatic payments: `PUT /api/v0/billing/autobill/` */
export function billingChangeAutobill(client: Client, input: BillingChangeAutobillInput = {}, options?: CallOptions): Promise<BillingChangeAutobillAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/billing/autobill/", body: input.body ?? {} }, options);
}

export type BillingCheckoutInput = {
  readonly body: BillingCheckoutRequest;
};

export type BillingCheckoutAnswer = PaymentPage;

/** Add credit by card: `POST /api/v0/billing/checkout/` */
export function billingCheckout(client: Client, input: BillingCheckoutInput, options?: CallOptions): Promise<BillingCheckoutAnswer> {
  return client.request({ method: "POST", path: "/api/v0/billing/checkout/", body: input.body ?? {} }, options);
}

export type BillingListAllDocumentsInput = {
  readonly query?: {
    readonly kind?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type BillingListAllDocumentsAnswer = BillingListAllDocumentsResponse;

/** List documents of all kinds: `GET /api/v0/billing/documents/` */
export function billingListAllDocuments(client: Client, input: BillingListAllDocumentsInput = {}, options?: CallOptions): Promise<BillingListAllDocumentsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/documents/", query: input.query }, options);
}

export type BillingShowAnyDocumentInput = {
  readonly number: string;
};

export type BillingShowAnyDocumentAnswer = AccountDocument;

/** Show a document of any kind: `GET /api/v0/billing/documents/{number}/` */
export function billingShowAnyDocument(client: Client, input: BillingShowAnyDocumentInput, options?: CallOptions): Promise<BillingShowAnyDocumentAnswer> {
  return client.request({ method: "GET", path: `/api/v0/billing/documents/${encodeURIComponent(input.number)}/` }, options);
}

export type BillingShowAnyDocumentPageInput = {
  readonly number: string;
};

export type BillingShowAnyDocumentPageAnswer = Uint8Array;

/** Show a document of any kind as a page: `GET /api/v0/billing/documents/{number}/page/` */
export function billingShowAnyDocumentPage(client: Client, input: BillingShowAnyDocumentPageInput, options?: CallOptions): Promise<BillingShowAnyDocumentPageAnswer> {
  return client.download({ method: "GET", path: `/api/v0/billing/documents/${encodeURIComponent(input.number)}/page/` }, options);
}

export type BillingShowAnyDocumentPdfInput = {
  readonly number: string;
};

export type BillingShowAnyDocumentPdfAnswer = Uint8Array;

/** Show a document of any kind as a PDF: `GET /api/v0/billing/documents/{number}/pdf/` */
export function billingShowAnyDocumentPdf(client: Client, input: BillingShowAnyDocumentPdfInput, options?: CallOptions): Promise<BillingShowAnyDocumentPdfAnswer> {
  return client.download({ method: "GET", path: `/api/v0/billing/documents/${encodeURIComponent(input.number)}/pdf/` }, options);
}

export type BillingSaveCardAnswer = PaymentPage;

/** Save a card: `POST /api/v0/billing/payment_methods/` */
export function billingSaveCard(client: Client, options?: CallOptions): Promise<BillingSaveCardAnswer> {
  return client.request({ method: "POST", path: "/api/v0/billing/payment_methods/" }, options);
}

export type BillingCardsAnswer = BillingCardsResponse;

/** Show saved cards: `GET /api/v0/billing/payment_methods/` */
export function billingCards(client: Client, options?: CallOptions): Promise<BillingCardsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/payment_methods/" }, options);
}

export type BillingPreferCardInput = {
  readonly id: number;
  readonly body: BillingPreferCardRequest;
};

export type BillingPreferCardAnswer = Success;

/** Choose the card that is charged automatically: `PUT /api/v0/billing/payment_methods/{id}/` */
export function billingPreferCard(client: Client, input: BillingPreferCardInput, options?: CallOptions): Promise<BillingPreferCardAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/billing/payment_methods/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type BillingForgetCardInput = {
  readonly id: number;
};

export type BillingForgetCardAnswer = Success;

/** Remove a saved card: `DELETE /api/v0/billing/payment_methods/{id}/` */
export function billingForgetCard(client: Client, input: BillingForgetCardInput, options?: CallOptions): Promise<BillingForgetCardAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/billing/payment_methods/${encodeURIComponent(input.id)}/` }, options);
}

export type BillingPaymentsInput = {
  readonly query?: {
    readonly limit?: number;
    readonly before_id?: number;
  };
};

export type BillingPaymentsAnswer = BillingPaymentsResponse;

/** Show card payments: `GET /api/v0/billing/payments/` */
export function billingPayments(client: Client, input: BillingPaymentsInput = {}, options?: CallOptions): Promise<BillingPaymentsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/payments/", query: input.query }, options);
}

export type BillingPayoutMethodAnswer = PayoutMethod;

/** Show where payouts go: `GET /api/v0/billing/payout_method/` */
export function billingPayoutMethod(client: Client, options?: CallOptions): Promise<BillingPayoutMethodAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/payout_method/" }, options);
}

export type BillingChoosePayoutMethodInput = {
  readonly body: BillingChoosePayoutMethodRequest;
};

export type BillingChoosePayoutMethodAnswer = PayoutMethod;

/** Choose where payouts go: `PUT /api/v0/billing/payout_method/` */
export function billingChoosePayoutMethod(client: Client, input: BillingChoosePayoutMethodInput, options?: CallOptions): Promise<BillingChoosePayoutMethodAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/billing/payout_method/", body: input.body ?? {} }, options);
}

export type BillingPayoutsInput = {
  readonly query?: {
    readonly limit?: number;
    readonly before_id?: number;
  };
};

export type BillingPayoutsAnswer = BillingPayoutsResponse;

/** Show payouts: `GET /api/v0/billing/payouts/` */
export function billingPayouts(client: Client, input: BillingPayoutsInput = {}, options?: CallOptions): Promise<BillingPayoutsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/billing/payouts/", query: input.query }, options);
}

export type OfferSearchInput = {
  readonly body?: OfferSearch;
};

export type OfferSearchAnswer = Offers;

/** Search offers: `POST /api/v0/bundles/` */
export function offerSearch(client: Client, input: OfferSearchInput = {}, options?: CallOptions): Promise<OfferSearchAnswer> {
  return client.request({ method: "POST", path: "/api/v0/bundles/", body: input.body ?? {} }, options);
}

export type OfferQueryInput = {
  readonly query?: {
    readonly q?: string;
    readonly select_cols?: string;
  };
};

export type OfferQueryAnswer = OfferQueryResponse;

/** Search offers by a query text or JSON: `GET /api/v0/bundles/` */
export function offerQuery(client: Client, input: OfferQueryInput = {}, options?: CallOptions): Promise<OfferQueryAnswer> {
  return client.request({ method: "GET", path: "/api/v0/bundles/", query: input.query }, options);
}

export type OfferUpdateBundleInput = {
  readonly id: string;
  readonly body?: OfferUpdateBundleRequest;
};

export type OfferUpdateBundleAnswer = Readonly<Record<string, unknown>>;

/** Ask about a bundle: switched off: `PUT /api/v0/bundles/{id}/` */
export function offerUpdateBundle(client: Client, input: OfferUpdateBundleInput, options?: CallOptions): Promise<OfferUpdateBundleAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/bundles/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type OfferSuggestBidInput = {
  readonly id: string;
  readonly body?: OfferSuggestBidRequest;
};

export type OfferSuggestBidAnswer = number;

/** Suggest a bid for a bundle: `PUT /api/v0/bundles_bid_price/{id}/` */
export function offerSuggestBid(client: Client, input: OfferSuggestBidInput, options?: CallOptions): Promise<OfferSuggestBidAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/bundles_bid_price/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type CapListAnswer = CapListResponse;

/** Show the limits on spending: `GET /api/v0/caps/` */
export function capList(client: Client, options?: CallOptions): Promise<CapListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/caps/" }, options);
}

export type CapSetInput = {
  readonly body: CapSetRequest;
};

export type CapSetAnswer = CapSetResponse;

/** Limit what is spent in a period by the account, a key, an endpoint group or an instance: `PUT /api/v0/caps/` */
export function capSet(client: Client, input: CapSetInput, options?: CallOptions): Promise<CapSetAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/caps/", body: input.body ?? {} }, options);
}

export type CapRemoveInput = {
  readonly id: number;
};

export type CapRemoveAnswer = Message;

/** Remove a limit on spending: `DELETE /api/v0/caps/{id}/` */
export function capRemove(client: Client, input: CapRemoveInput, options?: CallOptions): Promise<CapRemoveAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/caps/${encodeURIComponent(input.id)}/` }, options);
}

export type BillingChargesInput = {
  readonly query?: {
    readonly select_filters?: string;
    readonly format?: string;
    readonly latest_first?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type BillingChargesAnswer = BillingChargesResponse;

/** List charges by day, or every charge line: `GET /api/v0/charges/` */
export function billingCharges(client: Client, input: BillingChargesInput = {}, options?: CallOptions): Promise<BillingChargesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/charges/", query: input.query }, options);
}

export type BillingChargesChartInput = {
  readonly query?: {
    readonly select_filters?: string;
  };
};

export type BillingChargesChartAnswer = BillingChargesChartResponse;

/** Show the charges of every day of a window: `GET /api/v0/charges/chart/` */
export function billingChargesChart(client: Client, input: BillingChargesChartInput = {}, options?: CallOptions): Promise<BillingChargesChartAnswer> {
  return client.request({ method: "GET", path: "/api/v0/charges/chart/", query: input.query }, options);
}

export type BillingExportChargesInput = {
  readonly query?: {
    readonly from?: string;
    readonly to?: string;
  };
};

export type BillingExportChargesAnswer = Uint8Array;

/** Export every charge line as CSV: `GET /api/v0/charges/export/` */
export function billingExportCharges(client: Client, input: BillingExportChargesInput = {}, options?: CallOptions): Promise<BillingExportChargesAnswer> {
  return client.download({ method: "GET", path: "/api/v0/charges/export/", query: input.query }, options);
}

export type BillingSpendForecastAnswer = BillingSpendForecastResponse;

/** Forecast this month's spending and when the balance is used up: `GET /api/v0/charges/forecast/` */
export function billingSpendForecast(client: Client, options?: CallOptions): Promise<BillingSpendForecastAnswer> {
  return client.request({ method: "GET", path: "/api/v0/charges/forecast/" }, options);
}

export type BillingSpendDaysInput = {
  readonly query?: {
    readonly by?: "instance" | "label" | "endpoint" | "person" | "key" | "kind";
    readonly days?: number;
  };
};

export type BillingSpendDaysAnswer = BillingSpendDaysResponse;

/** Show spending by day, split by instance, label, endpoint, person, key or kind: `GET /api/v0/charges/split/` */
export function billingSpendDays(client: Client, input: BillingSpendDaysInput = {}, options?: CallOptions): Promise<BillingSpendDaysAnswer> {
  return client.request({ method: "GET", path: "/api/v0/charges/split/", query: input.query }, options);
}

export type ClusterCreateInput = {
  readonly body: ClusterCreateRequest;
};

export type ClusterCreateAnswer = unknown;

/** Create a cluster: not built yet: `POST /api/v0/cluster/` */
export function clusterCreate(client: Client, input: ClusterCreateInput, options?: CallOptions): Promise<ClusterCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/cluster/", body: input.body ?? {} }, options);
}

export type ClusterJoinInput = {
  readonly body: ClusterJoinRequest;
};

export type ClusterJoinAnswer = unknown;

/** Add machines to a cluster: not built yet: `PUT /api/v0/cluster/` */
export function clusterJoin(client: Client, input: ClusterJoinInput, options?: CallOptions): Promise<ClusterJoinAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/cluster/", body: input.body ?? {} }, options);
}

export type ClusterDeleteInput = {
  readonly body: ClusterDeleteRequest;
};

export type ClusterDeleteAnswer = unknown;

/** Delete a cluster: not built yet: `DELETE /api/v0/cluster/` */
export function clusterDelete(client: Client, input: ClusterDeleteInput, options?: CallOptions): Promise<ClusterDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/cluster/", body: input.body ?? {} }, options);
}

export type ClusterRemoveMachineInput = {
  readonly body: ClusterRemoveMachineRequest;
};

export type ClusterRemoveMachineAnswer = unknown;

/** Take a machine out of a cluster: not built yet: `DELETE /api/v0/cluster/remove_machine/` */
export function clusterRemoveMachine(client: Client, input: ClusterRemoveMachineInput, options?: CallOptions): Promise<ClusterRemoveMachineAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/cluster/remove_machine/", body: input.body ?? {} }, options);
}

export type ClusterListAnswer = ClusterListResponse;

/** List own clusters: `GET /api/v0/clusters/` */
export function clusterList(client: Client, options?: CallOptions): Promise<ClusterListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/clusters/" }, options);
}

export type CopyStartInput = {
  readonly body?: CopyRequest;
};

export type CopyStartAnswer = CopyStarted;

/** Copy between instances, volumes, backups and the own computer: `PUT /api/v0/commands/copy_direct/` */
export function copyStart(client: Client, input: CopyStartInput = {}, options?: CallOptions): Promise<CopyStartAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/commands/copy_direct/", body: input.body ?? {} }, options);
}

export type CopyCancelInput = {
  readonly body?: CopyCancellation;
};

export type CopyCancelAnswer = Done;

/** Cancel the copies to an instance or volume: `DELETE /api/v0/commands/copy_direct/` */
export function copyCancel(client: Client, input: CopyCancelInput = {}, options?: CallOptions): Promise<CopyCancelAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/commands/copy_direct/", body: input.body ?? {} }, options);
}

export type CopySizeInput = {
  readonly body?: CopySizeRequest;
};

export type CopySizeAnswer = CopySizeResponse;

/** Measure what a copy would read: `POST /api/v0/commands/get_copy_size/` */
export function copySize(client: Client, input: CopySizeInput = {}, options?: CallOptions): Promise<CopySizeAnswer> {
  return client.request({ method: "POST", path: "/api/v0/commands/get_copy_size/", body: input.body ?? {} }, options);
}

export type CloudCopyInput = {
  readonly body?: CloudCopyRequest;
};

export type CloudCopyAnswer = CloudCopyResponse;

/** Copy from or to a cloud storage: `POST /api/v0/commands/rclone/` */
export function cloudCopy(client: Client, input: CloudCopyInput = {}, options?: CallOptions): Promise<CloudCopyAnswer> {
  return client.request({ method: "POST", path: "/api/v0/commands/rclone/", body: input.body ?? {} }, options);
}

export type CloudCancelCopyInput = {
  readonly body: CloudCancelCopyRequest;
};

export type CloudCancelCopyAnswer = Done;

/** Cancel the cloud copies of an instance or volume: `DELETE /api/v0/commands/rclone/` */
export function cloudCancelCopy(client: Client, input: CloudCancelCopyInput, options?: CallOptions): Promise<CloudCancelCopyAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/commands/rclone/", body: input.body ?? {} }, options);
}

export type ApikeyResetAnswer = ApikeyResetResponse;

/** Replace the calling API key: `PUT /api/v0/commands/reset_apikey/` */
export function apikeyReset(client: Client, options?: CallOptions): Promise<ApikeyResetAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/commands/reset_apikey/" }, options);
}

export type ScheduleListAnswer = readonly ScheduledJob[];

/** List scheduled jobs: `GET /api/v0/commands/schedule_job/` */
export function scheduleList(client: Client, options?: CallOptions): Promise<ScheduleListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/commands/schedule_job/" }, options);
}

export type ScheduleCreateInput = {
  readonly body: ScheduleCreateRequest;
};

export type ScheduleCreateAnswer = ScheduleCreateResponse;

/** Schedule a request: `POST /api/v0/commands/schedule_job/` */
export function scheduleCreate(client: Client, input: ScheduleCreateInput, options?: CallOptions): Promise<ScheduleCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/commands/schedule_job/", body: input.body ?? {} }, options);
}

export type ScheduleUpdateInput = {
  readonly id: number;
  readonly body?: ScheduleUpdateRequest;
};

export type ScheduleUpdateAnswer = ScheduleUpdateResponse;

/** Change a scheduled job: `PUT /api/v0/commands/schedule_job/{id}/` */
export function scheduleUpdate(client: Client, input: ScheduleUpdateInput, options?: CallOptions): Promise<ScheduleUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/commands/schedule_job/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type ScheduleDeleteInput = {
  readonly id: number;
};

export type ScheduleDeleteAnswer = Message;

/** Delete a scheduled job: `DELETE /api/v0/commands/schedule_job/{id}/` */
export function scheduleDelete(client: Client, input: ScheduleDeleteInput, options?: CallOptions): Promise<ScheduleDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/commands/schedule_job/${encodeURIComponent(input.id)}/` }, options);
}

export type ScheduleRunsInput = {
  readonly id: number;
  readonly query?: {
    readonly limit?: number;
  };
};

export type ScheduleRunsAnswer = readonly ScheduledRun[];

/** List the runs of a scheduled job: `GET /api/v0/commands/schedule_job/{id}/runs/` */
export function scheduleRuns(client: Client, input: ScheduleRunsInput, options?: CallOptions): Promise<ScheduleRunsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/commands/schedule_job/${encodeURIComponent(input.id)}/runs/`, query: input.query }, options);
}

export type BillingTransferCreditInput = {
  readonly body: BillingTransferCreditRequest;
};

export type BillingTransferCreditAnswer = Success;

/** Transfer credit: `PUT /api/v0/commands/transfer_credit/` */
export function billingTransferCredit(client: Client, input: BillingTransferCreditInput, options?: CallOptions): Promise<BillingTransferCreditAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/commands/transfer_credit/", body: input.body ?? {} }, options);
}

export type BillingFetchContractsInput = {
  readonly body?: BillingFetchContractsRequest;
};

export type BillingFetchContractsAnswer = BillingFetchContractsResponse;

/** Find contracts by their label: `POST /api/v0/contracts/fetch/` */
export function billingFetchContracts(client: Client, input: BillingFetchContractsInput = {}, options?: CallOptions): Promise<BillingFetchContractsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/contracts/fetch/", body: input.body ?? {} }, options);
}

export type DeploymentShowInput = {
  readonly id: number;
};

export type DeploymentShowAnswer = DeploymentShowResponse;

/** Show a deployment: `GET /api/v0/deployment/{id}/` */
export function deploymentShow(client: Client, input: DeploymentShowInput, options?: CallOptions): Promise<DeploymentShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/` }, options);
}

export type DeploymentDeleteInput = {
  readonly id: number;
};

export type DeploymentDeleteAnswer = Success;

/** Delete a deployment with its endpoint and workers: `DELETE /api/v0/deployment/{id}/` */
export function deploymentDelete(client: Client, input: DeploymentDeleteInput, options?: CallOptions): Promise<DeploymentDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/` }, options);
}

export type DeploymentDownloadInput = {
  readonly id: number;
};

export type DeploymentDownloadAnswer = DeploymentDownloadResponse;

/** Get an address of the code that workers run: `GET /api/v0/deployment/{id}/download_url/` */
export function deploymentDownload(client: Client, input: DeploymentDownloadInput, options?: CallOptions): Promise<DeploymentDownloadAnswer> {
  return client.request({ method: "GET", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/download_url/` }, options);
}

export type DeploymentHeartbeatInput = {
  readonly id: number;
};

export type DeploymentHeartbeatAnswer = DeploymentHeartbeatResponse;

/** Say that the client of a deployment is there: `POST /api/v0/deployment/{id}/heartbeat/` */
export function deploymentHeartbeat(client: Client, input: DeploymentHeartbeatInput, options?: CallOptions): Promise<DeploymentHeartbeatAnswer> {
  return client.request({ method: "POST", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/heartbeat/` }, options);
}

export type DeploymentStartInput = {
  readonly id: number;
};

export type DeploymentStartAnswer = DeploymentState;

/** Start a deployment's endpoint: `POST /api/v0/deployment/{id}/start/` */
export function deploymentStart(client: Client, input: DeploymentStartInput, options?: CallOptions): Promise<DeploymentStartAnswer> {
  return client.request({ method: "POST", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/start/` }, options);
}

export type DeploymentStopInput = {
  readonly id: number;
};

export type DeploymentStopAnswer = DeploymentState;

/** Stop a deployment's endpoint: `POST /api/v0/deployment/{id}/stop/` */
export function deploymentStop(client: Client, input: DeploymentStopInput, options?: CallOptions): Promise<DeploymentStopAnswer> {
  return client.request({ method: "POST", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/stop/` }, options);
}

export type DeploymentVersionsInput = {
  readonly id: number;
};

export type DeploymentVersionsAnswer = DeploymentVersionsResponse;

/** Show the versions of a deployment, newest first: `GET /api/v0/deployment/{id}/versions/` */
export function deploymentVersions(client: Client, input: DeploymentVersionsInput, options?: CallOptions): Promise<DeploymentVersionsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/deployment/${encodeURIComponent(input.id)}/versions/` }, options);
}

export type DeploymentListAnswer = DeploymentListResponse;

/** Show own deployments: `GET /api/v0/deployments/` */
export function deploymentList(client: Client, options?: CallOptions): Promise<DeploymentListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/deployments/" }, options);
}

export type DeploymentDeployInput = {
  readonly body: DeploymentDeployRequest;
};

export type DeploymentDeployAnswer = DeploymentDeployResponse;

/** Make a deployment, or make it what is said here: `PUT /api/v0/deployments/` */
export function deploymentDeploy(client: Client, input: DeploymentDeployInput, options?: CallOptions): Promise<DeploymentDeployAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/deployments/", body: input.body ?? {} }, options);
}

export type DeploymentDeleteNamedInput = {
  readonly body: DeploymentDeleteNamedRequest;
};

export type DeploymentDeleteNamedAnswer = DeploymentDeleteNamedResponse;

/** Delete deployments by name, with their endpoints and workers: `DELETE /api/v0/deployments/` */
export function deploymentDeleteNamed(client: Client, input: DeploymentDeleteNamedInput, options?: CallOptions): Promise<DeploymentDeleteNamedAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/deployments/", body: input.body ?? {} }, options);
}

export type TemplateDockerTagsInput = {
  readonly query?: {
    readonly image?: string;
    readonly server?: string;
  };
};

export type TemplateDockerTagsAnswer = TemplateDockerTagsResponse;

/** List the tags of a public image: `GET /api/v0/docker/tags/` */
export function templateDockerTags(client: Client, input: TemplateDockerTagsInput = {}, options?: CallOptions): Promise<TemplateDockerTagsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/docker/tags/", query: input.query }, options);
}

export type EndpointCreateInput = {
  readonly body?: EndpointSettings;
};

export type EndpointCreateAnswer = EndpointCreateResponse;

/** Create an endpoint group: `POST /api/v0/endptjobs/` */
export function endpointCreate(client: Client, input: EndpointCreateInput = {}, options?: CallOptions): Promise<EndpointCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/endptjobs/", body: input.body ?? {} }, options);
}

export type EndpointListAnswer = EndpointListResponse;

/** Show own endpoint groups: `GET /api/v0/endptjobs/` */
export function endpointList(client: Client, options?: CallOptions): Promise<EndpointListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/endptjobs/" }, options);
}

export type EndpointUpdateInput = {
  readonly id: number;
  readonly body?: EndpointSettings;
};

export type EndpointUpdateAnswer = Success;

/** Change an endpoint group: `PUT /api/v0/endptjobs/{id}/` */
export function endpointUpdate(client: Client, input: EndpointUpdateInput, options?: CallOptions): Promise<EndpointUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type EndpointDeleteInput = {
  readonly id: number;
};

export type EndpointDeleteAnswer = RemovedWorkers;

/** Delete an endpoint group with its workers: `DELETE /api/v0/endptjobs/{id}/` */
export function endpointDelete(client: Client, input: EndpointDeleteInput, options?: CallOptions): Promise<EndpointDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/` }, options);
}

export type EndpointShowInput = {
  readonly id: number;
};

export type EndpointShowAnswer = EndpointShowResponse;

/** Show an endpoint group: `GET /api/v0/endptjobs/{id}/` */
export function endpointShow(client: Client, input: EndpointShowInput, options?: CallOptions): Promise<EndpointShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/` }, options);
}

export type EndpointEventsInput = {
  readonly id: number;
  readonly query?: {
    readonly level?: number;
    readonly limit?: number;
    readonly before?: number;
  };
};

export type EndpointEventsAnswer = EndpointEventsResponse;

/** Show what happened in an endpoint group and why: `GET /api/v0/endptjobs/{id}/events/` */
export function endpointEvents(client: Client, input: EndpointEventsInput, options?: CallOptions): Promise<EndpointEventsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/events/`, query: input.query }, options);
}

export type EndpointHistoryInput = {
  readonly id: number;
  readonly query?: {
    readonly from?: number;
    readonly to?: number;
    readonly step?: number;
  };
};

export type EndpointHistoryAnswer = EndpointHistoryResponse;

/** Show load, capacity, workers and decisions of an endpoint over time: `GET /api/v0/endptjobs/{id}/history/` */
export function endpointHistory(client: Client, input: EndpointHistoryInput, options?: CallOptions): Promise<EndpointHistoryAnswer> {
  return client.request({ method: "GET", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/history/`, query: input.query }, options);
}

export type EndpointSimulateInput = {
  readonly id: number;
  readonly body?: EndpointSimulateRequest;
};

export type EndpointSimulateAnswer = EndpointSimulateResponse;

/** Compare other parameters with the present ones on an endpoint group's own past, or on a trace: `POST /api/v0/endptjobs/{id}/simulate/` */
export function endpointSimulate(client: Client, input: EndpointSimulateInput, options?: CallOptions): Promise<EndpointSimulateAnswer> {
  return client.request({ method: "POST", path: `/api/v0/endptjobs/${encodeURIComponent(input.id)}/simulate/`, body: input.body ?? {} }, options);
}

export type EventFollowInput = {
  readonly query?: {
    readonly kinds?: string;
    readonly follow?: boolean;
    readonly last_event_id?: string;
  };
};

export type EventFollowAnswer = Uint8Array;

/** Follow changes as they happen: `GET /api/v0/events/` */
export function eventFollow(client: Client, input: EventFollowInput = {}, options?: CallOptions): Promise<EventFollowAnswer> {
  return client.download({ method: "GET", path: "/api/v0/events/", query: input.query }, options);
}

export type OfferGpuNamesAnswer = OfferGpuNamesResponse;

/** Names of GPUs on the market: `GET /api/v0/gpu_names/unique/` */
export function offerGpuNames(client: Client, options?: CallOptions): Promise<OfferGpuNamesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/gpu_names/unique/" }, options);
}

export type MetricsGpuPricesAnswer = MetricsGpuPricesResponse;

/** What GPUs cost now and a day ago: `GET /api/v0/gpu_prices/` */
export function metricsGpuPrices(client: Client, options?: CallOptions): Promise<MetricsGpuPricesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/gpu_prices/" }, options);
}

export type OfferGpuTypesAnswer = OfferGpuTypesResponse;

/** GPUs on the market and their memory: `GET /api/v0/gpu_types/` */
export function offerGpuTypes(client: Client, options?: CallOptions): Promise<OfferGpuTypesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/gpu_types/" }, options);
}

export type OfferGpuTypeInput = {
  readonly id: string;
};

export type OfferGpuTypeAnswer = GpuType;

/** A GPU on the market and its memory: `GET /api/v0/gpu_types/{id}/` */
export function offerGpuType(client: Client, input: OfferGpuTypeInput, options?: CallOptions): Promise<OfferGpuTypeAnswer> {
  return client.request({ method: "GET", path: `/api/v0/gpu_types/${encodeURIComponent(input.id)}/` }, options);
}

export type HostListAnswer = HostListResponse;

/** Show own agents and their machines: `GET /api/v0/hosts/credentials/` */
export function hostList(client: Client, options?: CallOptions): Promise<HostListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/hosts/credentials/" }, options);
}

export type HostRevokeInput = {
  readonly id: string;
};

export type HostRevokeAnswer = Message;

/** Revoke the credential of a machine that joined: `DELETE /api/v0/hosts/credentials/{id}/` */
export function hostRevoke(client: Client, input: HostRevokeInput, options?: CallOptions): Promise<HostRevokeAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/hosts/credentials/${encodeURIComponent(input.id)}/` }, options);
}

export type HostFlagListInput = {
  readonly query?: {
    readonly open?: "true" | "false";
  };
};

export type HostFlagListAnswer = HostFlags;

/** Show own flags: `GET /api/v0/hosts/flags/` */
export function hostFlagList(client: Client, input: HostFlagListInput = {}, options?: CallOptions): Promise<HostFlagListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/hosts/flags/", query: input.query }, options);
}

export type HostTokenCreateInput = {
  readonly body?: HostTokenCreateRequest;
};

export type HostTokenCreateAnswer = HostTokenCreateResponse;

/** Create a join token, with which one machine can join: `POST /api/v0/hosts/tokens/` */
export function hostTokenCreate(client: Client, input: HostTokenCreateInput = {}, options?: CallOptions): Promise<HostTokenCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/hosts/tokens/", body: input.body ?? {} }, options);
}

export type HostTokenListAnswer = HostTokenListResponse;

/** Show own join tokens: `GET /api/v0/hosts/tokens/` */
export function hostTokenList(client: Client, options?: CallOptions): Promise<HostTokenListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/hosts/tokens/" }, options);
}

export type HostTokenDeleteInput = {
  readonly id: string;
};

export type HostTokenDeleteAnswer = Message;

/** Delete a join token: `DELETE /api/v0/hosts/tokens/{id}/` */
export function hostTokenDelete(client: Client, input: HostTokenDeleteInput, options?: CallOptions): Promise<HostTokenDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/hosts/tokens/${encodeURIComponent(input.id)}/` }, options);
}

export type BackupListInput = {
  readonly query?: {
    readonly contract_id?: number;
  };
};

export type BackupListAnswer = BackupListResponse;

/** List backups of instances and volumes: `GET /api/v0/instance_backups/` */
export function backupList(client: Client, input: BackupListInput = {}, options?: CallOptions): Promise<BackupListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instance_backups/", query: input.query }, options);
}

export type BackupFilesInput = {
  readonly contract_id: number;
};

export type BackupFilesAnswer = BackupFilesResponse;

/** List the files of a backup: `GET /api/v0/instance_backups/{contract_id}/download/` */
export function backupFiles(client: Client, input: BackupFilesInput, options?: CallOptions): Promise<BackupFilesAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instance_backups/${encodeURIComponent(input.contract_id)}/download/` }, options);
}

export type InstanceListAnswer = InstanceListResponse;

/** List all instances: `GET /api/v0/instances/` */
export function instanceList(client: Client, options?: CallOptions): Promise<InstanceListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instances/" }, options);
}

export type InstanceUpdateBulkInput = {
  readonly body: InstanceUpdateBulkRequest;
};

export type InstanceUpdateBulkAnswer = InstanceChanges;

/** Start or stop each of these instances: `PUT /api/v0/instances/` */
export function instanceUpdateBulk(client: Client, input: InstanceUpdateBulkInput, options?: CallOptions): Promise<InstanceUpdateBulkAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/instances/", body: input.body ?? {} }, options);
}

export type InstanceDestroyBulkInput = {
  readonly body: InstanceDestroyBulkRequest;
};

export type InstanceDestroyBulkAnswer = InstanceChanges;

/** Destroy each of these instances: `DELETE /api/v0/instances/` */
export function instanceDestroyBulk(client: Client, input: InstanceDestroyBulkInput, options?: CallOptions): Promise<InstanceDestroyBulkAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/instances/", body: input.body ?? {} }, options);
}

export type InstanceAcceptPriceIncreaseInput = {
  readonly body: PriceIncreaseChoice;
};

export type InstanceAcceptPriceIncreaseAnswer = PriceIncreaseAnswer;

/** Accept a price increase: the rental goes on past its end date: `PUT /api/v0/instances/accept-price-increase/` */
export function instanceAcceptPriceIncrease(client: Client, input: InstanceAcceptPriceIncreaseInput, options?: CallOptions): Promise<InstanceAcceptPriceIncreaseAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/instances/accept-price-increase/", body: input.body ?? {} }, options);
}

export type InstanceDepositInput = {
  readonly id: number;
};

export type InstanceDepositAnswer = InstanceDepositResponse;

/** Show the deposit of an instance: `GET /api/v0/instances/balance/{id}/` */
export function instanceDeposit(client: Client, input: InstanceDepositInput, options?: CallOptions): Promise<InstanceDepositAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/balance/${encodeURIComponent(input.id)}/` }, options);
}

export type InstanceChangeBidInput = {
  readonly id: number;
  readonly body: InstanceChangeBidRequest;
};

export type InstanceChangeBidAnswer = Success;

/** Change the bid of an interruptible instance: `PUT /api/v0/instances/bid_price/{id}/` */
export function instanceChangeBid(client: Client, input: InstanceChangeBidInput, options?: CallOptions): Promise<InstanceChangeBidAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/bid_price/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceExecuteInput = {
  readonly id: number;
  readonly body: InstanceExecuteRequest;
};

export type InstanceExecuteAnswer = InstanceExecuteResponse;

/** Run ls, rm or du in the files of an instance: `PUT /api/v0/instances/command/{id}/` */
export function instanceExecute(client: Client, input: InstanceExecuteInput, options?: CallOptions): Promise<InstanceExecuteAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/command/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceCountAnswer = InstanceCountResponse;

/** Count own instances: `GET /api/v0/instances/count/` */
export function instanceCount(client: Client, options?: CallOptions): Promise<InstanceCountAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instances/count/" }, options);
}

export type InstanceFiltersAnswer = InstanceFiltersResponse;

/** List the values by which the caller's instances can be filtered: `GET /api/v0/instances/filters/` */
export function instanceFilters(client: Client, options?: CallOptions): Promise<InstanceFiltersAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instances/filters/" }, options);
}

export type InstanceSparksInput = {
  readonly query?: {
    readonly ids?: string;
  };
};

export type InstanceSparksAnswer = InstanceSparksResponse;

/** Show the last hour of your instances: `GET /api/v0/instances/measurements/latest/` */
export function instanceSparks(client: Client, input: InstanceSparksInput = {}, options?: CallOptions): Promise<InstanceSparksAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instances/measurements/latest/", query: input.query }, options);
}

export type InstanceListPriceIncreasesAnswer = InstanceListPriceIncreasesResponse;

/** List the price increases that hosts offer for a later end: `GET /api/v0/instances/pending-price-increases/` */
export function instanceListPriceIncreases(client: Client, options?: CallOptions): Promise<InstanceListPriceIncreasesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/instances/pending-price-increases/" }, options);
}

export type InstancePrepayInput = {
  readonly id: number;
  readonly body: InstancePrepayRequest;
};

export type InstancePrepayAnswer = InstancePrepayResponse;

/** Reserve an on-demand instance by paying in advance: `PUT /api/v0/instances/prepay/{id}/` */
export function instancePrepay(client: Client, input: InstancePrepayInput, options?: CallOptions): Promise<InstancePrepayAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/prepay/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceRebootInput = {
  readonly id: number;
};

export type InstanceRebootAnswer = Done;

/** Reboot an instance in place: `PUT /api/v0/instances/reboot/{id}/` */
export function instanceReboot(client: Client, input: InstanceRebootInput, options?: CallOptions): Promise<InstanceRebootAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/reboot/${encodeURIComponent(input.id)}/` }, options);
}

export type InstanceRecycleInput = {
  readonly id: number;
};

export type InstanceRecycleAnswer = Done;

/** Create the container of an instance again from its freshly pulled image: `PUT /api/v0/instances/recycle/{id}/` */
export function instanceRecycle(client: Client, input: InstanceRecycleInput, options?: CallOptions): Promise<InstanceRecycleAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/recycle/${encodeURIComponent(input.id)}/` }, options);
}

export type InstanceRejectPriceIncreaseInput = {
  readonly body: PriceIncreaseChoice;
};

export type InstanceRejectPriceIncreaseAnswer = PriceIncreaseAnswer;

/** Reject a price increase: the rental ends on its end date: `PUT /api/v0/instances/reject-price-increase/` */
export function instanceRejectPriceIncrease(client: Client, input: InstanceRejectPriceIncreaseInput, options?: CallOptions): Promise<InstanceRejectPriceIncreaseAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/instances/reject-price-increase/", body: input.body ?? {} }, options);
}

export type InstanceRequestLogsInput = {
  readonly id: number;
  readonly body?: InstanceRequestLogsRequest;
};

export type InstanceRequestLogsAnswer = InstanceRequestLogsResponse;

/** Fetch the logs of an instance: `PUT /api/v0/instances/request_logs/{id}/` */
export function instanceRequestLogs(client: Client, input: InstanceRequestLogsInput, options?: CallOptions): Promise<InstanceRequestLogsAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/request_logs/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceStartBulkInput = {
  readonly body: InstanceStartBulkRequest;
};

export type InstanceStartBulkAnswer = InstanceChanges;

/** Start each of these instances: `POST /api/v0/instances/start/` */
export function instanceStartBulk(client: Client, input: InstanceStartBulkInput, options?: CallOptions): Promise<InstanceStartBulkAnswer> {
  return client.request({ method: "POST", path: "/api/v0/instances/start/", body: input.body ?? {} }, options);
}

export type InstanceTakeSnapshotInput = {
  readonly id: number;
  readonly body?: InstanceTakeSnapshotRequest;
};

export type InstanceTakeSnapshotAnswer = Done;

/** Make an image of an instance and push it to a registry: `POST /api/v0/instances/take_snapshot/{id}/` */
export function instanceTakeSnapshot(client: Client, input: InstanceTakeSnapshotInput, options?: CallOptions): Promise<InstanceTakeSnapshotAnswer> {
  return client.request({ method: "POST", path: `/api/v0/instances/take_snapshot/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceUpdateTemplateInput = {
  readonly id: number;
  readonly body?: InstanceUpdateTemplateRequest;
};

export type InstanceUpdateTemplateAnswer = InstanceUpdateTemplateResponse;

/** Change image, environment and commands of an instance: `PUT /api/v0/instances/update_template/{id}/` */
export function instanceUpdateTemplate(client: Client, input: InstanceUpdateTemplateInput, options?: CallOptions): Promise<InstanceUpdateTemplateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/update_template/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceShowInput = {
  readonly id: number;
};

export type InstanceShowAnswer = InstanceShowResponse;

/** Show one instance; null when there is none: `GET /api/v0/instances/{id}/` */
export function instanceShow(client: Client, input: InstanceShowInput, options?: CallOptions): Promise<InstanceShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/` }, options);
}

export type InstanceUpdateInput = {
  readonly id: number;
  readonly body?: InstanceUpdateRequest;
};

export type InstanceUpdateAnswer = Done;

/** Start, stop or label an instance, or limit the cost of its traffic: `PUT /api/v0/instances/{id}/` */
export function instanceUpdate(client: Client, input: InstanceUpdateInput, options?: CallOptions): Promise<InstanceUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type InstanceDestroyInput = {
  readonly id: number;
};

export type InstanceDestroyAnswer = Done;

/** Destroy an instance: `DELETE /api/v0/instances/{id}/` */
export function instanceDestroy(client: Client, input: InstanceDestroyInput, options?: CallOptions): Promise<InstanceDestroyAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/instances/${encodeURIComponent(input.id)}/` }, options);
}

export type InstanceAcceptOwnPriceIncreaseInput = {
  readonly id: number;
  readonly body?: InstanceAcceptOwnPriceIncreaseRequest;
};

export type InstanceAcceptOwnPriceIncreaseAnswer = PriceIncreaseAnswer;

/** Accept the price increase of an instance: the rental goes on past its end date: `PUT /api/v0/instances/{id}/accept-price-increase/` */
export function instanceAcceptOwnPriceIncrease(client: Client, input: InstanceAcceptOwnPriceIncreaseInput, options?: CallOptions): Promise<InstanceAcceptOwnPriceIncreaseAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/${encodeURIComponent(input.id)}/accept-price-increase/`, body: input.body ?? {} }, options);
}

export type InstanceEventsInput = {
  readonly id: number;
  readonly query?: {
    readonly limit?: number;
  };
};

export type InstanceEventsAnswer = InstanceEventsResponse;

/** List the events of an instance, newest first: `GET /api/v0/instances/{id}/events/` */
export function instanceEvents(client: Client, input: InstanceEventsInput, options?: CallOptions): Promise<InstanceEventsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/events/`, query: input.query }, options);
}

export type InstanceListFilesInput = {
  readonly id: number;
  readonly query?: {
    readonly path?: string;
  };
};

export type InstanceListFilesAnswer = InstanceListFilesResponse;

/** List a folder of a running instance: `GET /api/v0/instances/{id}/files/` */
export function instanceListFiles(client: Client, input: InstanceListFilesInput, options?: CallOptions): Promise<InstanceListFilesAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/files/`, query: input.query }, options);
}

export type InstanceDeleteFileInput = {
  readonly id: number;
  readonly query: {
    readonly path: string;
  };
};

export type InstanceDeleteFileAnswer = InstanceDeleteFileResponse;

/** Delete a file, a link or an empty folder of a running instance: `DELETE /api/v0/instances/{id}/files/` */
export function instanceDeleteFile(client: Client, input: InstanceDeleteFileInput, options?: CallOptions): Promise<InstanceDeleteFileAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/instances/${encodeURIComponent(input.id)}/files/`, query: input.query }, options);
}

export type InstanceMakeFolderInput = {
  readonly id: number;
  readonly body: InstanceMakeFolderRequest;
};

export type InstanceMakeFolderAnswer = InstanceMakeFolderResponse;

/** Make a folder in a running instance: `POST /api/v0/instances/{id}/files/folders/` */
export function instanceMakeFolder(client: Client, input: InstanceMakeFolderInput, options?: CallOptions): Promise<InstanceMakeFolderAnswer> {
  return client.request({ method: "POST", path: `/api/v0/instances/${encodeURIComponent(input.id)}/files/folders/`, body: input.body ?? {} }, options);
}

export type InstanceFollowLogsInput = {
  readonly id: number;
  readonly query?: {
    readonly tail?: number;
    readonly follow?: boolean;
    readonly last_event_id?: string;
  };
};

export type InstanceFollowLogsAnswer = Uint8Array;

/** Follow the log of an instance: `GET /api/v0/instances/{id}/logs/` */
export function instanceFollowLogs(client: Client, input: InstanceFollowLogsInput, options?: CallOptions): Promise<InstanceFollowLogsAnswer> {
  return client.download({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/logs/`, query: input.query }, options);
}

export type InstanceMeasurementsInput = {
  readonly id: number;
  readonly query?: {
    readonly from?: string;
    readonly to?: string;
    readonly resolution?: string;
  };
};

export type InstanceMeasurementsAnswer = InstanceMeasurementsResponse;

/** Show the measurements of an instance over time: `GET /api/v0/instances/{id}/measurements/` */
export function instanceMeasurements(client: Client, input: InstanceMeasurementsInput, options?: CallOptions): Promise<InstanceMeasurementsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/measurements/`, query: input.query }, options);
}

export type InstanceAttachSshKeyInput = {
  readonly id: number;
  readonly body?: InstanceAttachSshKeyRequest;
};

export type InstanceAttachSshKeyAnswer = AttachedSshKey;

/** Attach an SSH key to an instance; it takes effect at once: `POST /api/v0/instances/{id}/ssh/` */
export function instanceAttachSshKey(client: Client, input: InstanceAttachSshKeyInput, options?: CallOptions): Promise<InstanceAttachSshKeyAnswer> {
  return client.request({ method: "POST", path: `/api/v0/instances/${encodeURIComponent(input.id)}/ssh/`, body: input.body ?? {} }, options);
}

export type InstancePutSshKeyInput = {
  readonly id: number;
  readonly body?: InstancePutSshKeyRequest;
};

export type InstancePutSshKeyAnswer = AttachedSshKey;

/** Attach an SSH key of the account to an instance, and show it: `PUT /api/v0/instances/{id}/ssh/` */
export function instancePutSshKey(client: Client, input: InstancePutSshKeyInput, options?: CallOptions): Promise<InstancePutSshKeyAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/instances/${encodeURIComponent(input.id)}/ssh/`, body: input.body ?? {} }, options);
}

export type InstanceListSshKeysInput = {
  readonly id: number;
};

export type InstanceListSshKeysAnswer = InstanceListSshKeysResponse;

/** Show the SSH keys of an instance: `GET /api/v0/instances/{id}/ssh/` */
export function instanceListSshKeys(client: Client, input: InstanceListSshKeysInput, options?: CallOptions): Promise<InstanceListSshKeysAnswer> {
  return client.request({ method: "GET", path: `/api/v0/instances/${encodeURIComponent(input.id)}/ssh/` }, options);
}

export type InstanceDetachSshKeyInput = {
  readonly id: number;
  readonly key_id: number;
};

export type InstanceDetachSshKeyAnswer = Message;

/** Remove an SSH key from an instance; it takes effect at once: `DELETE /api/v0/instances/{id}/ssh/{key_id}/` */
export function instanceDetachSshKey(client: Client, input: InstanceDetachSshKeyInput, options?: CallOptions): Promise<InstanceDetachSshKeyAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/instances/${encodeURIComponent(input.id)}/ssh/${encodeURIComponent(input.key_id)}/` }, options);
}

export type BillingListDocumentsInput = {
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type BillingListDocumentsAnswer = BillingListDocumentsResponse;

/** List monthly invoices: `GET /api/v0/invoice_documents/` */
export function billingListDocuments(client: Client, input: BillingListDocumentsInput = {}, options?: CallOptions): Promise<BillingListDocumentsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/invoice_documents/", query: input.query }, options);
}

export type BillingShowDocumentInput = {
  readonly number: string;
};

export type BillingShowDocumentAnswer = Invoice;

/** Show a monthly invoice: `GET /api/v0/invoice_documents/{number}/` */
export function billingShowDocument(client: Client, input: BillingShowDocumentInput, options?: CallOptions): Promise<BillingShowDocumentAnswer> {
  return client.request({ method: "GET", path: `/api/v0/invoice_documents/${encodeURIComponent(input.number)}/` }, options);
}

export type BillingShowDocumentPageInput = {
  readonly number: string;
};

export type BillingShowDocumentPageAnswer = Uint8Array;

/** Show a monthly invoice as a page: `GET /api/v0/invoice_documents/{number}/page/` */
export function billingShowDocumentPage(client: Client, input: BillingShowDocumentPageInput, options?: CallOptions): Promise<BillingShowDocumentPageAnswer> {
  return client.download({ method: "GET", path: `/api/v0/invoice_documents/${encodeURIComponent(input.number)}/page/` }, options);
}

export type BillingShowDocumentPdfInput = {
  readonly number: string;
};

export type BillingShowDocumentPdfAnswer = Uint8Array;

/** Show a monthly invoice as a PDF: `GET /api/v0/invoice_documents/{number}/pdf/` */
export function billingShowDocumentPdf(client: Client, input: BillingShowDocumentPdfInput, options?: CallOptions): Promise<BillingShowDocumentPdfAnswer> {
  return client.download({ method: "GET", path: `/api/v0/invoice_documents/${encodeURIComponent(input.number)}/pdf/` }, options);
}

export type BillingSearchInvoicesInput = {
  readonly query?: {
    readonly select_filters?: string;
    readonly select_cols?: string;
    readonly order_by?: string;
    readonly limit?: number;
  };
};

export type BillingSearchInvoicesAnswer = readonly MovementRecord[];

/** Search money movements: `GET /api/v0/invoices/` */
export function billingSearchInvoices(client: Client, input: BillingSearchInvoicesInput = {}, options?: CallOptions): Promise<BillingSearchInvoicesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/invoices/", query: input.query }, options);
}

export type BillingExportInvoicesInput = {
  readonly query?: {
    readonly from?: string;
    readonly to?: string;
  };
};

export type BillingExportInvoicesAnswer = Uint8Array;

/** Export money movements as CSV: `GET /api/v0/invoices/export/` */
export function billingExportInvoices(client: Client, input: BillingExportInvoicesInput = {}, options?: CallOptions): Promise<BillingExportInvoicesAnswer> {
  return client.download({ method: "GET", path: "/api/v0/invoices/export/", query: input.query }, options);
}

export type InstanceLaunchInput = {
  readonly body?: InstanceLaunchRequest;
};

export type InstanceLaunchAnswer = NewInstance;

/** Search offers and create an instance from the first that can be had: `PUT /api/v0/launch_instance/` */
export function instanceLaunch(client: Client, input: InstanceLaunchInput = {}, options?: CallOptions): Promise<InstanceLaunchAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/launch_instance/", body: input.body ?? {} }, options);
}

export type MachineListInput = {
  readonly query?: {
    readonly user_id?: string;
  };
};

export type MachineListAnswer = MachineListResponse;

/** Show own machines: `GET /api/v0/machines/` */
export function machineList(client: Client, input: MachineListInput = {}, options?: CallOptions): Promise<MachineListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/machines/", query: input.query }, options);
}

export type MachineCreateAsksInput = {
  readonly body?: MachineCreateAsksRequest;
};

export type MachineCreateAsksAnswer = MachineCreateAsksResponse;

/** List own machines for rent: `PUT /api/v0/machines/create_asks/` */
export function machineCreateAsks(client: Client, input: MachineCreateAsksInput = {}, options?: CallOptions): Promise<MachineCreateAsksAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/machines/create_asks/", body: input.body ?? {} }, options);
}

export type MachineCreateBidsInput = {
  readonly body: MachineCreateBidsRequest;
};

export type MachineCreateBidsAnswer = MachineCreateBidsResponse;

/** Set the default job of an own machine, which runs on its idle GPUs: `PUT /api/v0/machines/create_bids/` */
export function machineCreateBids(client: Client, input: MachineCreateBidsInput, options?: CallOptions): Promise<MachineCreateBidsAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/machines/create_bids/", body: input.body ?? {} }, options);
}

export type MachineDefragOffersInput = {
  readonly body: MachineDefragOffersRequest;
};

export type MachineDefragOffersAnswer = MachineDefragOffersResponse;

/** Build the offers of own machines again: `PUT /api/v0/machines/defrag_offers/` */
export function machineDefragOffers(client: Client, input: MachineDefragOffersInput, options?: CallOptions): Promise<MachineDefragOffersAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/machines/defrag_offers/", body: input.body ?? {} }, options);
}

export type MachineErrorsAnswer = readonly MachineError[];

/** Show own machines with errors: `GET /api/v0/machines/errors/` */
export function machineErrors(client: Client, options?: CallOptions): Promise<MachineErrorsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/machines/errors/" }, options);
}

export type MachineErrorCountAnswer = MachineErrorCountResponse;

/** Count own machines with errors: `GET /api/v0/machines/errors/count/` */
export function machineErrorCount(client: Client, options?: CallOptions): Promise<MachineErrorCountAnswer> {
  return client.request({ method: "GET", path: "/api/v0/machines/errors/count/" }, options);
}

export type MachineMaintenancesInput = {
  readonly query?: {
    readonly machine_ids?: string;
  };
};

export type MachineMaintenancesAnswer = readonly Maintenance[];

/** Show maintenances of machines that one hosts or rents on: `GET /api/v0/machines/maintenances/` */
export function machineMaintenances(client: Client, input: MachineMaintenancesInput = {}, options?: CallOptions): Promise<MachineMaintenancesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/machines/maintenances/", query: input.query }, options);
}

export type MachineFindMaintenancesInput = {
  readonly body: MachineFindMaintenancesRequest;
};

export type MachineFindMaintenancesAnswer = readonly Maintenance[];

/** Show maintenances of these machines, which one hosts or rents on: `POST /api/v0/machines/maintenances/` */
export function machineFindMaintenances(client: Client, input: MachineFindMaintenancesInput, options?: CallOptions): Promise<MachineFindMaintenancesAnswer> {
  return client.request({ method: "POST", path: "/api/v0/machines/maintenances/", body: input.body ?? {} }, options);
}

export type MachineCancelOneMaintenanceInput = {
  readonly body: MachineCancelOneMaintenanceRequest;
};

export type MachineCancelOneMaintenanceAnswer = Message;

/** Cancel one maintenance of an own machine: `DELETE /api/v0/machines/maintenances/` */
export function machineCancelOneMaintenance(client: Client, input: MachineCancelOneMaintenanceInput, options?: CallOptions): Promise<MachineCancelOneMaintenanceAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/machines/maintenances/", body: input.body ?? {} }, options);
}

export type MachineScheduleMaintenancesInput = {
  readonly body: MachineScheduleMaintenancesRequest;
};

export type MachineScheduleMaintenancesAnswer = MachineScheduleMaintenancesResponse;

/** Announce a maintenance of several own machines: `POST /api/v0/machines/maintenances/batch/` */
export function machineScheduleMaintenances(client: Client, input: MachineScheduleMaintenancesInput, options?: CallOptions): Promise<MachineScheduleMaintenancesAnswer> {
  return client.request({ method: "POST", path: "/api/v0/machines/maintenances/batch/", body: input.body ?? {} }, options);
}

export type MachineCancelMaintenancesInput = {
  readonly body: MachineCancelMaintenancesRequest;
};

export type MachineCancelMaintenancesAnswer = MachineCancelMaintenancesResponse;

/** Cancel several maintenances of own machines: `DELETE /api/v0/machines/maintenances/batch/` */
export function machineCancelMaintenances(client: Client, input: MachineCancelMaintenancesInput, options?: CallOptions): Promise<MachineCancelMaintenancesAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/machines/maintenances/batch/", body: input.body ?? {} }, options);
}

export type MachineShowInput = {
  readonly id: number;
};

export type MachineShowAnswer = readonly Machine[];

/** Show one own machine: a list of one, or of none: `GET /api/v0/machines/{id}/` */
export function machineShow(client: Client, input: MachineShowInput, options?: CallOptions): Promise<MachineShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/` }, options);
}

export type MachineDeleteAsksInput = {
  readonly id: number;
};

export type MachineDeleteAsksAnswer = MachineDeleteAsksResponse;

/** Unlist an own machine: `DELETE /api/v0/machines/{id}/asks/` */
export function machineDeleteAsks(client: Client, input: MachineDeleteAsksInput, options?: CallOptions): Promise<MachineDeleteAsksAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/machines/${encodeURIComponent(input.id)}/asks/` }, options);
}

export type MachineCalendarInput = {
  readonly id: number;
};

export type MachineCalendarAnswer = MachineCalendar;

/** Show when the GPUs of an own machine were rented, and until when they are: `GET /api/v0/machines/{id}/calendar/` */
export function machineCalendar(client: Client, input: MachineCalendarInput, options?: CallOptions): Promise<MachineCalendarAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/calendar/` }, options);
}

export type MachineCancelMaintenanceInput = {
  readonly id: number;
};

export type MachineCancelMaintenanceAnswer = MachineCancelMaintenanceResponse;

/** Cancel all maintenances of an own machine: `PUT /api/v0/machines/{id}/cancel_maint/` */
export function machineCancelMaintenance(client: Client, input: MachineCancelMaintenanceInput, options?: CallOptions): Promise<MachineCancelMaintenanceAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/machines/${encodeURIComponent(input.id)}/cancel_maint/` }, options);
}

export type MachineCleanupInput = {
  readonly id: number;
};

export type MachineCleanupAnswer = MachineCleanupResponse;

/** Remove what expired rentals left on an own machine: `PUT /api/v0/machines/{id}/cleanup/` */
export function machineCleanup(client: Client, input: MachineCleanupInput, options?: CallOptions): Promise<MachineCleanupAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/machines/${encodeURIComponent(input.id)}/cleanup/` }, options);
}

export type MachineDeleteDefaultJobInput = {
  readonly id: number;
};

export type MachineDeleteDefaultJobAnswer = MachineChange;

/** Remove the default job of an own machine: `DELETE /api/v0/machines/{id}/defjob/` */
export function machineDeleteDefaultJob(client: Client, input: MachineDeleteDefaultJobInput, options?: CallOptions): Promise<MachineDeleteDefaultJobAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/machines/${encodeURIComponent(input.id)}/defjob/` }, options);
}

export type MachineScheduleMaintenanceInput = {
  readonly id: number;
  readonly body: MachineScheduleMaintenanceRequest;
};

export type MachineScheduleMaintenanceAnswer = MachineScheduleMaintenanceResponse;

/** Announce a maintenance of an own machine: `PUT /api/v0/machines/{id}/dnotify/` */
export function machineScheduleMaintenance(client: Client, input: MachineScheduleMaintenanceInput, options?: CallOptions): Promise<MachineScheduleMaintenanceAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/machines/${encodeURIComponent(input.id)}/dnotify/`, body: input.body ?? {} }, options);
}

export type MachineForceDeleteInput = {
  readonly id: number;
};

export type MachineForceDeleteAnswer = Message;

/** Delete an own machine: `POST /api/v0/machines/{id}/force_delete/` */
export function machineForceDelete(client: Client, input: MachineForceDeleteInput, options?: CallOptions): Promise<MachineForceDeleteAnswer> {
  return client.request({ method: "POST", path: `/api/v0/machines/${encodeURIComponent(input.id)}/force_delete/` }, options);
}

export type MachineMeasurementsInput = {
  readonly id: number;
  readonly query?: {
    readonly from?: string;
    readonly to?: string;
    readonly resolution?: string;
  };
};

export type MachineMeasurementsAnswer = MachineMeasurementsResponse;

/** Show the measurements of a machine over time: `GET /api/v0/machines/{id}/measurements/` */
export function machineMeasurements(client: Client, input: MachineMeasurementsInput, options?: CallOptions): Promise<MachineMeasurementsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/measurements/`, query: input.query }, options);
}

export type MachineSetMinBidInput = {
  readonly id: number;
  readonly body: MachineSetMinBidRequest;
};

export type MachineSetMinBidAnswer = MachineSetMinBidResponse;

/** Set what bids on an own machine must reach: `PUT /api/v0/machines/{id}/minbid/` */
export function machineSetMinBid(client: Client, input: MachineSetMinBidInput, options?: CallOptions): Promise<MachineSetMinBidAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/machines/${encodeURIComponent(input.id)}/minbid/`, body: input.body ?? {} }, options);
}

export type MachinePriceHintInput = {
  readonly id: number;
};

export type MachinePriceHintAnswer = PriceHint;

/** Compare the price of an own machine with those of other hosts: `GET /api/v0/machines/{id}/price-hint/` */
export function machinePriceHint(client: Client, input: MachinePriceHintInput, options?: CallOptions): Promise<MachinePriceHintAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/price-hint/` }, options);
}

export type MachineReliabilityInput = {
  readonly id: string;
};

export type MachineReliabilityAnswer = MachineReliability;

/** Show how reliable a machine is, with all facts that this is computed from: `GET /api/v0/machines/{id}/reliability/` */
export function machineReliability(client: Client, input: MachineReliabilityInput, options?: CallOptions): Promise<MachineReliabilityAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/reliability/` }, options);
}

export type MachineReportInput = {
  readonly id: number;
  readonly body: MachineReportRequest;
};

export type MachineReportAnswer = Message;

/** Report a problem of a machine on which one rents, or did: `PUT /api/v0/machines/{id}/report/` */
export function machineReport(client: Client, input: MachineReportInput, options?: CallOptions): Promise<MachineReportAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/machines/${encodeURIComponent(input.id)}/report/`, body: input.body ?? {} }, options);
}

export type MachineReportsInput = {
  readonly id: number;
};

export type MachineReportsAnswer = readonly MachineReport[];

/** Show what renters reported of an own machine: `GET /api/v0/machines/{id}/reports/` */
export function machineReports(client: Client, input: MachineReportsInput, options?: CallOptions): Promise<MachineReportsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/reports/` }, options);
}

export type MachineVerificationInput = {
  readonly id: string;
};

export type MachineVerificationAnswer = MachineVerification;

/** Show whether an own machine is verified, and what is missing: `GET /api/v0/machines/{id}/verification/` */
export function machineVerification(client: Client, input: MachineVerificationInput, options?: CallOptions): Promise<MachineVerificationAnswer> {
  return client.request({ method: "GET", path: `/api/v0/machines/${encodeURIComponent(input.id)}/verification/` }, options);
}

export type MarketBidHistoryInput = {
  readonly query: {
    readonly gpu_name: string;
    readonly num_gpus?: number;
    readonly hours?: number;
    readonly price?: number;
  };
};

export type MarketBidHistoryAnswer = MarketBidHistoryResponse;

/** What a bid for any machine of a model would have done in the past days: `GET /api/v0/market/bid-history/` */
export function marketBidHistory(client: Client, input: MarketBidHistoryInput, options?: CallOptions): Promise<MarketBidHistoryAnswer> {
  return client.request({ method: "GET", path: "/api/v0/market/bid-history/", query: input.query }, options);
}

export type MarketHistoryInput = {
  readonly query: {
    readonly gpu_name: string;
    readonly num_gpus?: "all" | "1" | "2" | "4" | "8" | "other";
    readonly verified?: "yes" | "no" | "all";
    readonly days?: number;
  };
};

export type MarketHistoryAnswer = MarketHistoryResponse;

/** Prices and supply of one kind of GPU over time: `GET /api/v0/market/history/` */
export function marketHistory(client: Client, input: MarketHistoryInput, options?: CallOptions): Promise<MarketHistoryAnswer> {
  return client.request({ method: "GET", path: "/api/v0/market/history/", query: input.query }, options);
}

export type MetricsGpuCurrentInput = {
  readonly query?: {
    readonly verified?: "yes" | "no" | "all";
    readonly hosting_type?: "all" | "secure_cloud" | "community";
    readonly num_gpus?: "all" | "1" | "2" | "4" | "8" | "other";
  };
};

export type MetricsGpuCurrentAnswer = MetricsGpuCurrentResponse;

/** Supply, demand and prices of GPUs now: `GET /api/v0/metrics/gpu/current/` */
export function metricsGpuCurrent(client: Client, input: MetricsGpuCurrentInput = {}, options?: CallOptions): Promise<MetricsGpuCurrentAnswer> {
  return client.request({ method: "GET", path: "/api/v0/metrics/gpu/current/", query: input.query }, options);
}

export type MetricsGpuHistoryInput = {
  readonly query?: {
    readonly verified?: "yes" | "no" | "all";
    readonly hosting_type?: "all" | "secure_cloud" | "community";
    readonly num_gpus?: "all" | "1" | "2" | "4" | "8" | "other";
    readonly gpu_name?: string;
    readonly start?: string;
    readonly end?: string;
    readonly step?: string;
  };
};

export type MetricsGpuHistoryAnswer = MetricsGpuHistoryResponse;

/** Supply, demand and prices of GPUs over time: `GET /api/v0/metrics/gpu/history/` */
export function metricsGpuHistory(client: Client, input: MetricsGpuHistoryInput = {}, options?: CallOptions): Promise<MetricsGpuHistoryAnswer> {
  return client.request({ method: "GET", path: "/api/v0/metrics/gpu/history/", query: input.query }, options);
}

export type MetricsGpuLocationsAnswer = MetricsGpuLocationsResponse;

/** Where the GPUs are: `GET /api/v0/metrics/gpu/locations/` */
export function metricsGpuLocations(client: Client, options?: CallOptions): Promise<MetricsGpuLocationsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/metrics/gpu/locations/" }, options);
}

export type NetworkDiskListAnswer = NetworkDiskListResponse;

/** Show own network disks: `GET /api/v0/network_disk/` */
export function networkDiskList(client: Client, options?: CallOptions): Promise<NetworkDiskListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/network_disk/" }, options);
}

export type NetworkDiskMountInput = {
  readonly body: NetworkDiskMountRequest;
};

export type NetworkDiskMountAnswer = NetworkDiskMountResponse;

/** Say which own machines mount a network disk: `POST /api/v0/network_disk/` */
export function networkDiskMount(client: Client, input: NetworkDiskMountInput, options?: CallOptions): Promise<NetworkDiskMountAnswer> {
  return client.request({ method: "POST", path: "/api/v0/network_disk/", body: input.body ?? {} }, options);
}

export type NetworkVolumeListInput = {
  readonly body: NetworkVolumeListRequest;
};

export type NetworkVolumeListAnswer = NetworkVolumeListResponse;

/** List a network disk as a network volume, or update its listing: `POST /api/v0/network_volume/` */
export function networkVolumeList(client: Client, input: NetworkVolumeListInput, options?: CallOptions): Promise<NetworkVolumeListAnswer> {
  return client.request({ method: "POST", path: "/api/v0/network_volume/", body: input.body ?? {} }, options);
}

export type NetworkVolumeRentInput = {
  readonly body: VolumeRental;
};

export type NetworkVolumeRentAnswer = NewVolume;

/** Rent a network volume: `PUT /api/v0/network_volumes/` */
export function networkVolumeRent(client: Client, input: NetworkVolumeRentInput, options?: CallOptions): Promise<NetworkVolumeRentAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/network_volumes/", body: input.body ?? {} }, options);
}

export type NetworkVolumeSearchInput = {
  readonly query?: {
    readonly q?: string;
  };
  readonly body?: VolumeSearch;
};

export type NetworkVolumeSearchAnswer = VolumeOffers;

/** Search network volume offers: `POST /api/v0/network_volumes/search/` */
export function networkVolumeSearch(client: Client, input: NetworkVolumeSearchInput = {}, options?: CallOptions): Promise<NetworkVolumeSearchAnswer> {
  return client.request({ method: "POST", path: "/api/v0/network_volumes/search/", query: input.query, body: input.body ?? {} }, options);
}

export type NetworkVolumeUnlistInput = {
  readonly body: NetworkVolumeUnlistRequest;
};

export type NetworkVolumeUnlistAnswer = Message;

/** Unlist a network volume: `POST /api/v0/network_volumes/unlist/` */
export function networkVolumeUnlist(client: Client, input: NetworkVolumeUnlistInput, options?: CallOptions): Promise<NetworkVolumeUnlistAnswer> {
  return client.request({ method: "POST", path: "/api/v0/network_volumes/unlist/", body: input.body ?? {} }, options);
}

export type NoticeListInput = {
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
    readonly unread?: boolean;
  };
};

export type NoticeListAnswer = NoticeListResponse;

/** List own notifications, newest first: `GET /api/v0/notices/` */
export function noticeList(client: Client, input: NoticeListInput = {}, options?: CallOptions): Promise<NoticeListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/notices/", query: input.query }, options);
}

export type NoticeReadInput = {
  readonly body?: NoticeReadRequest;
};

export type NoticeReadAnswer = NoticeReadResponse;

/** Mark notifications as read: `PUT /api/v0/notices/` */
export function noticeRead(client: Client, input: NoticeReadInput = {}, options?: CallOptions): Promise<NoticeReadAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/notices/", body: input.body ?? {} }, options);
}

export type NotificationTypeListAnswer = NotificationTypeListResponse;

/** List notification types: `GET /api/v0/notification-types/` */
export function notificationTypeList(client: Client, options?: CallOptions): Promise<NotificationTypeListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/notification-types/" }, options);
}

export type OverlayListAnswer = readonly Overlay[];

/** List own overlay networks: `GET /api/v0/overlay/` */
export function overlayList(client: Client, options?: CallOptions): Promise<OverlayListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/overlay/" }, options);
}

export type OverlayCreateInput = {
  readonly body: OverlayCreateRequest;
};

export type OverlayCreateAnswer = unknown;

/** Create an overlay network: not built yet: `POST /api/v0/overlay/` */
export function overlayCreate(client: Client, input: OverlayCreateInput, options?: CallOptions): Promise<OverlayCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/overlay/", body: input.body ?? {} }, options);
}

export type OverlayJoinInput = {
  readonly body: OverlayJoinRequest;
};

export type OverlayJoinAnswer = unknown;

/** Add an instance to an overlay network: not built yet: `PUT /api/v0/overlay/` */
export function overlayJoin(client: Client, input: OverlayJoinInput, options?: CallOptions): Promise<OverlayJoinAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/overlay/", body: input.body ?? {} }, options);
}

export type OverlayDeleteInput = {
  readonly body?: OverlayDeleteRequest;
};

export type OverlayDeleteAnswer = unknown;

/** Delete an overlay network: not built yet: `DELETE /api/v0/overlay/` */
export function overlayDelete(client: Client, input: OverlayDeleteInput = {}, options?: CallOptions): Promise<OverlayDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/overlay/", body: input.body ?? {} }, options);
}

export type OfferQueryAsksInput = {
  readonly query?: {
    readonly q?: string;
    readonly select_cols?: string;
  };
};

export type OfferQueryAsksAnswer = OfferQueryAsksResponse;

/** Search offers by a query text or JSON: `GET /api/v0/search/asks/` */
export function offerQueryAsks(client: Client, input: OfferQueryAsksInput = {}, options?: CallOptions): Promise<OfferQueryAsksAnswer> {
  return client.request({ method: "GET", path: "/api/v0/search/asks/", query: input.query }, options);
}

export type OfferSearchAsksInput = {
  readonly body?: OfferSearchAsksRequest;
};

export type OfferSearchAsksAnswer = OfferSearchAsksResponse;

/** Search offers, chosen columns: `PUT /api/v0/search/asks/` */
export function offerSearchAsks(client: Client, input: OfferSearchAsksInput = {}, options?: CallOptions): Promise<OfferSearchAsksAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/search/asks/", body: input.body ?? {} }, options);
}

export type ClusterSearchInput = {
  readonly body?: ClusterSearchRequest;
};

export type ClusterSearchAnswer = ClusterSearchResponse;

/** Search offers of clusters: `PUT /api/v0/search/clusters/` */
export function clusterSearch(client: Client, input: ClusterSearchInput = {}, options?: CallOptions): Promise<ClusterSearchAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/search/clusters/", body: input.body ?? {} }, options);
}

export type SecretListAnswer = SecretListResponse;

/** Show own environment variables, masked: `GET /api/v0/secrets/` */
export function secretList(client: Client, options?: CallOptions): Promise<SecretListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/secrets/" }, options);
}

export type SecretCreateInput = {
  readonly body?: EnvironmentVariable;
};

export type SecretCreateAnswer = Message;

/** Add an environment variable for own containers: `POST /api/v0/secrets/` */
export function secretCreate(client: Client, input: SecretCreateInput = {}, options?: CallOptions): Promise<SecretCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/secrets/", body: input.body ?? {} }, options);
}

export type SecretUpdateInput = {
  readonly body?: EnvironmentVariable;
};

export type SecretUpdateAnswer = Message;

/** Change an environment variable for own containers: `PUT /api/v0/secrets/` */
export function secretUpdate(client: Client, input: SecretUpdateInput = {}, options?: CallOptions): Promise<SecretUpdateAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/secrets/", body: input.body ?? {} }, options);
}

export type SecretDeleteInput = {
  readonly body?: SecretDeleteRequest;
};

export type SecretDeleteAnswer = Message;

/** Delete an environment variable for own containers: `DELETE /api/v0/secrets/` */
export function secretDelete(client: Client, input: SecretDeleteInput = {}, options?: CallOptions): Promise<SecretDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/secrets/", body: input.body ?? {} }, options);
}

export type EndpointSpendInput = {
  readonly query?: {
    readonly start?: number;
    readonly end?: number;
  };
};

export type EndpointSpendAnswer = EndpointSpendResponse;

/** Show the spending of each endpoint group: `GET /api/v0/serverless/endpoints/spend/` */
export function endpointSpend(client: Client, input: EndpointSpendInput = {}, options?: CallOptions): Promise<EndpointSpendAnswer> {
  return client.request({ method: "GET", path: "/api/v0/serverless/endpoints/spend/", query: input.query }, options);
}

export type EndpointMetricsInput = {
  readonly body?: EndpointMetricsRequest;
};

export type EndpointMetricsAnswer = EndpointMetricsResponse;

/** Show requests, load and waiting times by period: `POST /api/v0/serverless/metrics/` */
export function endpointMetrics(client: Client, input: EndpointMetricsInput = {}, options?: CallOptions): Promise<EndpointMetricsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/serverless/metrics/", body: input.body ?? {} }, options);
}

export type WorkergroupSpendInput = {
  readonly query?: {
    readonly start?: number;
    readonly end?: number;
  };
};

export type WorkergroupSpendAnswer = WorkergroupSpendResponse;

/** Show the spending of each worker group: `GET /api/v0/serverless/workergroups/spend/` */
export function workergroupSpend(client: Client, input: WorkergroupSpendInput = {}, options?: CallOptions): Promise<WorkergroupSpendAnswer> {
  return client.request({ method: "GET", path: "/api/v0/serverless/workergroups/spend/", query: input.query }, options);
}

export type SshKeyCreateInput = {
  readonly body?: SshPublicKey;
};

export type SshKeyCreateAnswer = StoredSshKey;

/** Add an SSH key; one that is there already is answered again: `POST /api/v0/ssh/` */
export function sshKeyCreate(client: Client, input: SshKeyCreateInput = {}, options?: CallOptions): Promise<SshKeyCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/ssh/", body: input.body ?? {} }, options);
}

export type SshKeyListAnswer = readonly SshKey[];

/** Show own SSH keys: `GET /api/v0/ssh/` */
export function sshKeyList(client: Client, options?: CallOptions): Promise<SshKeyListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/ssh/" }, options);
}

export type SshKeyUpdateInput = {
  readonly id: string;
  readonly body?: SshPublicKey;
};

export type SshKeyUpdateAnswer = StoredSshKey;

/** Replace an SSH key; instances keep what they were made with: `PUT /api/v0/ssh/{id}/` */
export function sshKeyUpdate(client: Client, input: SshKeyUpdateInput, options?: CallOptions): Promise<SshKeyUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/ssh/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type SshKeyDeleteInput = {
  readonly id: string;
};

export type SshKeyDeleteAnswer = Success;

/** Delete an SSH key; instances keep what they were made with: `DELETE /api/v0/ssh/{id}/` */
export function sshKeyDelete(client: Client, input: SshKeyDeleteInput, options?: CallOptions): Promise<SshKeyDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/ssh/${encodeURIComponent(input.id)}/` }, options);
}

export type StandingRequestListAnswer = StandingRequestListResponse;

/** List standing requests, the newest first: `GET /api/v0/standing_requests/` */
export function standingRequestList(client: Client, options?: CallOptions): Promise<StandingRequestListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/standing_requests/" }, options);
}

export type StandingRequestCreateInput = {
  readonly body?: StandingRequestCreateRequest;
};

export type StandingRequestCreateAnswer = StandingRequestCreateResponse;

/** Create an instance as soon as an offer matches: `POST /api/v0/standing_requests/` */
export function standingRequestCreate(client: Client, input: StandingRequestCreateInput = {}, options?: CallOptions): Promise<StandingRequestCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/standing_requests/", body: input.body ?? {} }, options);
}

export type StandingRequestShowInput = {
  readonly id: number;
};

export type StandingRequestShowAnswer = StandingRequestShowResponse;

/** Show a standing request, its place in the queue and the offers that match it: `GET /api/v0/standing_requests/{id}/` */
export function standingRequestShow(client: Client, input: StandingRequestShowInput, options?: CallOptions): Promise<StandingRequestShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/standing_requests/${encodeURIComponent(input.id)}/` }, options);
}

export type StandingRequestCancelInput = {
  readonly id: number;
};

export type StandingRequestCancelAnswer = Message;

/** Cancel a standing request: `DELETE /api/v0/standing_requests/{id}/` */
export function standingRequestCancel(client: Client, input: StandingRequestCancelInput, options?: CallOptions): Promise<StandingRequestCancelAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/standing_requests/${encodeURIComponent(input.id)}/` }, options);
}

export type SubaccountListAnswer = SubaccountListResponse;

/** Show own subaccounts: `GET /api/v0/subaccounts/` */
export function subaccountList(client: Client, options?: CallOptions): Promise<SubaccountListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/subaccounts/" }, options);
}

export type SubaccountRegenerateKeysInput = {
  readonly body?: SubaccountRegenerateKeysRequest;
};

export type SubaccountRegenerateKeysAnswer = SubaccountRegenerateKeysResponse;

/** Replace the key of one subaccount, or of all: `PUT /api/v0/subaccounts/regenerate_keys/` */
export function subaccountRegenerateKeys(client: Client, input: SubaccountRegenerateKeysInput = {}, options?: CallOptions): Promise<SubaccountRegenerateKeysAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/subaccounts/regenerate_keys/", body: input.body ?? {} }, options);
}

export type TeamCreateInput = {
  readonly body?: TeamCreateRequest;
};

export type TeamCreateAnswer = TeamCreateResponse;

/** Create a team, and a key that acts as it: `POST /api/v0/team/` */
export function teamCreate(client: Client, input: TeamCreateInput = {}, options?: CallOptions): Promise<TeamCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/team/", body: input.body ?? {} }, options);
}

export type TeamDeleteAnswer = TeamDeleteResponse;

/** Delete the team of the calling key; its credit goes to the owner: `DELETE /api/v0/team/` */
export function teamDelete(client: Client, options?: CallOptions): Promise<TeamDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/team/" }, options);
}

export type TeamUpdateInput = {
  readonly body?: TeamUpdateRequest;
};

export type TeamUpdateAnswer = TeamUpdateResponse;

/** Rename a team: `PUT /api/v0/team/` */
export function teamUpdate(client: Client, input: TeamUpdateInput = {}, options?: CallOptions): Promise<TeamUpdateAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/team/", body: input.body ?? {} }, options);
}

export type TeamApikeysAnswer = TeamApikeysResponse;

/** Show the keys of all members: `GET /api/v0/team/apikeys/` */
export function teamApikeys(client: Client, options?: CallOptions): Promise<TeamApikeysAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/apikeys/" }, options);
}

export type TeamBalancesAnswer = TeamBalancesResponse;

/** Show the balances of teams: `GET /api/v0/team/balances/` */
export function teamBalances(client: Client, options?: CallOptions): Promise<TeamBalancesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/balances/" }, options);
}

export type TeamInviteInput = {
  readonly query?: {
    readonly email?: string;
    readonly role?: string;
  };
  readonly body?: TeamInviteRequest;
};

export type TeamInviteAnswer = TeamInviteResponse;

/** Invite somebody by e-mail address: `POST /api/v0/team/invite/` */
export function teamInvite(client: Client, input: TeamInviteInput = {}, options?: CallOptions): Promise<TeamInviteAnswer> {
  return client.request({ method: "POST", path: "/api/v0/team/invite/", query: input.query, body: input.body ?? {} }, options);
}

export type TeamAcceptInviteInput = {
  readonly token: string;
};

export type TeamAcceptInviteAnswer = TeamAcceptInviteResponse;

/** Accept an invitation, as the one who is invited: `GET /api/v0/team/invite/{token}/` */
export function teamAcceptInvite(client: Client, input: TeamAcceptInviteInput, options?: CallOptions): Promise<TeamAcceptInviteAnswer> {
  return client.request({ method: "GET", path: `/api/v0/team/invite/${encodeURIComponent(input.token)}/` }, options);
}

export type TeamMembersAnswer = readonly TeamMember[];

/** Show the members of a team: `GET /api/v0/team/members/` */
export function teamMembers(client: Client, options?: CallOptions): Promise<TeamMembersAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/members/" }, options);
}

export type TeamRemoveMemberInput = {
  readonly id: string;
};

export type TeamRemoveMemberAnswer = StatusMessage;

/** Remove a member, and the member's keys of the team: `DELETE /api/v0/team/members/{id}/` */
export function teamRemoveMember(client: Client, input: TeamRemoveMemberInput, options?: CallOptions): Promise<TeamRemoveMemberAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/team/members/${encodeURIComponent(input.id)}/` }, options);
}

export type TeamSetMemberRoleInput = {
  readonly id: string;
  readonly body?: TeamSetMemberRoleRequest;
};

export type TeamSetMemberRoleAnswer = MemberRole;

/** Give a member another role: `POST /api/v0/team/members/{id}/roles/` */
export function teamSetMemberRole(client: Client, input: TeamSetMemberRoleInput, options?: CallOptions): Promise<TeamSetMemberRoleAnswer> {
  return client.request({ method: "POST", path: `/api/v0/team/members/${encodeURIComponent(input.id)}/roles/`, body: input.body ?? {} }, options);
}

export type TeamResetMemberRoleInput = {
  readonly id: string;
};

export type TeamResetMemberRoleAnswer = MemberRole;

/** Give a member the role Member again: `DELETE /api/v0/team/members/{id}/roles/` */
export function teamResetMemberRole(client: Client, input: TeamResetMemberRoleInput, options?: CallOptions): Promise<TeamResetMemberRoleAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/team/members/${encodeURIComponent(input.id)}/roles/` }, options);
}

export type TeamRolesFullAnswer = readonly TeamRole[];

/** Show the roles that members can be given: `GET /api/v0/team/roles-full/` */
export function teamRolesFull(client: Client, options?: CallOptions): Promise<TeamRolesFullAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/roles-full/" }, options);
}

export type TeamRolesAnswer = readonly string[];

/** Show the names of a team's roles: `GET /api/v0/team/roles/` */
export function teamRoles(client: Client, options?: CallOptions): Promise<TeamRolesAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/roles/" }, options);
}

export type TeamCreateRoleInput = {
  readonly body?: TeamCreateRoleRequest;
};

export type TeamCreateRoleAnswer = TeamCreateRoleResponse;

/** Create a role: `POST /api/v0/team/roles/` */
export function teamCreateRole(client: Client, input: TeamCreateRoleInput = {}, options?: CallOptions): Promise<TeamCreateRoleAnswer> {
  return client.request({ method: "POST", path: "/api/v0/team/roles/", body: input.body ?? {} }, options);
}

export type TeamShowRoleInput = {
  readonly name: string;
};

export type TeamShowRoleAnswer = TeamRole;

/** Show one role: `GET /api/v0/team/roles/{name}/` */
export function teamShowRole(client: Client, input: TeamShowRoleInput, options?: CallOptions): Promise<TeamShowRoleAnswer> {
  return client.request({ method: "GET", path: `/api/v0/team/roles/${encodeURIComponent(input.name)}/` }, options);
}

export type TeamUpdateRoleInput = {
  readonly name: string;
  readonly body?: TeamUpdateRoleRequest;
};

export type TeamUpdateRoleAnswer = Message;

/** Change a role, by its number: `PUT /api/v0/team/roles/{name}/` */
export function teamUpdateRole(client: Client, input: TeamUpdateRoleInput, options?: CallOptions): Promise<TeamUpdateRoleAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/team/roles/${encodeURIComponent(input.name)}/`, body: input.body ?? {} }, options);
}

export type TeamDeleteRoleInput = {
  readonly name: string;
  readonly body?: TeamDeleteRoleRequest;
};

export type TeamDeleteRoleAnswer = StatusMessage;

/** Delete a role: `DELETE /api/v0/team/roles/{name}/` */
export function teamDeleteRole(client: Client, input: TeamDeleteRoleInput, options?: CallOptions): Promise<TeamDeleteRoleAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/team/roles/${encodeURIComponent(input.name)}/`, body: input.body ?? {} }, options);
}

export type TeamSessionsAnswer = TeamSessionsResponse;

/** Show the sessions in which members act for a team: `GET /api/v0/team/sessions/` */
export function teamSessions(client: Client, options?: CallOptions): Promise<TeamSessionsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/team/sessions/" }, options);
}

export type TeamTransferInput = {
  readonly body?: TeamTransferRequest;
};

export type TeamTransferAnswer = Message;

/** Hand a team over to another member: `PUT /api/v0/team/transfer/` */
export function teamTransfer(client: Client, input: TeamTransferInput = {}, options?: CallOptions): Promise<TeamTransferAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/team/transfer/", body: input.body ?? {} }, options);
}

export type TeamListAnswer = TeamListResponse;

/** Show own teams: `GET /api/v0/teams/` */
export function teamList(client: Client, options?: CallOptions): Promise<TeamListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/teams/" }, options);
}

export type TeamLeaveInput = {
  readonly id: string;
};

export type TeamLeaveAnswer = Message;

/** Leave a team: `DELETE /api/v0/teams/{id}/membership/` */
export function teamLeave(client: Client, input: TeamLeaveInput, options?: CallOptions): Promise<TeamLeaveAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/teams/${encodeURIComponent(input.id)}/membership/` }, options);
}

export type TemplateSearchInput = {
  readonly query?: {
    readonly select_filters?: string;
    readonly select_cols?: string;
    readonly order_by?: string;
    readonly limit?: number;
    readonly offset?: number;
  };
};

export type TemplateSearchAnswer = TemplateSearchResponse;

/** Search templates: the caller's own and public ones: `GET /api/v0/template/` */
export function templateSearch(client: Client, input: TemplateSearchInput = {}, options?: CallOptions): Promise<TemplateSearchAnswer> {
  return client.request({ method: "GET", path: "/api/v0/template/", query: input.query }, options);
}

export type TemplateCreateInput = {
  readonly body: TemplateCreateRequest;
};

export type TemplateCreateAnswer = ShownTemplate;

/** Create a template: `POST /api/v0/template/` */
export function templateCreate(client: Client, input: TemplateCreateInput, options?: CallOptions): Promise<TemplateCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/template/", body: input.body ?? {} }, options);
}

export type TemplateEditInput = {
  readonly body: TemplateEditRequest;
};

export type TemplateEditAnswer = TemplateEditResponse;

/** Edit a template: `PUT /api/v0/template/` */
export function templateEdit(client: Client, input: TemplateEditInput, options?: CallOptions): Promise<TemplateEditAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/template/", body: input.body ?? {} }, options);
}

export type TemplateDeleteInput = {
  readonly body?: TemplateDeleteRequest;
};

export type TemplateDeleteAnswer = Message;

/** Delete a template: `DELETE /api/v0/template/` */
export function templateDelete(client: Client, input: TemplateDeleteInput = {}, options?: CallOptions): Promise<TemplateDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/template/", body: input.body ?? {} }, options);
}

export type TemplateParamsAnswer = TemplateParamsResponse;

/** Show the limits of a template's fields: `GET /api/v0/template/params/` */
export function templateParams(client: Client, options?: CallOptions): Promise<TemplateParamsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/template/params/" }, options);
}

export type TemplateRecentInput = {
  readonly query?: {
    readonly page_size?: number;
    readonly last_page_template_id?: number;
    readonly last_page_last_used_at?: number;
  };
};

export type TemplateRecentAnswer = TemplateRecentResponse;

/** List templates that the caller rented with: `GET /api/v0/template/recent/` */
export function templateRecent(client: Client, input: TemplateRecentInput = {}, options?: CallOptions): Promise<TemplateRecentAnswer> {
  return client.request({ method: "GET", path: "/api/v0/template/recent/", query: input.query }, options);
}

export type TemplateOutlookInput = {
  readonly id: string;
  readonly query?: {
    readonly type?: "ondemand" | "bid";
    readonly num_gpus?: number;
    readonly gpu_name?: string;
    readonly disk?: number;
  };
};

export type TemplateOutlookAnswer = TemplateOutlookResponse;

/** Say whether a template would start now, where and at what price: `GET /api/v0/template/{id}/outlook/` */
export function templateOutlook(client: Client, input: TemplateOutlookInput, options?: CallOptions): Promise<TemplateOutlookAnswer> {
  return client.request({ method: "GET", path: `/api/v0/template/${encodeURIComponent(input.id)}/outlook/`, query: input.query }, options);
}

export type TemplateVersionsInput = {
  readonly id: string;
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type TemplateVersionsAnswer = TemplateVersionsResponse;

/** Show the versions of a template and what changed between them: `GET /api/v0/template/{id}/versions/` */
export function templateVersions(client: Client, input: TemplateVersionsInput, options?: CallOptions): Promise<TemplateVersionsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/template/${encodeURIComponent(input.id)}/versions/`, query: input.query }, options);
}

export type TfaDeleteInput = {
  readonly body?: TfaDeleteRequest;
};

export type TfaDeleteAnswer = RemovedTfaMethod;

/** Delete a second factor: `DELETE /api/v0/tfa/` */
export function tfaDelete(client: Client, input: TfaDeleteInput = {}, options?: CallOptions): Promise<TfaDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/tfa/", body: input.body ?? {} }, options);
}

export type TfaLoginInput = {
  readonly body?: TfaLoginRequest;
};

export type TfaLoginAnswer = SignIn;

/** Sign in with a second factor: `POST /api/v0/tfa/` */
export function tfaLogin(client: Client, input: TfaLoginInput = {}, options?: CallOptions): Promise<TfaLoginAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/", body: input.body ?? {} }, options);
}

export type TfaAuthorizeInput = {
  readonly body?: TfaAuthorizeRequest;
};

export type TfaAuthorizeAnswer = TfaAuthorization;

/** Begin to authorize another second factor: `POST /api/v0/tfa/authorize-new-method/` */
export function tfaAuthorize(client: Client, input: TfaAuthorizeInput = {}, options?: CallOptions): Promise<TfaAuthorizeAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/authorize-new-method/", body: input.body ?? {} }, options);
}

export type TfaFinishAuthorizationInput = {
  readonly body?: TfaFinishAuthorizationRequest;
};

export type TfaFinishAuthorizationAnswer = Message;

/** Authorize another second factor with a code: `PUT /api/v0/tfa/authorize-new-method/` */
export function tfaFinishAuthorization(client: Client, input: TfaFinishAuthorizationInput = {}, options?: CallOptions): Promise<TfaFinishAuthorizationAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/tfa/authorize-new-method/", body: input.body ?? {} }, options);
}

export type TfaConfirmNewInput = {
  readonly body?: TfaConfirmNewRequest;
};

export type TfaConfirmNewAnswer = ConfirmedTfaMethod;

/** Add a second factor with its first code: `POST /api/v0/tfa/confirm-new/` */
export function tfaConfirmNew(client: Client, input: TfaConfirmNewInput = {}, options?: CallOptions): Promise<TfaConfirmNewAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/confirm-new/", body: input.body ?? {} }, options);
}

export type TfaSendMailInput = {
  readonly body?: TfaSendMailRequest;
};

export type TfaSendMailAnswer = SentCode;

/** Have a code mailed: `POST /api/v0/tfa/email/` */
export function tfaSendMail(client: Client, input: TfaSendMailInput = {}, options?: CallOptions): Promise<TfaSendMailAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/email/", body: input.body ?? {} }, options);
}

export type TfaRegenBackupCodesInput = {
  readonly body?: TfaRegenBackupCodesRequest;
};

export type TfaRegenBackupCodesAnswer = BackupCodes;

/** Replace own backup codes: `PUT /api/v0/tfa/regen-backup-codes/` */
export function tfaRegenBackupCodes(client: Client, input: TfaRegenBackupCodesInput = {}, options?: CallOptions): Promise<TfaRegenBackupCodesAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/tfa/regen-backup-codes/", body: input.body ?? {} }, options);
}

export type TfaSendSmsInput = {
  readonly body?: TfaSendSmsRequest;
};

export type TfaSendSmsAnswer = SentCode;

/** Have a code sent to a phone: `POST /api/v0/tfa/sms/` */
export function tfaSendSms(client: Client, input: TfaSendSmsInput = {}, options?: CallOptions): Promise<TfaSendSmsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/sms/", body: input.body ?? {} }, options);
}

export type TfaResendSmsInput = {
  readonly body?: TfaResendSmsRequest;
};

export type TfaResendSmsAnswer = SentCode;

/** Have another code sent to a phone: `POST /api/v0/tfa/sms/resend/` */
export function tfaResendSms(client: Client, input: TfaResendSmsInput = {}, options?: CallOptions): Promise<TfaResendSmsAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/sms/resend/", body: input.body ?? {} }, options);
}

export type TfaStatusAnswer = TfaStatus;

/** Show own second factors: `GET /api/v0/tfa/status/` */
export function tfaStatus(client: Client, options?: CallOptions): Promise<TfaStatusAnswer> {
  return client.request({ method: "GET", path: "/api/v0/tfa/status/" }, options);
}

export type TfaTotpSetupAnswer = TotpSetup;

/** Make a secret for an authenticator app: `POST /api/v0/tfa/totp-setup/` */
export function tfaTotpSetup(client: Client, options?: CallOptions): Promise<TfaTotpSetupAnswer> {
  return client.request({ method: "POST", path: "/api/v0/tfa/totp-setup/" }, options);
}

export type TfaUpdateInput = {
  readonly body?: TfaUpdateRequest;
};

export type TfaUpdateAnswer = UpdatedTfaMethod;

/** Change the label of a second factor, or the primary one: `PUT /api/v0/tfa/update/` */
export function tfaUpdate(client: Client, input: TfaUpdateInput = {}, options?: CallOptions): Promise<TfaUpdateAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/tfa/update/", body: input.body ?? {} }, options);
}

export type EarningsShowAnswer = EarningsShowResponse;

/** Show own earnings in all: `GET /api/v0/user/earnings/` */
export function earningsShow(client: Client, options?: CallOptions): Promise<EarningsShowAnswer> {
  return client.request({ method: "GET", path: "/api/v0/user/earnings/" }, options);
}

export type EarningsDataInput = {
  readonly query?: {
    readonly sday?: number;
    readonly eday?: number;
    readonly last_days?: number;
    readonly machid?: number;
  };
};

export type EarningsDataAnswer = EarningsData;

/** Show own earnings by day and machine: `GET /api/v0/user/earnings/data/` */
export function earningsData(client: Client, input: EarningsDataInput = {}, options?: CallOptions): Promise<EarningsDataAnswer> {
  return client.request({ method: "GET", path: "/api/v0/user/earnings/data/", query: input.query }, options);
}

export type UserUpdateInput = {
  readonly body?: UserUpdateRequest;
};

export type UserUpdateAnswer = UserUpdateResponse;

/** Change own account: `PUT /api/v0/users/` */
export function userUpdate(client: Client, input: UserUpdateInput = {}, options?: CallOptions): Promise<UserUpdateAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/users/", body: input.body ?? {} }, options);
}

export type UserCreateInput = {
  readonly body?: UserCreateRequest;
};

export type UserCreateAnswer = UserCreateResponse;

/** Create an account, or a subaccount: `POST /api/v0/users/` */
export function userCreate(client: Client, input: UserCreateInput = {}, options?: CallOptions): Promise<UserCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/users/", body: input.body ?? {} }, options);
}

export type CloudListAnswer = readonly CloudConnection[];

/** List cloud connections: `GET /api/v0/users/cloud/` */
export function cloudList(client: Client, options?: CallOptions): Promise<CloudListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/users/cloud/" }, options);
}

export type CloudConnectInput = {
  readonly body: CloudConnectRequest;
};

export type CloudConnectAnswer = CloudConnectResponse;

/** Connect a cloud storage: `POST /api/v0/users/cloud/` */
export function cloudConnect(client: Client, input: CloudConnectInput, options?: CallOptions): Promise<CloudConnectAnswer> {
  return client.request({ method: "POST", path: "/api/v0/users/cloud/", body: input.body ?? {} }, options);
}

export type CloudDisconnectInput = {
  readonly body: CloudDisconnectRequest;
};

export type CloudDisconnectAnswer = Message;

/** Delete a cloud connection: `DELETE /api/v0/users/cloud/` */
export function cloudDisconnect(client: Client, input: CloudDisconnectInput, options?: CallOptions): Promise<CloudDisconnectAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/users/cloud/", body: input.body ?? {} }, options);
}

export type CloudIntegrationsAnswer = readonly CloudIntegration[];

/** List cloud connections, briefly: `GET /api/v0/users/cloud_integrations/` */
export function cloudIntegrations(client: Client, options?: CallOptions): Promise<CloudIntegrationsAnswer> {
  return client.request({ method: "GET", path: "/api/v0/users/cloud_integrations/" }, options);
}

export type UserShowAnswer = Account;

/** Show own account: `GET /api/v0/users/current/` */
export function userShow(client: Client, options?: CallOptions): Promise<UserShowAnswer> {
  return client.request({ method: "GET", path: "/api/v0/users/current/" }, options);
}

export type SessionCreateInput = {
  readonly body?: SessionCreateRequest;
};

export type SessionCreateAnswer = SignIn;

/** Sign in with a password: `PUT /api/v0/users/current/` */
export function sessionCreate(client: Client, input: SessionCreateInput = {}, options?: CallOptions): Promise<SessionCreateAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/users/current/", body: input.body ?? {} }, options);
}

export type SessionEndAnswer = SessionEndResponse;

/** Sign out: `DELETE /api/v0/users/current/` */
export function sessionEnd(client: Client, options?: CallOptions): Promise<SessionEndAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/users/current/" }, options);
}

export type UserChangePasswordInput = {
  readonly body: UserChangePasswordRequest;
};

export type UserChangePasswordAnswer = Message;

/** Change own password: `PUT /api/v0/users/current/password/` */
export function userChangePassword(client: Client, input: UserChangePasswordInput, options?: CallOptions): Promise<UserChangePasswordAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/users/current/password/", body: input.body ?? {} }, options);
}

export type UserConfirmEmailInput = {
  readonly body: UserConfirmEmailRequest;
};

export type UserConfirmEmailAnswer = Message;

/** Prove own e-mail address with the token that was mailed there: `POST /api/v0/users/me/email/confirm/` */
export function userConfirmEmail(client: Client, input: UserConfirmEmailInput, options?: CallOptions): Promise<UserConfirmEmailAnswer> {
  return client.request({ method: "POST", path: "/api/v0/users/me/email/confirm/", body: input.body ?? {} }, options);
}

export type UserRequestEmailProofAnswer = Message;

/** Mail a token to own e-mail address, to prove it: `POST /api/v0/users/me/email/proof/` */
export function userRequestEmailProof(client: Client, options?: CallOptions): Promise<UserRequestEmailProofAnswer> {
  return client.request({ method: "POST", path: "/api/v0/users/me/email/proof/" }, options);
}

export type SavedSearchListAnswer = SavedSearchListResponse;

/** Show own saved searches: `GET /api/v0/users/saved-searches/` */
export function savedSearchList(client: Client, options?: CallOptions): Promise<SavedSearchListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/users/saved-searches/" }, options);
}

export type SavedSearchSaveInput = {
  readonly body: SavedSearchSaveRequest;
};

export type SavedSearchSaveAnswer = SavedSearchSaveResponse;

/** Save a search for offers: `POST /api/v0/users/saved-searches/` */
export function savedSearchSave(client: Client, input: SavedSearchSaveInput, options?: CallOptions): Promise<SavedSearchSaveAnswer> {
  return client.request({ method: "POST", path: "/api/v0/users/saved-searches/", body: input.body ?? {} }, options);
}

export type SavedSearchDeleteInput = {
  readonly id: string;
};

export type SavedSearchDeleteAnswer = Success;

/** Delete a saved search: `DELETE /api/v0/users/saved-searches/{id}/` */
export function savedSearchDelete(client: Client, input: SavedSearchDeleteInput, options?: CallOptions): Promise<SavedSearchDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/users/saved-searches/${encodeURIComponent(input.id)}/` }, options);
}

export type UserSpendRateAnswer = UserSpendRateResponse;

/** Show what everything costs an hour: `GET /api/v0/users/spend-rate/` */
export function userSpendRate(client: Client, options?: CallOptions): Promise<UserSpendRateAnswer> {
  return client.request({ method: "GET", path: "/api/v0/users/spend-rate/" }, options);
}

export type BillingInvoicesInput = {
  readonly user_id: string;
  readonly query?: {
    readonly inc_charges?: string;
    readonly only_payouts?: string;
    readonly no_payouts?: string;
    readonly sdate?: string;
    readonly edate?: string;
  };
};

export type BillingInvoicesAnswer = InvoiceReport;

/** Show invoices: `GET /api/v0/users/{user_id}/invoices/` */
export function billingInvoices(client: Client, input: BillingInvoicesInput, options?: CallOptions): Promise<BillingInvoicesAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/invoices/`, query: input.query }, options);
}

export type UserIpaddrsInput = {
  readonly user_id: string;
};

export type UserIpaddrsAnswer = UserIpaddrsResponse;

/** Show the IP addresses from which an account was used: `GET /api/v0/users/{user_id}/ipaddrs/` */
export function userIpaddrs(client: Client, input: UserIpaddrsInput, options?: CallOptions): Promise<UserIpaddrsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/ipaddrs/` }, options);
}

export type MachineEarningsInput = {
  readonly user_id: string;
  readonly query?: {
    readonly sday?: number;
    readonly eday?: number;
    readonly last_days?: number;
    readonly machid?: number;
  };
};

export type MachineEarningsAnswer = EarningsReport;

/** Show what machines earned, by day and machine: `GET /api/v0/users/{user_id}/machine-earnings/` */
export function machineEarnings(client: Client, input: MachineEarningsInput, options?: CallOptions): Promise<MachineEarningsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/machine-earnings/`, query: input.query }, options);
}

export type NotificationPreferenceShowInput = {
  readonly user_id: string;
};

export type NotificationPreferenceShowAnswer = NotificationPreferences;

/** Show notification preferences: `GET /api/v0/users/{user_id}/notification-prefs/` */
export function notificationPreferenceShow(client: Client, input: NotificationPreferenceShowInput, options?: CallOptions): Promise<NotificationPreferenceShowAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/notification-prefs/` }, options);
}

export type NotificationPreferenceUpdateInput = {
  readonly user_id: string;
  readonly body: NotificationPreferenceUpdateRequest;
};

export type NotificationPreferenceUpdateAnswer = NotificationPreferences;

/** Replace notification preferences; types that are left out go back to their defaults: `PUT /api/v0/users/{user_id}/notification-prefs/` */
export function notificationPreferenceUpdate(client: Client, input: NotificationPreferenceUpdateInput, options?: CallOptions): Promise<NotificationPreferenceUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/notification-prefs/`, body: input.body ?? {} }, options);
}

export type UserSettingsInput = {
  readonly user_id: string;
};

export type UserSettingsAnswer = UserSettingsResponse;

/** Show the settings of own account: `GET /api/v0/users/{user_id}/settings/` */
export function userSettings(client: Client, input: UserSettingsInput, options?: CallOptions): Promise<UserSettingsAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/settings/` }, options);
}

export type TemplateAddInput = {
  readonly user_id: string;
  readonly body: TemplateAddRequest;
};

export type TemplateAddAnswer = Success;

/** Add a public template to the own library: `POST /api/v0/users/{user_id}/template/` */
export function templateAdd(client: Client, input: TemplateAddInput, options?: CallOptions): Promise<TemplateAddAnswer> {
  return client.request({ method: "POST", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/template/`, body: input.body ?? {} }, options);
}

export type TemplateLibraryInput = {
  readonly user_id: string;
};

export type TemplateLibraryAnswer = TemplateLibraryResponse;

/** List the templates of the own library: `GET /api/v0/users/{user_id}/templates/` */
export function templateLibrary(client: Client, input: TemplateLibraryInput, options?: CallOptions): Promise<TemplateLibraryAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/templates/` }, options);
}

export type TemplateStoreInput = {
  readonly user_id: string;
  readonly body: TemplateStoreRequest;
};

export type TemplateStoreAnswer = TemplateStoreResponse;

/** Create and edit templates of the own library: `POST /api/v0/users/{user_id}/templates/` */
export function templateStore(client: Client, input: TemplateStoreInput, options?: CallOptions): Promise<TemplateStoreAnswer> {
  return client.request({ method: "POST", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/templates/`, body: input.body ?? {} }, options);
}

export type TemplateRemoveInput = {
  readonly user_id: string;
  readonly body: TemplateRemoveRequest;
};

export type TemplateRemoveAnswer = Message;

/** Remove a template from the own library: `DELETE /api/v0/users/{user_id}/templates/` */
export function templateRemove(client: Client, input: TemplateRemoveInput, options?: CallOptions): Promise<TemplateRemoveAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/templates/`, body: input.body ?? {} }, options);
}

export type TemplateForWorkersInput = {
  readonly user_id: string;
};

export type TemplateForWorkersAnswer = TemplateForWorkersResponse;

/** List templates for worker groups: `GET /api/v0/users/{user_id}/templates/autoscaler/` */
export function templateForWorkers(client: Client, input: TemplateForWorkersInput, options?: CallOptions): Promise<TemplateForWorkersAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/templates/autoscaler/` }, options);
}

export type TemplateChoicesInput = {
  readonly user_id: string;
  readonly hash_id: string;
};

export type TemplateChoicesAnswer = TemplateChoicesResponse;

/** List templates to choose from, with one that was shared by its hash: `GET /api/v0/users/{user_id}/templates/{hash_id}/` */
export function templateChoices(client: Client, input: TemplateChoicesInput, options?: CallOptions): Promise<TemplateChoicesAnswer> {
  return client.request({ method: "GET", path: `/api/v0/users/${encodeURIComponent(input.user_id)}/templates/${encodeURIComponent(input.hash_id)}/` }, options);
}

export type VolumeListInput = {
  readonly query?: {
    readonly type?: "local_volume" | "network_volume" | "all_volume";
  };
};

export type VolumeListAnswer = VolumeListResponse;

/** Show own volumes: `GET /api/v0/volumes/` */
export function volumeList(client: Client, input: VolumeListInput = {}, options?: CallOptions): Promise<VolumeListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/volumes/", query: input.query }, options);
}

export type VolumeRentInput = {
  readonly body: VolumeRental;
};

export type VolumeRentAnswer = NewVolume;

/** Rent a volume: `PUT /api/v0/volumes/` */
export function volumeRent(client: Client, input: VolumeRentInput, options?: CallOptions): Promise<VolumeRentAnswer> {
  return client.request({ method: "PUT", path: "/api/v0/volumes/", body: input.body ?? {} }, options);
}

export type VolumeDeleteInput = {
  readonly query?: {
    readonly id?: number;
  };
  readonly body?: VolumeDeleteRequest;
};

export type VolumeDeleteAnswer = Message;

/** Delete a volume: `DELETE /api/v0/volumes/` */
export function volumeDelete(client: Client, input: VolumeDeleteInput = {}, options?: CallOptions): Promise<VolumeDeleteAnswer> {
  return client.request({ method: "DELETE", path: "/api/v0/volumes/", query: input.query, body: input.body ?? {} }, options);
}

export type VolumeHostListInput = {
  readonly body?: VolumeHostListRequest;
};

export type VolumeHostListAnswer = VolumeHostListResponse;

/** List space of own machines for rent, or update its listing: `POST /api/v0/volumes/` */
export function volumeHostList(client: Client, input: VolumeHostListInput = {}, options?: CallOptions): Promise<VolumeHostListAnswer> {
  return client.request({ method: "POST", path: "/api/v0/volumes/", body: input.body ?? {} }, options);
}

export type VolumeCopyInput = {
  readonly body: VolumeCopyRequest;
};

export type VolumeCopyAnswer = VolumeCopyResponse;

/** Clone a volume onto a new one, on the same machine or another: `POST /api/v0/volumes/copy/` */
export function volumeCopy(client: Client, input: VolumeCopyInput, options?: CallOptions): Promise<VolumeCopyAnswer> {
  return client.request({ method: "POST", path: "/api/v0/volumes/copy/", body: input.body ?? {} }, options);
}

export type VolumeSearchInput = {
  readonly query?: {
    readonly q?: string;
  };
  readonly body?: VolumeSearch;
};

export type VolumeSearchAnswer = VolumeOffers;

/** Search volume offers: `POST /api/v0/volumes/search/` */
export function volumeSearch(client: Client, input: VolumeSearchInput = {}, options?: CallOptions): Promise<VolumeSearchAnswer> {
  return client.request({ method: "POST", path: "/api/v0/volumes/search/", query: input.query, body: input.body ?? {} }, options);
}

export type VolumeUnlistInput = {
  readonly body: VolumeUnlistRequest;
};

export type VolumeUnlistAnswer = Message;

/** Unlist space of an own machine: `POST /api/v0/volumes/unlist/` */
export function volumeUnlist(client: Client, input: VolumeUnlistInput, options?: CallOptions): Promise<VolumeUnlistAnswer> {
  return client.request({ method: "POST", path: "/api/v0/volumes/unlist/", body: input.body ?? {} }, options);
}

export type WebhookListAnswer = WebhookListResponse;

/** List own webhooks: `GET /api/v0/webhooks/` */
export function webhookList(client: Client, options?: CallOptions): Promise<WebhookListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/webhooks/" }, options);
}

export type WebhookCreateInput = {
  readonly body: WebhookCreateRequest;
};

export type WebhookCreateAnswer = WebhookCreateResponse;

/** Create a webhook; its secret is shown this once: `POST /api/v0/webhooks/` */
export function webhookCreate(client: Client, input: WebhookCreateInput, options?: CallOptions): Promise<WebhookCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/webhooks/", body: input.body ?? {} }, options);
}

export type WebhookUpdateInput = {
  readonly id: string;
  readonly body?: WebhookUpdateRequest;
};

export type WebhookUpdateAnswer = WebhookUpdateResponse;

/** Change a webhook: `PUT /api/v0/webhooks/{id}/` */
export function webhookUpdate(client: Client, input: WebhookUpdateInput, options?: CallOptions): Promise<WebhookUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/webhooks/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type WebhookDeleteInput = {
  readonly id: string;
};

export type WebhookDeleteAnswer = Success;

/** Delete a webhook: `DELETE /api/v0/webhooks/{id}/` */
export function webhookDelete(client: Client, input: WebhookDeleteInput, options?: CallOptions): Promise<WebhookDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/webhooks/${encodeURIComponent(input.id)}/` }, options);
}

export type WebhookDeliveriesInput = {
  readonly id: string;
  readonly query?: {
    readonly limit?: number;
  };
};

export type WebhookDeliveriesAnswer = WebhookDeliveriesResponse;

/** List the newest deliveries to a webhook: `GET /api/v0/webhooks/{id}/deliveries/` */
export function webhookDeliveries(client: Client, input: WebhookDeliveriesInput, options?: CallOptions): Promise<WebhookDeliveriesAnswer> {
  return client.request({ method: "GET", path: `/api/v0/webhooks/${encodeURIComponent(input.id)}/deliveries/`, query: input.query }, options);
}

export type WebhookRotateSecretInput = {
  readonly id: string;
};

export type WebhookRotateSecretAnswer = WebhookRotateSecretResponse;

/** Replace the secret of a webhook; the new one is shown this once: `POST /api/v0/webhooks/{id}/rotate-secret/` */
export function webhookRotateSecret(client: Client, input: WebhookRotateSecretInput, options?: CallOptions): Promise<WebhookRotateSecretAnswer> {
  return client.request({ method: "POST", path: `/api/v0/webhooks/${encodeURIComponent(input.id)}/rotate-secret/` }, options);
}

export type WebhookTestInput = {
  readonly id: string;
};

export type WebhookTestAnswer = WebhookTestResponse;

/** Call a webhook once with a test event: `POST /api/v0/webhooks/{id}/test/` */
export function webhookTest(client: Client, input: WebhookTestInput, options?: CallOptions): Promise<WebhookTestAnswer> {
  return client.request({ method: "POST", path: `/api/v0/webhooks/${encodeURIComponent(input.id)}/test/` }, options);
}

export type WorkergroupListAnswer = WorkergroupListResponse;

/** Show own worker groups: `GET /api/v0/workergroups/` */
export function workergroupList(client: Client, options?: CallOptions): Promise<WorkergroupListAnswer> {
  return client.request({ method: "GET", path: "/api/v0/workergroups/" }, options);
}

export type WorkergroupCreateInput = {
  readonly body?: WorkerGroupSettings;
};

export type WorkergroupCreateAnswer = WorkergroupCreateResponse;

/** Create a worker group: `POST /api/v0/workergroups/` */
export function workergroupCreate(client: Client, input: WorkergroupCreateInput = {}, options?: CallOptions): Promise<WorkergroupCreateAnswer> {
  return client.request({ method: "POST", path: "/api/v0/workergroups/", body: input.body ?? {} }, options);
}

export type WorkergroupUpdateInput = {
  readonly id: number;
  readonly body?: WorkerGroupSettings;
};

export type WorkergroupUpdateAnswer = Success;

/** Change a worker group: `PUT /api/v0/workergroups/{id}/` */
export function workergroupUpdate(client: Client, input: WorkergroupUpdateInput, options?: CallOptions): Promise<WorkergroupUpdateAnswer> {
  return client.request({ method: "PUT", path: `/api/v0/workergroups/${encodeURIComponent(input.id)}/`, body: input.body ?? {} }, options);
}

export type WorkergroupDeleteInput = {
  readonly id: number;
};

export type WorkergroupDeleteAnswer = RemovedWorkers;

/** Delete a worker group with its workers: `DELETE /api/v0/workergroups/{id}/` */
export function workergroupDelete(client: Client, input: WorkergroupDeleteInput, options?: CallOptions): Promise<WorkergroupDeleteAnswer> {
  return client.request({ method: "DELETE", path: `/api/v0/workergroups/${encodeURIComponent(input.id)}/` }, options);
}

export type AuditLogPageInput = {
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
    readonly order_by?: string;
    readonly select_cols?: string;
    readonly select_filters?: string;
  };
};

export type AuditLogPageAnswer = AuditLogPageResponse;

/** Show the audit log of own account, page by page: `GET /api/v1/audit_logs/` */
export function auditLogPage(client: Client, input: AuditLogPageInput = {}, options?: CallOptions): Promise<AuditLogPageAnswer> {
  return client.request({ method: "GET", path: "/api/v1/audit_logs/", query: input.query }, options);
}

export type InstanceCountsAnswer = InstanceCountsResponse;

/** Count own instances and volumes: `GET /api/v1/counts/` */
export function instanceCounts(client: Client, options?: CallOptions): Promise<InstanceCountsAnswer> {
  return client.request({ method: "GET", path: "/api/v1/counts/" }, options);
}

export type InstancePageInput = {
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
    readonly order_by?: string;
    readonly select_cols?: string;
    readonly select_filters?: string;
  };
};

export type InstancePageAnswer = InstancePageResponse;

/** List instances, page by page: `GET /api/v1/instances/` */
export function instancePage(client: Client, input: InstancePageInput = {}, options?: CallOptions): Promise<InstancePageAnswer> {
  return client.request({ method: "GET", path: "/api/v1/instances/", query: input.query }, options);
}

export type InstanceLiteAnswer = unknown;

/** Switched off, as in the published API: `GET /api/v1/instances/lite/` */
export function instanceLite(client: Client, options?: CallOptions): Promise<InstanceLiteAnswer> {
  return client.request({ method: "GET", path: "/api/v1/instances/lite/" }, options);
}

export type BillingListInvoicesInput = {
  readonly query?: {
    readonly select_filters?: string;
    readonly order_by?: string;
    readonly latest_first?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type BillingListInvoicesAnswer = BillingListInvoicesResponse;

/** List money movements: `GET /api/v1/invoices/` */
export function billingListInvoices(client: Client, input: BillingListInvoicesInput = {}, options?: CallOptions): Promise<BillingListInvoicesAnswer> {
  return client.request({ method: "GET", path: "/api/v1/invoices/", query: input.query }, options);
}

export type MachinePageInput = {
  readonly query?: {
    readonly limit?: number;
    readonly after_token?: string;
    readonly order_by?: string;
    readonly select_cols?: string;
    readonly select_filters?: string;
  };
};

export type MachinePageAnswer = MachinePageResponse;

/** List own machines, page by page: `GET /api/v1/machines/` */
export function machinePage(client: Client, input: MachinePageInput = {}, options?: CallOptions): Promise<MachinePageAnswer> {
  return client.request({ method: "GET", path: "/api/v1/machines/", query: input.query }, options);
}

export type TemplatePageInput = {
  readonly query?: {
    readonly search?: string;
    readonly select_filters?: string;
    readonly select_cols?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type TemplatePageAnswer = TemplatePageResponse;

/** Search templates page by page: `GET /api/v1/template/` */
export function templatePage(client: Client, input: TemplatePageInput = {}, options?: CallOptions): Promise<TemplatePageAnswer> {
  return client.request({ method: "GET", path: "/api/v1/template/", query: input.query }, options);
}

export type TemplateFetchTagsInput = {
  readonly body?: TemplateFetchTagsRequest;
};

export type TemplateFetchTagsAnswer = TemplateFetchTagsResponse;

/** List the tags of an image: `POST /api/v1/templates/fetch-tags/` */
export function templateFetchTags(client: Client, input: TemplateFetchTagsInput = {}, options?: CallOptions): Promise<TemplateFetchTagsAnswer> {
  return client.request({ method: "POST", path: "/api/v1/templates/fetch-tags/", body: input.body ?? {} }, options);
}

export type TemplateCheckLoginInput = {
  readonly body?: TemplateCheckLoginRequest;
};

export type TemplateCheckLoginAnswer = TemplateCheckLoginResponse;

/** Check a login at a registry: `POST /api/v1/templates/validate-auth/` */
export function templateCheckLogin(client: Client, input: TemplateCheckLoginInput = {}, options?: CallOptions): Promise<TemplateCheckLoginAnswer> {
  return client.request({ method: "POST", path: "/api/v1/templates/validate-auth/", body: input.body ?? {} }, options);
}

export type EarningsPageInput = {
  readonly query?: {
    readonly group_by?: string;
    readonly select_filters?: string;
    readonly order_by?: string;
    readonly limit?: number;
    readonly after_token?: string;
  };
};

export type EarningsPageAnswer = EarningsPage;

/** List own earnings by day or by machine, page by page: `GET /api/v1/user/earnings/` */
export function earningsPage(client: Client, input: EarningsPageInput = {}, options?: CallOptions): Promise<EarningsPageAnswer> {
  return client.request({ method: "GET", path: "/api/v1/user/earnings/", query: input.query }, options);
}

export type EarningsChartInput = {
  readonly query?: {
    readonly select_filters?: string;
  };
};

export type EarningsChartAnswer = EarningsChartResponse;

/** Show own earnings of every day of a window: `GET /api/v1/user/earnings/chart/` */
export function earningsChart(client: Client, input: EarningsChartInput = {}, options?: CallOptions): Promise<EarningsChartAnswer> {
  return client.request({ method: "GET", path: "/api/v1/user/earnings/chart/", query: input.query }, options);
}

export type EarningsSummaryAnswer = EarningsSummaryResponse;

/** Add up all own earnings: `GET /api/v1/user/earnings/summary/` */
export function earningsSummary(client: Client, options?: CallOptions): Promise<EarningsSummaryAnswer> {
  return client.request({ method: "GET", path: "/api/v1/user/earnings/summary/" }, options);
}

export type WorkerFinishInput = {
  readonly body?: WorkerFinishRequest;
};

export type WorkerFinishAnswer = Success;

/** Report requests as done: `POST /delete_requests/` */
export function workerFinish(client: Client, input: WorkerFinishInput = {}, options?: CallOptions): Promise<WorkerFinishAnswer> {
  return client.request({ method: "POST", path: "/delete_requests/", body: input.body ?? {} }, options);
}

export type EndpointLogsInput = {
  readonly body?: EndpointLogsRequest;
};

export type EndpointLogsAnswer = Logs;

/** Show what happened in an endpoint group, as text: `POST /get_endpoint_logs/` */
export function endpointLogs(client: Client, input: EndpointLogsInput = {}, options?: CallOptions): Promise<EndpointLogsAnswer> {
  return client.request({ method: "POST", path: "/get_endpoint_logs/", body: input.body ?? {} }, options);
}

export type EndpointWorkersInput = {
  readonly body: EndpointWorkersRequest;
};

export type EndpointWorkersAnswer = readonly Worker[];

/** List the workers of an endpoint group: `POST /get_endpoint_workers/` */
export function endpointWorkers(client: Client, input: EndpointWorkersInput, options?: CallOptions): Promise<EndpointWorkersAnswer> {
  return client.request({ method: "POST", path: "/get_endpoint_workers/", body: input.body ?? {} }, options);
}

export type WorkergroupLogsInput = {
  readonly body: WorkergroupLogsRequest;
};

export type WorkergroupLogsAnswer = Logs;

/** Show what happened in a worker group, as text: `POST /get_workergroup_logs/` */
export function workergroupLogs(client: Client, input: WorkergroupLogsInput, options?: CallOptions): Promise<WorkergroupLogsAnswer> {
  return client.request({ method: "POST", path: "/get_workergroup_logs/", body: input.body ?? {} }, options);
}

export type WorkergroupWorkersInput = {
  readonly body: WorkergroupWorkersRequest;
};

export type WorkergroupWorkersAnswer = WorkergroupWorkersResponse;

/** List the workers of a worker group: `POST /get_workergroup_workers/` */
export function workergroupWorkers(client: Client, input: WorkergroupWorkersInput, options?: CallOptions): Promise<WorkergroupWorkersAnswer> {
  return client.request({ method: "POST", path: "/get_workergroup_workers/", body: input.body ?? {} }, options);
}

export type HealthProcessAnswer = Health;

/** Whether the process answers: `GET /healthz` */
export function healthProcess(client: Client, options?: CallOptions): Promise<HealthProcessAnswer> {
  return client.request({ method: "GET", path: "/healthz" }, options);
}

export type HealthReadyAnswer = Readiness;

/** Whether database and loops work: `GET /readyz` */
export function healthReady(client: Client, options?: CallOptions): Promise<HealthReadyAnswer> {
  return client.request({ method: "GET", path: "/readyz" }, options);
}

export type RouteRequestInput = {
  readonly query?: {
    readonly api_key?: string;
  };
  readonly body: RouteRequestRequest;
};

export type RouteRequestAnswer = RouteRequestResponse;

/** Ask for a worker of an endpoint: `POST /route/` */
export function routeRequest(client: Client, input: RouteRequestInput, options?: CallOptions): Promise<RouteRequestAnswer> {
  return client.request({ method: "POST", path: "/route/", query: input.query, body: input.body ?? {} }, options);
}

export type WorkergroupUpdateWorkersInput = {
  readonly body: WorkergroupUpdateWorkersRequest;
};

export type WorkergroupUpdateWorkersAnswer = WorkergroupUpdateWorkersResponse;

/** Update the workers of a group to its present recipe, or call that off: `POST /update_workers/` */
export function workergroupUpdateWorkers(client: Client, input: WorkergroupUpdateWorkersInput, options?: CallOptions): Promise<WorkergroupUpdateWorkersAnswer> {
  return client.request({ method: "POST", path: "/update_workers/", body: input.body ?? {} }, options);
}

export type WorkerReportInput = {
  readonly body?: WorkerReportRequest;
};

export type WorkerReportAnswer = Success;

/** Report how a worker does: `POST /worker_status/` */
export function workerReport(client: Client, input: WorkerReportInput = {}, options?: CallOptions): Promise<WorkerReportAnswer> {
  return client.request({ method: "POST", path: "/worker_status/", body: input.body ?? {} }, options);
}
