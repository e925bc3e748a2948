import type { Party } from "./party.ts";

/**
 * The full content of a document, in order. The page and the PDF are both drawn from it, so that they agree. Text is
 * plain, and each renderer escapes it.
 */
export type Sheet = {
  /** Invoice, Receipt, … */
  readonly title: string;
  readonly number: string;
  /** The word before the number in the name of a file. */
  readonly fileName: string;
  /** A sentence that the law requires below the title; empty for none. */
  readonly subtitle: string;
  /** The seller's name in the footers. */
  readonly issuer: string;
  readonly issuedAt: Date;
  readonly parties: readonly SheetParty[];
  readonly facts: readonly SheetFact[];
  readonly tables: readonly SheetTable[];
  readonly notes: readonly string[];
};

export type SheetFact = readonly [name: string, value: string];
export type SheetParty = { readonly heading: string; readonly lines: readonly string[] };

export type SheetColumn = {
  readonly title: string;
  /** The column's share of the table's width, in parts of all shares. */
  readonly share: number;
  /** True for numbers: they are right-aligned and never broken. */
  readonly isNumber: boolean;
};

export type SheetRow = {
  readonly cells: readonly string[];
  /** A smaller line below the first cell; empty for none. */
  readonly note: string;
  readonly isStrong: boolean;
};

/** A row below a table: a label over all columns but the last, and an amount in the last. */
export type SheetTotal = { readonly label: string; readonly amount: string; readonly isStrong: boolean };

export type SheetTable = {
  readonly caption: string;
  readonly columns: readonly SheetColumn[];
  readonly rows: readonly SheetRow[];
  /** The sentence of a table without rows. */
  readonly empty: string;
  readonly totals: readonly SheetTotal[];
};

/** A party as a document shows it: one line for each known part. */
export function partyOf(heading: string, { name, address, tax_id: taxId }: Party, email = ""): SheetParty {
  const lines = [name, ...address, email, taxId === "" ? "" : `Tax id ${taxId}`];
  return { heading, lines: lines.filter((line) => line !== "") };
}

/** A table with two columns: label and amount. */
export function amountsTable(caption: string, title: string, rows: readonly SheetRow[]): SheetTable {
  const columns = [
    { title, share: 70, isNumber: false },
    { title: "Amount", share: 30, isNumber: true },
  ];
  return { caption, columns, rows, empty: "", totals: [] };
}

export function row(cells: readonly string[], { note = "", isStrong = false } = {}): SheetRow {
  return { cells, note, isStrong };
}

/** Dollars and cents: `-1,234.50`. */
export function centsText(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}${whole}.${digits.slice(-2)}`;
}
