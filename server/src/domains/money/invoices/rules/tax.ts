import { invariant } from "../../../../base/invariant.ts";
import { parseDollars } from "../../../../base/money.ts";

const PPM = 1_000_000n;
/** A percentage is read as dollars, to millionths. */
const NANOS_PER_PPM = 100_000n;

/** The tax on what customers of one country buy. */
export type TaxRule = {
  /** Prices include it. In millionths. */
  readonly ppm: number;
  /** What it is called there, such as VAT. */
  readonly name: string;
  /** The sentence that invoices say of it. */
  readonly note: string;
  /** Businesses of the country pay it themselves, if the seller's country is another one. */
  readonly isReverseCharged: boolean;
};

/** By country (ISO 3166, two letters); `*` is for all countries that are not named, and for unknown ones. */
export type TaxTable = ReadonlyMap<string, TaxRule>;

/** Settings of a seller from which the tax of an invoice follows. */
export type TaxSettings = {
  /** Two letters of ISO 3166; empty when it does not matter. */
  readonly country: string;
  /** Taxes by the customer's country; empty for one rate for all. */
  readonly taxTable: TaxTable;
  /** Rate for countries that the table does not have, in millionths: 190000 for 19 %. Prices include it. */
  readonly taxPpm: number;
  /** Sentence on invoices that the law asks for. */
  readonly taxNote: string;
};

/** The tax of one invoice. */
export type AppliedTax = {
  readonly ppm: number;
  readonly name: string;
  readonly note: string;
  /** Empty when the customer did not say. */
  readonly country: string;
  readonly isReverseCharge: boolean;
};

const REVERSE_CHARGE_NOTE = "Reverse charge: the recipient of the service is liable for the tax.";
/** Tax ids begin with the code of the country, but for Greece. */
const TAX_ID_PREFIXES: Readonly<Record<string, string>> = { GR: "EL" };

/**
 * The tax that an invoice to this customer includes. Customers say themselves where they are and what their tax id is:
 * prices include tax, so a wrong word saves them nothing. An id of another form than the country's does not count.
 */
export function taxFor(seller: TaxSettings, buyer: { readonly country: string; readonly taxId: string }): AppliedTax {
  const said = buyer.country.trim().toUpperCase();
  const country = /^[A-Z]{2}$/.test(said) ? said : "";
  const fallback: TaxRule = { ppm: seller.taxPpm, name: "Tax", note: seller.taxNote, isReverseCharged: false };
  const rule = seller.taxTable.get(country) ?? seller.taxTable.get("*") ?? fallback;
  const isAbroad = country !== "" && country !== seller.country;
  if (rule.isReverseCharged && isAbroad && isTaxIdOf(country, buyer.taxId)) {
    return { ppm: 0, name: rule.name, note: REVERSE_CHARGE_NOTE, country, isReverseCharge: true };
  }
  return { ppm: rule.ppm, name: rule.name, note: rule.note, country, isReverseCharge: false };
}

/** Whether somebody says that they are a business of their country: their tax id has the form of one. */
export function hasTaxId({ country, taxId }: { readonly country: string; readonly taxId: string }): boolean {
  const code = country.trim().toUpperCase();
  return /^[A-Z]{2}$/.test(code) && isTaxIdOf(code, taxId);
}

/** The tax in an amount that includes it, in cents. Half a cent goes up, and for what is given back away from zero. */
export function taxWithin(totalCents: number, ppm: number): number {
  const [total, rate] = [BigInt(Math.abs(totalCents)), BigInt(ppm)];
  const tax = Number((2n * total * rate + PPM + rate) / (2n * (PPM + rate)));
  return totalCents < 0 ? -tax : tax;
}

/** A percentage as documents store it, in millionths. */
export function ppmOf(percent: string): number {
  const parsed = parseDollars(percent);
  invariant(parsed !== undefined, `${percent} is no percentage`);
  return Number(parsed / NANOS_PER_PPM);
}

function isTaxIdOf(country: string, taxId: string): boolean {
  const id = taxId.toUpperCase().replaceAll(/[\s.-]/g, "");
  return /^[A-Z]{2}[A-Z0-9]{4,14}$/.test(id) && id.startsWith(TAX_ID_PREFIXES[country] ?? country);
}
