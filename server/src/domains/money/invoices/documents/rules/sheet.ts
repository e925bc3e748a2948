import type { Party } from "./party.ts";

/**
 * Everything that a document shows, in order. The page and the PDF are both drawn from it, so that they say the same.
 * Text is plain: whoever draws it escapes it.
 */
export type Sheet = {
  /** Invoice, Receipt */
  readonly title: string;
  readonly number: string;
  /** Before the number in the name of a file. */
  readonly fileName: string;
  /** A sentence that the law wants right below the title; empty for none. */
  readonly subtitle: string;
  /** Who stands in the footers. */
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
  /** Its share of the width of a sheet of paper, in parts of all shares of its table. */
  readonly share: number;
  /** Numbers stand at the right, and are never broken on a page. */
  readonly isNumber: boolean;
};

export type SheetRow = {
  readonly cells: readonly string[];
  /** A smaller line below the first cell; empty for none. */
  readonly note: string;
  readonly isStrong: boolean;
};

/** A line below a table: a label over all columns but the last, and an amount in that. */
export type SheetTotal = { readonly label: string; readonly amount: string; readonly isStrong: boolean };

export type SheetTable = {
  readonly caption: string;
  readonly columns: readonly SheetColumn[];
  readonly rows: readonly SheetRow[];
  /** Said in place of rows where there are none. */
  readonly empty: string;
  readonly totals: readonly SheetTotal[];
};

/** A party as it stands on a document: a line for each part that is known. */
export function partyOf(heading: string, { name, address, tax_id: taxId }: Party, email = ""): SheetParty {
  const lines = [name, ...address, email, taxId === "" ? "" : `Tax id ${taxId}`];
  return { heading, lines: lines.filter((line) => line !== "") };
}

/** A table of two columns: what, and how much. */
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
