import { Transform } from "node:stream";
import { AppError } from "../../../../base/errors.ts";
import type { Clock } from "../../../../base/clock.ts";

const LOOK_MS = 15_000;
/** Looks without a byte in a row after which a transfer is given up. */
const STILL_LOOKS_MAX = 4;

/** A stream that passes bytes on, fails beyond a limit, and fails when nothing passes for a minute. */
export function watchBytes(
  clock: Clock,
  { limitBytes, tooMany }: { readonly limitBytes: number; readonly tooMany: () => AppError },
): Transform {
  let bytes = 0;
  let seen = -1;
  let stillCount = 0;
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limitBytes) done(tooMany());
      else done(null, chunk);
    },
  });
  const stop = clock.every(LOOK_MS, () => {
    stillCount = bytes === seen ? stillCount + 1 : 0;
    seen = bytes;
    if (stillCount >= STILL_LOOKS_MAX) watch.destroy(stalled());
  });
  watch.once("close", stop);
  // It may fail before somebody reads from it, who then finds it destroyed.
  watch.on("error", () => {});
  return watch;
}

function stalled(): AppError {
  const message = "No byte of the file arrived for a minute. Send it again, without pauses.";
  return new AppError("timeout", "request_timeout", message, { closesConnection: true });
}
