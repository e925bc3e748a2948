/** Hours of credit below which a user is warned, the most urgent last. */
const TOLD_HOURS = [24, 1] as const;
/** Hours of credit at which a drop is over, and the next drop is warned of again. */
const RECOVERED_HOURS = 25n;

export type ToldHours = (typeof TOLD_HOURS)[number];

/** The number of drops so far, and the last warning of the present one. */
export type Drop = { readonly dropCount: number; readonly toldHours: number | undefined };

type CreditState = { readonly balanceNanos: bigint; readonly nanosPerHour: bigint };

/** The change to store for a user's credit, and the warning to send, if any; undefined when nothing has changed. */
export type DropChange = Drop & { readonly tell: ToldHours | undefined };

export function followDrop(
  { balanceNanos, nanosPerHour }: CreditState,
  before: Drop | undefined,
): DropChange | undefined {
  const toldHours = before?.toldHours;
  const dropCount = before?.dropCount ?? 0;
  const lasts = (hours: bigint) => balanceNanos >= nanosPerHour * hours;
  if (nanosPerHour === 0n || lasts(RECOVERED_HOURS)) {
    return toldHours === undefined ? undefined : { dropCount, toldHours: undefined, tell: undefined };
  }
  const tell = TOLD_HOURS.findLast((hours) => !lasts(BigInt(hours)));
  if (tell === undefined || (toldHours !== undefined && tell >= toldHours)) return undefined;
  return { dropCount: toldHours === undefined ? dropCount + 1 : dropCount, toldHours: tell, tell };
}
