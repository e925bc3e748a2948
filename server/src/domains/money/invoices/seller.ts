import type { TaxTable } from "./rules/tax.ts";

/** Who issues invoices, as the server's settings say. */
export type Seller = {
  readonly name: string;
  readonly address: readonly string[];
  readonly taxId: string;
  /** Two letters of ISO 3166; empty when it does not matter. */
  readonly country: string;
  /** Taxes by the customer's country; empty for one rate for all. */
  readonly taxTable: TaxTable;
  /** Prices include it. In millionths: 190000 for 19 %. Of countries that the table does not have. */
  readonly taxPpm: number;
  /** What the law wants said of it. */
  readonly taxNote: string;
  /** Hosts with a tax id have agreed that the seller issues the invoices of what they supply to it. */
  readonly isSelfBilling: boolean;
  /** Before the year in every number; empty for none. */
  readonly numberPrefix: string;
};

/** A server whose settings do not say who runs it. */
export const UNNAMED_SELLER: Seller = {
  name: "Berth",
  address: [],
  taxId: "",
  country: "",
  taxTable: new Map(),
  taxPpm: 0,
  taxNote: "No tax is charged.",
  isSelfBilling: false,
  numberPrefix: "",
};
