// Members of answers about accounts, sign-in, teams and notifications.
import type { MemberTable } from "./members.ts";

const USER = [
  "id email username fullname user balance credit balance_threshold balance_threshold_enabled email_verified has_billing",
  "has_payout can_pay billing_creditonly billed_expected billed_verified paid_expected paid_verified got_signup_credit",
  "last4 paypal_email password_resettable ssh_key is_admin key_id sid tfa_status billaddress_line1 billaddress_line2",
  "billaddress_city billaddress_zip billaddress_country host_only huggingface_cloud_sync_enabled wise_email",
  "host_agreement_accepted",
];

const AUDITED = "ip_address api_key_id created_at api_route args";
const API_KEY = "id user_id rights key key_type name permissions key_params team_id team_name team_owner created_at";
const SSH_KEY = "id user_id key public_key ssh_key created_at deleted_at";
const TFA_METHOD = "id user_id method label phone_number is_primary fail_count locked_until created_at last_used";
const WEBHOOK = "id user_id name webhook_url event_types created_at updated_at";

export const PEOPLE_MEMBERS: MemberTable = {
  "GET /api/v0/users/current/": USER,
  "GET /api/v0/users/me/": USER,
  "PUT /api/v0/users/current/": [...USER, "api_key msg? secret? methods? num_backup_codes?"],
  "DELETE /api/v0/users/current/": ["sid"],
  "PUT /api/v0/users/": ["success msg", ...USER],
  "POST /api/v0/users/": ["api_key", ...USER],
  "GET /api/v0/subaccounts/": [
    "users[]: id parent_id key_id email username created_at deleted_at api_key balance credit host_only can_pay has_billing",
  ],
  "PUT /api/v0/subaccounts/regenerate_keys/": ["success", "regenerated_keys[]: user_id email derived_key"],
  "GET /api/v0/users/spend-rate/": [
    "success gpu_cost_per_hour container_storage_cost_per_hour volume_storage_cost_per_hour has_active_resources",
  ],
  "GET /api/v0/users/{user_id}/ipaddrs/": [
    "success",
    "results[]: id user_id ip_address timestamp ip first_seen first_location",
  ],
  "GET /api/v0/users/{user_id}/settings/": ["o"],
  "GET /api/v0/audit_logs/": [`[]: ${AUDITED}`],
  "GET /api/v1/audit_logs/": [
    "success total_logs logs_found next_token",
    `audit_logs[]: ${AUDITED} key key_type key_status email name`,
  ],
  "GET /api/v0/audit_log_filters/": [
    "success api_routes[] ip_addresses[] msg?",
    "users.*: email name apikey_ids",
    "keys.*: key_type",
  ],
  "GET /api/v0/auth/sessions/": ["success", "sessions[]: id key_type last_ipaddr deleted_at"],
  "DELETE /api/v0/auth/sessions/": ["success msg"],
  "GET /api/v0/auth/pubkeys/": ["pubkeys[].public_key"],
  "POST /api/v0/auth/apikeys/": ["success id key permissions"],
  "GET /api/v0/auth/apikeys/": [`apikeys[]: ${API_KEY}`],
  "GET /api/v0/auth/apikeys/{id}/": [API_KEY],
  "PUT /api/v0/commands/reset_apikey/": ["success new_api_key"],
  "POST /api/v0/ssh/": ["success", `key: ${SSH_KEY}`],
  "GET /api/v0/ssh/": [`[]: ${SSH_KEY}`],
  "PUT /api/v0/ssh/{id}/": ["success", `key: ${SSH_KEY}`],
  "DELETE /api/v0/ssh/{id}/": ["success"],
  "GET /api/v0/secrets/": ["success secrets"],
  "POST /api/v0/secrets/": ["success msg"],
  "PUT /api/v0/secrets/": ["success"],
  "DELETE /api/v0/secrets/": ["success"],

  "GET /api/v0/tfa/status/": [
    "success tfa_enabled backup_codes_remaining new_method_authorized",
    `methods[]: ${TFA_METHOD}`,
  ],
  "POST /api/v0/tfa/": [...USER, "session_key backup_codes_remaining?"],
  "DELETE /api/v0/tfa/": ["msg remaining_methods"],
  "POST /api/v0/tfa/email/": ["success msg secret"],
  "POST /api/v0/tfa/sms/": ["msg secret"],
  "POST /api/v0/tfa/sms/resend/": ["msg secret"],
  "POST /api/v0/tfa/totp-setup/": ["secret provisioning_uri"],
  "POST /api/v0/tfa/authorize-new-method/": ["success msg? secret?"],
  "PUT /api/v0/tfa/authorize-new-method/": ["success msg"],
  "POST /api/v0/tfa/confirm-new/": ["success msg backup_codes?"],
  "PUT /api/v0/tfa/update/": ["success msg", `method: ${TFA_METHOD}`],
  "PUT /api/v0/tfa/regen-backup-codes/": ["msg backup_codes[]"],
  "POST /api/v0/tfa/test/": ["msg secret"],
  "POST /api/v0/tfa/test-submit/": ["success msg backup_codes?"],
  "POST /api/v0/tfa/resend/": ["msg secret"],

  "POST /api/v0/team/": ["success msg id team_name"],
  "PUT /api/v0/team/": ["success msg"],
  "DELETE /api/v0/team/": ["success msg pkey_id"],
  "PUT /api/v0/team/transfer/": ["success msg"],
  "GET /api/v0/team/members/": ["[]: id username email fullname roles role"],
  "DELETE /api/v0/team/members/{id}/": ["status message"],
  "POST /api/v0/team/members/{id}/roles/": ["msg"],
  "PUT /api/v0/team/members/{id}/roles/": ["success msg new_role_permissions"],
  "DELETE /api/v0/team/members/{id}/roles/": ["msg"],
  "POST /api/v0/team/invite/": ["success msg"],
  "GET /api/v0/team/invite/{token}/": ["success msg"],
  "POST /api/v0/team/roles/": ["msg id name"],
  "GET /api/v0/team/roles/": ["[]"],
  "GET /api/v0/team/roles-full/": ["[]: id name identifier permissions"],
  "GET /api/v0/team/roles/{name}/": ["id name permissions"],
  "PUT /api/v0/team/roles/{id}/": ["success msg"],
  "DELETE /api/v0/team/roles/{name}/": ["status message"],
  "GET /api/v0/team/apikeys/": [
    "success keys_found msg?",
    "keys.*[]: id user_id username key key_type created_at role_name",
  ],
  "GET /api/v0/team/balances/": ["success msg", "balances[]: team_id team_name balance"],
  "GET /api/v0/team/sessions/": [
    "success sessions_found msg?",
    "sessions[]: id user_id username role_name last_ipaddr",
  ],

  "GET /api/v0/notification-types/": [
    "success",
    "notification_types[]: key slug context topic category display_name mandatory_email",
    "notification_types[].default_preferences: email webhooks",
  ],
  "GET /api/v0/users/{user_id}/notification-prefs/": ["success notification_preferences.client.*.email"],
  "PUT /api/v0/users/{user_id}/notification-prefs/": ["success notification_preferences.client.*.webhooks"],
  "GET /api/v0/webhooks/": ["success", `webhooks[]: ${WEBHOOK}`],
  "POST /api/v0/webhooks/": ["success enabled_notification_preferences", `webhook: ${WEBHOOK} webhook_secret`],
  "PUT /api/v0/webhooks/{id}/": ["success enabled_notification_preferences", `webhook: ${WEBHOOK}`],
  "DELETE /api/v0/webhooks/{id}/": ["success"],
  "POST /api/v0/webhooks/{id}/rotate-secret/": ["success", `webhook: ${WEBHOOK} webhook_secret`],
  "POST /api/v0/webhooks/{id}/test/": ["success msg webhook_id event_id"],

  "GET /api/v0/users/cloud_integrations/": ["[]: id name cloud_type"],
  "GET /api/v0/users/cloud/": ["[]: id cloud_service_id cloud_type user_given_name"],
};
