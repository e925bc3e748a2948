import type { BrowserSettings } from "../domains/people/sign-in/index.ts";
import { ConfigError } from "./config-error.ts";

const WAYS = ["open", "invitation", "sso"] as const;

type SignUpSettings = { readonly signUp: BrowserSettings["signUp"]; readonly isSignupOpen: boolean };

/** The way in which people get accounts: `BERTH_SIGN_UP`, or that of the older switch `BERTH_OPEN_SIGNUP`. */
export function readSignUp(environment: Readonly<Record<string, string | undefined>>): SignUpSettings {
  const [text, older] = [environment["BERTH_SIGN_UP"], environment["BERTH_OPEN_SIGNUP"] || "1"];
  if (older !== "0" && older !== "1") throw new ConfigError(`BERTH_OPEN_SIGNUP must be 1 or 0, not "${older}"`);
  const signUp = text ? WAYS.find((one) => one === text) : older === "1" ? "open" : "invitation";
  if (signUp === undefined) throw new ConfigError(`BERTH_SIGN_UP must be one of ${WAYS.join(", ")}, not "${text}"`);
  if (older === "0" && signUp === "open") {
    throw new ConfigError("BERTH_SIGN_UP=open contradicts BERTH_OPEN_SIGNUP=0: leave the latter out");
  }
  return { signUp, isSignupOpen: signUp === "open" };
}
