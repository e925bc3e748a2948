/** Claims of an issuer about a person, as they came. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person as an issuer describes them. */
export type IssuedPerson = {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; undefined without one. Nothing says that it has the form of an address. */
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** The first name that the issuer has for the person, as it came. */
  readonly name: string;
  readonly fullname: string;
  readonly groups: ReadonlySet<string>;
};

const SUBJECT_LENGTH_MAX = 255;
const GROUPS_MAX = 1_000;
const GROUP_LENGTH_MAX = 256;

/**
 * The person of an ID token, whose issuer and subject were checked, with claims that the issuer gave apart from it. Address
 * and its verification come from one place: a pair of two places would be nobody's word. Undefined without a usable subject.
 */
export function readPerson(token: Claims, more: Claims, groupsClaim: string): IssuedPerson | undefined {
  const { iss: issuer, sub: subject } = token;
  if (typeof issuer !== "string" || typeof subject !== "string") return undefined;
  if (subject === "" || subject.length > SUBJECT_LENGTH_MAX) return undefined;
  const addressed = typeof token["email"] === "string" ? token : more;
  const email = textOf(addressed, "email").toLowerCase();
  const all = { ...more, ...token };
  const fullname = textOf(all, "name");
  return {
    issuer,
    subject,
    email: email === "" ? undefined : email,
    // Anything but true is no word for it: some issuers say "false".
    isEmailVerified: email !== "" && addressed["email_verified"] === true,
    name: textOf(all, "preferred_username") || fullname || email.split("@", 1).join(""),
    fullname,
    groups: groupsOf(token[groupsClaim] ?? more[groupsClaim]),
  };
}

/** Names of groups in a claim: a list of texts, or one text. Anything else names none. */
function groupsOf(value: unknown): ReadonlySet<string> {
  const listed: readonly unknown[] = Array.isArray(value) ? value.slice(0, GROUPS_MAX) : [value];
  return new Set(
    listed.filter((one) => typeof one === "string" && one !== "" && one.length <= GROUP_LENGTH_MAX).map(String),
  );
}

function textOf(claims: Claims, name: string): string {
  const value = claims[name];
  return typeof value === "string" ? value.trim() : "";
}
