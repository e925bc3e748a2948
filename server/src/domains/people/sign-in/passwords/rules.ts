import { invalid } from "../../../../base/errors.ts";

const LENGTH_MIN = 10;
const LENGTH_MAX = 256;

/** The passwords that guessers try first, as far as they are long enough to pass; letters only, in lower case. */
const COMMON = [
  ...["password", "passwort", "passw0rd", "p@ssword", "qwertyuiop", "qwerty", "letmein", "iloveyou", "welcome"],
  ...["administrator", "admin", "changeme", "secret", "football", "baseball", "dragon", "monkey", "sunshine"],
  ...["princess", "trustno", "starwars", "computer", "master", "superman", "batman", "abc", "berth"],
];
const ROWS = ["0123456789012345678901234567890", "qwertyuiopasdfghjklzxcvbnm", "abcdefghijklmnopqrstuvwxyzabcdefghij"];

/** Throws `weak_password` with what to do for a password that is too short or among the first to be guessed. */
export function requireGoodPassword(
  password: string | undefined,
  names: readonly string[],
  field = "password",
): string {
  if (password === undefined || password === "") throw invalid(field, `${field} is required`, "missing_input");
  if (Array.from(password).length < LENGTH_MIN) throw weak(field, `needs at least ${LENGTH_MIN} characters`);
  if (password.length > LENGTH_MAX) throw weak(field, `may have at most ${LENGTH_MAX} characters`);
  const plain = password.normalize("NFKC").toLowerCase();
  if (new Set(plain).size < 5) throw weak(field, "repeats few characters: use more different ones");
  const letters = plain.replace(/[\d\W_]+$/u, "").replace(/^[\d\W_]+/u, "");
  const isRow = ROWS.some((row) => row.includes(plain) || row.split("").toReversed().join("").includes(plain));
  if (isRow || COMMON.includes(letters) || COMMON.includes(plain)) {
    throw weak(field, "is among the first that are guessed: take several words");
  }
  const isName = names.some((name) => name !== "" && [name, name.split("@")[0]].includes(plain));
  if (isName) throw weak(field, "is the user name or address: take another one");
  return password;
}

function weak(field: string, message: string) {
  return invalid(field, `${field} ${message}`, "weak_password");
}
