import { epochSeconds } from "../../../../base/clock.ts";
import type { SignInMeans } from "../means.ts";
import type { MethodView } from "../schema.ts";
import { OPEN, type FactorLock } from "../rules/lock.ts";
import { maskPhone } from "../rules/phone.ts";
import type { TfaMethod } from "./method-store.ts";

/** The name of a method among the locks. */
export const factorOf = ({ kind, id }: Pick<TfaMethod, "kind" | "id">): string => `${kind}:${id}`;

/** The place of an encrypted secret of a method. */
export const methodContext = (userId: number, kind: TfaMethod["kind"]): string => `tfa ${kind} ${userId}`;

/** The place of an encrypted phone number that is no method yet. */
export const phoneContext = (userId: number): string => `tfa phone ${userId}`;

export function viewMethods(
  methods: readonly TfaMethod[],
  locks: ReadonlyMap<string, FactorLock>,
  means: Pick<SignInMeans, "encryption">,
): readonly MethodView[] {
  return methods.map((method) => viewMethod(method, locks.get(factorOf(method)) ?? OPEN, means));
}

/** A method without its secret; of a phone number the last two digits show. */
export function viewMethod(
  method: TfaMethod,
  { failCount, lockedUntil }: FactorLock,
  { encryption }: Pick<SignInMeans, "encryption">,
): MethodView {
  const { id, userId, kind, label, isPrimary, createdAt, lastUsedAt } = method;
  const number =
    kind === "sms" ? (encryption.decrypt(method.encryptedSecret, methodContext(userId, kind)) ?? "") : undefined;
  return {
    id,
    user_id: userId,
    method: kind,
    label,
    phone_number: number === undefined ? null : maskPhone(number),
    is_primary: isPrimary,
    fail_count: failCount,
    locked_until: lockedUntil === undefined ? null : epochSeconds(lockedUntil),
    created_at: epochSeconds(createdAt),
    last_used: lastUsedAt === undefined ? null : epochSeconds(lastUsedAt),
  };
}
