import { useLive } from "../api/live.ts";
import { duration } from "../text/time.ts";
import { useNow } from "../ui/use-now.ts";
import classes from "./frame.module.css";

/** Says that the server cannot be reached, and since when. */
export function LostBar() {
  const { isConnected, lostAt } = useLive();
  const now = useNow(1_000);
  return (
    <div role="status">
      {!isConnected && lostAt !== undefined && (
        <div className={classes["lost"]}>
          No connection to the server for {duration(now - lostAt.getTime() / 1000)}. The page shows how things were
          then; nothing can be changed until it is back.
        </div>
      )}
    </div>
  );
}
