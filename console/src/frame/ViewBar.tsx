import { Button } from "@mantine/core";
import { useMe } from "../api/me.ts";
import { useLeaveView } from "../api/session.ts";
import { duration } from "../text/time.ts";
import { HostileText } from "../ui/HostileText.tsx";
import { useNow } from "../ui/use-now.ts";
import classes from "./frame.module.css";

/** Says all the time that an administrator sees the account of somebody else, and until when. */
export function ViewBar() {
  const me = useMe();
  const leave = useLeaveView();
  const now = useNow(1_000);
  if (me?.view === null || me?.view === undefined) return null;
  const { reason, ends_at: endsAt } = me.view;
  return (
    <section className={classes["view"]} aria-label="View of another account">
      <span>
        You see the console as <HostileText text={`${me.username} (account ${me.id})`} />, and can change nothing.{" "}
        {now < endsAt ? `It ends in ${duration(endsAt - now)}.` : "Its time is over: leave it."} Reason:{" "}
        <HostileText text={reason} />
      </span>
      <Button size="compact-sm" variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
        Leave the view
      </Button>
    </section>
  );
}
