import { loginFile, removeLogin } from "../../login-file.ts";
import { printLine } from "../../output.ts";

/** Forgets address and key. The key itself stays valid: other machines may have it. */
export function logout(): void {
  const file = loginFile();
  const isRemoved = removeLogin();
  printLine(isRemoved ? `${file} is removed. The key stays valid until you delete it.` : "You are not signed in.");
}
