// Members of answers about bills, charges and earnings.
import type { MemberTable } from "./members.ts";

const HEADING = "username email fullname address1 address2 city zip country taxinfo";
const EARNED = "gpu_earn sto_earn bwu_earn bwd_earn";
const SUMS = `${EARNED} sla_earn referral_earn referral_count total_earn`;

export const MONEY_MEMBERS: MemberTable = {
  "GET /api/v0/users/{user_id}/invoices/": [
    `${HEADING} bill_to`,
    "invoices[]: id type service amount timestamp description quantity rate last4 is_credit instance_id?",
    "current: charges service_fee total credit",
  ],
  "GET /api/v0/invoices/": [
    "[]: id user_id when paid_on payment_expected amount_cents is_credit is_delayed balance_before balance_after",
    "[]: original_amount event_id cut_amount cut_percent extra service stripe_charge stripe_refund stripe_payout error",
    "[]: paypal_email transfer_group failed refunded is_check",
  ],
  "GET /api/v1/invoices/": [
    "success count total next_token error?",
    "results[]: start end type source description amount items metadata.invoice_id metadata.service",
  ],
  "GET /api/v0/charges/": [
    "success count total next_token",
    "results[]: start end type source description amount metadata items",
  ],
  "GET /api/v0/charges/chart/": ["success"],
  "POST /api/v0/contracts/fetch/": ["contracts[].id"],
  "PUT /api/v0/commands/transfer_credit/": ["success"],
  "GET /api/v0/users/{user_id}/machine-earnings/": [
    HEADING,
    "summary: total_gpu total_stor total_bwu total_bwd",
    "current: balance service_fee total credit",
    `per_machine[]: machine_id ${EARNED}`,
    `per_day[]: day ${EARNED}`,
  ],
  "GET /api/v0/user/earnings/": ["referral_count referral_credits machine_earnings sla_earnings sla_collateral"],
  "GET /api/v0/user/earnings/data/": [
    "success",
    "machine_earnings.summary: total_gpu total_stor total_bwu total_bwd total_sla avg_reliability",
    `machine_earnings.per_machine[]: machine_id sla_earn reliability ${EARNED}`,
    `machine_earnings.per_day[]: day sla_earn reliability ${EARNED}`,
    "referral_earnings[]: day earn_referral",
    "referral_count[]: day referral_count",
  ],
  "GET /api/v1/user/earnings/": ["success total_rows rows_found next_token", `rows[]: ${SUMS}`, `total: ${SUMS}`],
  "GET /api/v1/user/earnings/summary/": ["success", `summary: ${SUMS} reliability`],
  "GET /api/v1/user/earnings/chart/": ["success"],
};
