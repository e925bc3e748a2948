import type { ArrearsShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { whenText } from "../../time-text.ts";

/** What a cap does not pay for, and until when that is kept. */
export function keptText(kept: ArrearsShowAnswer["caps"][number]): string {
  const instances = kept.instance_ids.map((id) => `instance ${id}`);
  const volumes = kept.volume_ids.map((id) => `volume ${id}`);
  const until = whenText(kept.delete_at, readClock());
  return (
    `Cap ${kept.cap_id} does not pay for ${[...instances, ...volumes].join(", ")}: kept until ${until}, and deleted then ` +
    "unless it leaves enough for a day of that."
  );
}
