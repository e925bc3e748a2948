import { invalid, type AppError } from "../../../../../base/errors.ts";

export const PAYOUT_METHODS = ["stripe", "wise", "paypal", "bank"] as const;
export type PayoutMethod = (typeof PAYOUT_METHODS)[number];

/** The destination of a host's money; `details` by the field names of the API. */
export type PayoutTarget = {
  readonly method: PayoutMethod;
  readonly details: Readonly<Record<string, string>>;
  /** The part of the details that lists show. */
  readonly shown: string;
};

/** The fields of a destination, by their names in the API. */
const FIELDS = [
  "account_id",
  "email",
  "account_holder",
  "country",
  "iban",
  "bic",
  "account_number",
  "routing_number",
] as const;
type Details = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,190}\.[^\s@.]{2,}$/;
const STRIPE_ACCOUNT = /^acct_[A-Za-z0-9]{8,64}$/;
/** Control characters: administrators read the details in a terminal, where these are commands. */
const CONTROL = /\p{Cc}/u;
const NAME_LENGTH_MAX = 100;

/** Checks a destination and keeps the fields of its method. Throws an error about the wrong field. */
export function parsePayoutTarget(method: PayoutMethod, given: Details): PayoutTarget {
  // Other fields of the request are ignored.
  const details: Details = Object.fromEntries(
    FIELDS.flatMap((name) => (given[name]?.trim() ? [[name, given[name].trim()] as const] : [])),
  );
  const unfit = FIELDS.find((name) => CONTROL.test(details[name] ?? ""));
  if (unfit !== undefined) throw wrong(unfit, "text without control characters");
  switch (method) {
    case "stripe":
      return parseStripe(details);
    case "wise":
    case "paypal":
      return parseEmail(method, details);
    case "bank":
      return parseBank(details);
  }
}

function parseStripe({ account_id: account = "" }: Details): PayoutTarget {
  if (!STRIPE_ACCOUNT.test(account)) throw wrong("account_id", 'the id of a connected account, such as "acct_1Nv0F…"');
  return { method: "stripe", details: { account_id: account }, shown: `acct_…${account.slice(-4)}` };
}

function parseEmail(method: "wise" | "paypal", { email = "" }: Details): PayoutTarget {
  if (!EMAIL.test(email)) throw wrong("email", `the e-mail address of your account at ${method}`);
  const [name = "", domain = ""] = email.split("@");
  return { method, details: { email }, shown: `${name.slice(0, 1)}…@${domain}` };
}

function parseBank(details: Details): PayoutTarget {
  const { account_holder: holder = "", country = "", bic, iban: spaced } = details;
  if (holder === "" || holder.length > NAME_LENGTH_MAX)
    throw wrong("account_holder", "the name of the account's owner");
  if (!/^[A-Z]{2}$/.test(country)) throw wrong("country", "the two letters of a country, such as DE");
  if (bic !== undefined && !/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(bic)) throw wrong("bic", "a BIC");
  const common = { account_holder: holder, country, ...(bic === undefined ? {} : { bic }) };
  const iban = spaced?.replaceAll(" ", "");
  if (iban !== undefined) {
    if (!isIban(iban)) throw wrong("iban", "a valid IBAN");
    return { method: "bank", details: { ...common, iban }, shown: `${country} …${iban.slice(-4)}` };
  }
  const { account_number: number = "", routing_number: routing = "" } = details;
  if (!/^[A-Za-z0-9-]{4,34}$/.test(number)) throw wrong("account_number", "an account number, where there is no iban");
  if (!/^[A-Za-z0-9-]{4,20}$/.test(routing)) throw wrong("routing_number", "the routing number of the bank");
  return {
    method: "bank",
    details: { ...common, account_number: number, routing_number: routing },
    shown: `${country} …${number.slice(-4)}`,
  };
}

/**
 * Checks an IBAN by ISO 13616: with its first four characters moved to the end and written as digits, the remainder is
 * 1.
 */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(text)) return false;
  const digits = `${text.slice(4)}${text.slice(0, 4)}`.replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
}

function wrong(field: string, wanted: string): AppError {
  return invalid(field, `${field} must be ${wanted}`);
}
