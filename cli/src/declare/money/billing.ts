import { Option, type Command } from "commander";
import { billingGroup } from "../../billing-group.ts";
import { serverCommand } from "../connection.ts";
import { declareEarnings } from "./earnings.ts";
import { parseCountry, parseTime } from "../../parse.ts";

/** Charges, invoices and other documents. */
export function declareBillingCommands(program: Command): void {
  const billing = billingGroup(program);
  declareCharges(billing);
  declareInvoices(billing);
  declareDocuments(billing);
  declareEarnings(billing, "show payments of renters for your machines");
}

function declareCharges(billing: Command): void {
  const charges = serverCommand(billing, "charges", "show your usage and its cost, by day")
    .option("--from <date>", "first day, such as 2026-01-31; 30 days ago when left out", parseTime)
    .option("--to <date>", "last day; today when left out", parseTime)
    .addOption(new Option("--type <what>", "only these").choices(["instance", "volume", "serverless"]))
    .option("--tree", "show endpoints with the instances that work for them")
    .addOption(new Option("--lines", "show every charge line: time, state, cause and price").conflicts("type"));
  charges.action(async (options) => (await import("../../commands/billing/charges.ts")).listCharges(options));
  serverCommand(billing, "export", "write every charge line as CSV")
    .option("--movements", "the movements of money instead")
    .option("--from <date>", "first day, such as 2026-01-31")
    .option("--to <date>", "last day")
    .option("--output <file>", "file to write; the terminal when left out")
    .action(async (options) => (await import("../../commands/billing/export.ts")).exportCsv(options));
}

function declareInvoices(billing: Command): void {
  serverCommand(billing, "invoices", "list your monthly invoices").action(async (options) =>
    (await import("../../commands/billing/invoices.ts")).listDocuments(options),
  );
  serverCommand(billing, "invoice", "show a monthly invoice")
    .argument("<number>", "such as 2026-000042, from `berth billing invoices`")
    .option("--pdf <file>", "write it as a PDF")
    .action(async (number, options) =>
      (await import("../../commands/billing/invoice.ts")).showDocument(number, options),
    );
  serverCommand(billing, "movements", "list top-ups, transfers, refunds and payouts")
    .option("--from <date>", "first day, such as 2026-01-31; a year ago when left out", parseTime)
    .option("--to <date>", "last day; today when left out", parseTime)
    .action(async (options) => (await import("../../commands/billing/movements.ts")).listMovements(options));
}

const KINDS = ["invoice", "receipt", "statement", "credit_note"];

function declareDocuments(billing: Command): void {
  serverCommand(billing, "documents", "list your invoices, receipts, statements and credit notes")
    .addOption(new Option("--kind <kind>", "only these").choices(KINDS))
    .action(async (options) => (await import("../../commands/billing/documents.ts")).listAllDocuments(options));
  serverCommand(billing, "document", "show a document of any kind")
    .argument("<number>", "such as 2026-R000042, from `berth billing documents`")
    .option("--pdf <file>", "write it as a PDF")
    .addOption(new Option("--page <file>", "write it as a page for a browser").conflicts("pdf"))
    .action(async (number, options) =>
      (await import("../../commands/billing/document.ts")).showAnyDocument(number, options),
    );
  serverCommand(billing, "details", "show or change who your documents are made out to")
    .option("--name <text>", "name of the person or company")
    .option("--address <text>", "street and number")
    .option("--address2 <text>", "second line of the address")
    .option("--zip <text>", "postal code")
    .option("--city <text>", "town")
    .option("--country <code>", "country: two letters of ISO 3166, such as DE; decides the tax", parseCountry)
    .option("--tax-id <text>", "tax number, such as DE123456789")
    .action(async (options) => (await import("../../commands/billing/details.ts")).billingDetails(options));
}
