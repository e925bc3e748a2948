import type { OperationWords } from "../operation-words.ts";

const PAGE = '<!doctype html><html lang="en"><title>Invoice 2026-000007</title></html>';
const CHARGES =
  "id,charged_at,from,to,source\r\n3021,2026-01-01T01:00:00.000Z,2026-01-01T00:00:00.000Z,2026-01-01T01:00:00.000Z,instance-77\r\n";
const MOVEMENTS =
  "id,when,type,service,direction,description,amount_usd,account\r\n90211,2026-01-01T00:00:00.000Z,credit,stripe_payments,in,Card payment,25.00,credit\r\n";
const DOCUMENTS = "number,kind,issued_at\r\n2026-000007,invoice,2026-02-01T00:00:00.000Z\r\n";
const PDF = "%PDF-1.7";

/** Credit, charges, documents, payments, payouts, caps and the audit. */
export const MONEY_OPERATIONS: OperationWords = {
  "api.arrears.show": {
    description:
      "Returns until when data is kept that credit or a cap does not pay for, with its price in dollars an hour.",
  },
  "api.billing.charges": {
    description:
      "Returns charges by day and by instance or volume, or with `format=lines` every charge line; amounts are in dollars. 400 `invalid_args` without a range of days, 400 `invalid_token`.",
  },
  "api.billing.spend_days": {
    description:
      "Returns what each of the last days (UTC) cost in dollars, split by instance, label, endpoint, person, API key or kind of contract. A person is the member of a team whose key or sign-in ordered, otherwise the account; sign-ins of one person are one part. The twelve largest parts have a series, and the series add up to everything. Use that is not charged yet is not in it. 400 `invalid_args` for a parameter that cannot be read.",
  },
  "api.billing.spend_forecast": {
    description:
      "Returns what this month (UTC) cost so far and will cost if all goes on as now, what everything costs an hour, and when the balance is used up; amounts are in dollars. Future traffic is not known and not in it.",
  },
  "api.billing.charges_chart": {
    description:
      "Returns what each day (UTC) of a window cost, by kind of contract and by component, in dollars with every digit. 400 `invalid_args` for a window that cannot be read or has more than 3,660 days.",
  },
  "api.billing.export_charges": {
    description:
      "Returns every charge line of a span as CSV, of any length. 400 `invalid_args` for a time that cannot be read.",
    response: CHARGES,
  },
  "api.billing.export_invoices": {
    description:
      "Returns every money movement of a span as CSV, of any length. 400 `invalid_args` for a time that cannot be read.",
    response: MOVEMENTS,
  },
  "api.billing.list_invoices": {
    description:
      "Returns money movements other than usage, page by page; amounts are in dollars. A missing or invalid range of dates answers 200 with `success: false`. 400 `invalid_token`.",
  },
  "api.billing.search_invoices": {
    description:
      "Returns money movements with filters, order and chosen columns; amounts are in cents. 400 `invalid_args` for an unknown column.",
  },
  "api.billing.invoices": {
    description:
      "Returns a report of charges and payments of a span, in dollars. 403 for the account of somebody else, 400 `invalid_args` for flags that contradict each other.",
  },
  "api.billing.list_documents": { description: "Returns the monthly invoices, the newest first. 400 `invalid_token`." },
  "api.billing.show_document": {
    description: "Returns a monthly invoice with its lines, in dollars and whole cents. 404 `no_such_invoice`.",
  },
  "api.billing.show_document_page": {
    description: "Returns a monthly invoice as an HTML page for printing. 404 `no_such_invoice`.",
    response: PAGE,
  },
  "api.billing.show_document_pdf": {
    description: "Returns a monthly invoice as a PDF. 404 `no_such_invoice`.",
    response: PDF,
  },
  "api.billing.list_all_documents": {
    description:
      "Returns invoices, receipts, statements and credit notes, the newest first. 400 `invalid_token`, 400 `invalid_args` for an unknown kind.",
  },
  "api.billing.show_any_document": {
    description: "Returns a document of any kind with its content, in dollars and whole cents. 404 `no_such_document`.",
  },
  "api.billing.show_any_document_page": {
    description: "Returns a document of any kind as an HTML page for printing. 404 `no_such_document`.",
    response: PAGE,
  },
  "api.billing.show_any_document_pdf": {
    description: "Returns a document of any kind as a PDF. 404 `no_such_document`.",
    response: PDF,
  },
  "api.billing.fetch_contracts": {
    description:
      "Returns those of the named instances whose label is the one that is asked for. Unknown ids are left out.",
    request: { label: "training", contract_ids: [77, 78] },
  },
  "api.billing.transfer_credit": {
    description:
      "Transfers dollars of credit to another user; it cannot be undone. 400 `insufficient_balance`, `invalid_recipient` or `invalid_params`, 409 `recipient_not_proven`, 403 for a key with a cap.",
  },
  "api.billing.checkout": {
    description:
      "Opens a payment page of the provider on which the user adds credit by card, at least 5 dollars. 409 `payments_not_configured`, 403 `payment_disputed` or `email_not_verified`, 503 `payment_provider_unavailable`.",
    request: { amount: 25, save_card: true },
  },
  "api.billing.save_card": {
    description:
      "Opens a page of the provider on which the user saves a card without paying. 409 `payments_not_configured`, 503 `payment_provider_unavailable`.",
  },
  "api.billing.cards": {
    description: "Returns the saved cards. 409 `payments_not_configured` where cards are not taken.",
  },
  "api.billing.prefer_card": {
    description: "Makes a card the one that is charged automatically. 404 `no_such_payment_method`.",
  },
  "api.billing.forget_card": {
    description: "Removes a saved card; without another one automatic payments end. 404 `no_such_payment_method`.",
  },
  "api.billing.payments": { description: "Returns card payments, the newest first; amounts are in dollars." },
  "api.billing.autobill": { description: "Returns the settings of automatic card payments; amounts are in dollars." },
  "api.billing.change_autobill": {
    description:
      "Changes when the saved card is charged automatically, and with how many dollars. 400 `no_saved_card`, 400 `invalid_args` for amounts below 5 dollars.",
    request: { enabled: true, threshold: 10, amount: 50 },
  },
  "api.billing.payouts": {
    description: "Returns the host's payouts, the newest first, and the earnings that wait, in dollars.",
  },
  "api.billing.payout_method": {
    description: "Returns the way in which payouts are made, with the part of its details that may be shown.",
  },
  "api.billing.choose_payout_method": {
    description: "Chooses the way in which payouts are made. 400 `invalid_args` naming the missing or wrong detail.",
  },
  "api.cap.list": { description: "Returns the caps of the account, with what each has left, in dollars." },
  "api.cap.set": {
    description:
      "Limits the dollars that the account, a key, an endpoint or an instance may spend in a period; setting it again changes the limit. 400 `max_caps`, 404 for a subject that is not the caller's, 403 for a cap on the calling key.",
    request: { scope: "account", period: "month", limit: 200 },
  },
  "api.cap.remove": { description: "Removes a cap. 404 `no_such_cap`, 403 for a cap on the calling key." },

  "api.admin.audit": {
    description:
      "Recomputes the books from the facts and returns all differences; ask again while `state` is `running`.",
  },
  "api.admin.audit_facts": {
    description: "Returns the signed chain of facts about money, page by page, for keeping a copy elsewhere.",
  },
  "api.admin.reconciliation": {
    description:
      "Returns mismatches of ledger, GPU grants, instances and hosts that rules repaired, and those that they could only report.",
  },
  "api.admin.credit": {
    description:
      "Gives a user dollars of credit, with a receipt when `paid_by` says how the user paid. 404 `no_such_user`, 409 `credit_limit`.",
    request: { email: "renter@example.com", amount: 25, reason: "Welcome" },
  },
  "api.admin.book_correction": {
    description:
      "Corrects the credit or the earnings of an account by dollars above or below 0, once under each reference. 404 `no_such_user`, 409 `reference_used`.",
    request: {
      user: "renter@example.com",
      amount: -5,
      side: "credit",
      reason: "Double charge",
      reference: "case-2026-17",
    },
  },
  "api.admin.take_back_earnings": {
    description:
      "Takes dollars of earnings back from a host, once under each reference. 404 `no_such_user`, 409 `reference_used`, 400 `invalid_args` for more than there is.",
    request: { user: "host@example.com", amount: 5, reason: "Invented GPU time", reference: "case-2026-18" },
  },
  "api.admin.release_earnings": {
    description:
      "Lets a host be paid for earnings that came of granted credit, all of them or `amount` dollars. 404 `no_such_user`, 400 `invalid_args` for more than was granted.",
    request: { email: "host@example.com", amount: 5, reason: "Checked by hand" },
  },
  "api.admin.refund_payment": {
    description:
      "Asks the provider to give a card payment back, whole or `amount` dollars of it. 404 `no_such_payment`, 409 `payment_not_paid`, 400 `invalid_args` for more than can be given back.",
    request: { amount: 5 },
  },
  "api.admin.disputes": { description: "Returns accounts with disputed card payments; amounts are in dollars." },
  "api.admin.list_documents": {
    description:
      "Returns the documents of all accounts that were issued in a month (UTC), in the order of issue. 400 `invalid_args` for a month that cannot be read.",
  },
  "api.admin.export_documents": {
    description:
      "Returns the documents of all accounts that were issued in a month (UTC) as CSV. 400 `invalid_args` for a month that cannot be read.",
    response: DOCUMENTS,
  },
  "api.admin.payout_holds": { description: "Returns open holds on payouts to hosts." },
  "api.admin.hold_payouts": {
    description: "Holds the payouts of a host: none is made or sent until the hold is released. 404 `no_such_user`.",
    request: { user: "host@example.com", reason: "Under review" },
  },
  "api.admin.release_payouts": {
    description: "Releases a hold on payouts. 404 `no_such_payout_hold`.",
    request: { reason: "Reviewed" },
  },
  "api.admin.payouts": { description: "Returns payouts to hosts, the newest first; amounts are in dollars." },
  "api.admin.payout": {
    description: "Returns a payout with the full details of its destination. 404 `no_such_payout`.",
  },
  "api.admin.settle_payout": {
    description:
      "Marks a payout as paid, or as failed when it came back. 404 `no_such_payout`, 409 `payout_settled`, `payout_in_progress` or `payout_held`.",
    request: { state: "paid", reference: "po_1" },
  },
};
