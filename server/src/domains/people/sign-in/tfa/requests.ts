// Readers of the bodies of two-factor requests.
import { invalid } from "../../../../base/errors.ts";
import { asId, type TfaMethodId } from "../../../../base/ids.ts";
import { UNFIT } from "../../accounts/for-sign-in.ts";
import { isPhoneNumber } from "../rules/phone.ts";
import type { ProofFields } from "../schema.ts";
import type { Proof } from "./verify.ts";

const LABEL_LENGTH_MAX = 30;

export const methodIdOf = (id: number | undefined) => (id === undefined ? undefined : asId<TfaMethodId>(id));

export function proofOf(body: ProofFields): Proof {
  return {
    channel: body.tfa_method ?? "sms",
    code: body.code,
    methodId: methodIdOf(body.tfa_method_id),
    backupCode: body.backup_code,
  };
}

export function readLabel(text: string | undefined): string | undefined {
  const label = text?.trim();
  if (label === undefined) return undefined;
  if (label.length > LABEL_LENGTH_MAX || UNFIT.test(label)) {
    throw invalid("label", `label may have at most ${LABEL_LENGTH_MAX} characters, and no control characters`);
  }
  return label;
}

export function readPhone(text: string | undefined): string | undefined {
  const number = text?.replace(/[\s()-]/g, "");
  if (number === undefined || isPhoneNumber(number)) return number;
  throw invalid("phone_number", "phone_number must be in the form of E.164, such as +46701234567");
}
