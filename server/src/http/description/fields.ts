import { ACTION_FIELDS } from "./fields/actions.ts";
import { COPY_FIELDS } from "./fields/copies.ts";
import { DOCUMENT_FIELDS } from "./fields/documents.ts";
import { HARDWARE_FIELDS } from "./fields/hardware.ts";
import { MEASUREMENT_FIELDS } from "./fields/measurements.ts";
import { MONEY_FIELDS } from "./fields/money.ts";
import { PASSKEY_FIELDS } from "./fields/passkeys.ts";
import { PEOPLE_FIELDS } from "./fields/people.ts";
import { RENTAL_FIELDS } from "./fields/rental.ts";
import { SCHEDULE_FIELDS } from "./fields/schedules.ts";
import { SERVERLESS_FIELDS } from "./fields/serverless.ts";
import { TEMPLATE_FIELDS } from "./fields/templates.ts";
import { SIGN_IN_FIELDS } from "./fields/sign-in.ts";
import type { FieldWords } from "./schemas.ts";

/** Models that have fields of another one, as chosen columns have, and say the same of them. */
const PARTS: Readonly<Record<string, { readonly of: string; readonly without?: readonly string[] }>> = {
  MachineColumns: { of: "Machine" },
  AuditLogRow: { of: "AuditLogEntry" },
  Subaccount: { of: "Account", without: ["freeze", "is_admin", "view"] },
  UserCreateResponse: { of: "Account", without: ["key_id"] },
  UserUpdateResponse: { of: "Account" },
};

const OWN: FieldWords = {
  ...HARDWARE_FIELDS,
  ...RENTAL_FIELDS,
  ...COPY_FIELDS,
  ...ACTION_FIELDS,
  ...MEASUREMENT_FIELDS,
  ...TEMPLATE_FIELDS,
  ...MONEY_FIELDS,
  ...DOCUMENT_FIELDS,
  ...SERVERLESS_FIELDS,
  ...PEOPLE_FIELDS,
  ...SCHEDULE_FIELDS,
  ...PASSKEY_FIELDS,
};

/**
 * Sentences of fields that have one meaning in all places, and of fields whose schema says none. A sentence that only
 * one model needs stands with that model's schema or under `Model.field`.
 */
export const FIELDS: FieldWords = {
  ...Object.fromEntries(
    Object.entries(PARTS).flatMap(([part, { of: whole, without = [] }]) =>
      Object.entries(OWN).flatMap(([name, words]) => {
        const [model, field = ""] = name.split(".");
        return model === whole && field !== "" && !without.includes(field)
          ? [[`${part}.${field}`, words] as const]
          : [];
      }),
    ),
  ),
  ...OWN,
  ...HARDWARE_FIELDS,
  ...RENTAL_FIELDS,
  ...TEMPLATE_FIELDS,
  ...MONEY_FIELDS,
  ...DOCUMENT_FIELDS,
  ...SERVERLESS_FIELDS,
  ...PEOPLE_FIELDS,
  ...SIGN_IN_FIELDS,
};
