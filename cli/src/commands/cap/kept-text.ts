import type { ArrearsShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { whenText } from "../../time-text.ts";

/** Stored data that a cap does not pay for, and the time until which it is kept. */
export function keptText(kept: ArrearsShowAnswer["caps"][number]): string {
  const instances = kept.instance_ids.map((id) => `instance ${id}`);
  const volumes = kept.volume_ids.map((id) => `volume ${id}`);
  const until = whenText(kept.delete_at, readClock());
  return (
    `Cap ${kept.cap_id} does not pay for ${[...instances, ...volumes].join(", ")}: kept until ${until}, and deleted then ` +
    "unless the cap leaves enough for a day of that storage."
  );
}
