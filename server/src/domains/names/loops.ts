import type { Loop } from "../../base/loop-driver.ts";
import type { ServedNames } from "./names.ts";

export const CERTIFICATES_LOOP = "keep-certificates";

export function nameLoops(names: ServedNames | undefined): readonly Loop[] {
  if (names === undefined) return [];
  return [
    {
      name: CERTIFICATES_LOOP,
      description: "Reads the certificates that are served, and orders those that are missing or end soon.",
      everyMs: 15_000,
      run: async () => {
        await names.load();
        // An order takes minutes where DNS is slow, so the run does not wait for it.
        return { orders: await names.orderDue() };
      },
    },
  ];
}
