import { useEffect, useState } from "react";
import { live } from "../api/live.ts";
import { later } from "../clock.ts";

/** A changed row is marked for this long. */
const MARKED_MS = 1_200;

/** Ids of things of this noun about which the server has just sent an event; for `changed` of a DataTable. */
export function useChanged(noun: string): ReadonlySet<string> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  useEffect(
    () =>
      live.watchChanges((changedNoun, id) => {
        if (changedNoun !== noun) return;
        setIds((last) => new Set([...last, id]));
        later(MARKED_MS, () => setIds((last) => new Set([...last].filter((other) => other !== id))));
      }),
    [noun],
  );
  return ids;
}
