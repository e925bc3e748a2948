import { Popover, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useSpending } from "../api/me.ts";
import { hourly, money } from "../text/money.ts";
import { lasting } from "../text/time.ts";
import { Icon } from "../ui/Icon.tsx";
import classes from "./money.module.css";
import frame from "./frame.module.css";

/** Spending an hour, the money left, and how long it lasts; a click explains each part. */
export function MoneyStrip() {
  const spending = useSpending();
  if (spending === undefined) return null;
  const { gpus, disks, volumes, perHour, left, hoursLeft } = spending;
  const short = hoursLeft === undefined ? "" : ` · lasts ${lasting(hoursLeft)}`;
  const isLow = hoursLeft !== undefined && hoursLeft < 24;
  return (
    <Popover position="bottom-end" shadow="md" width={300} trapFocus>
      <Popover.Target>
        <UnstyledButton
          className={frame["barButton"]}
          data-low={isLow || undefined}
          aria-label={`Spending: ${hourly(perHour)} · ${money(left)}${short}`}
        >
          <span className={classes["strip"]} data-low={isLow || undefined}>
            <Icon name="power" size={14} />
            <span>{hourly(perHour)}</span>
            <span className={frame["wideOnly"]}>
              · {money(left)}
              {short}
            </span>
          </span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Spending">
        <dl className={classes["parts"]}>
          <dt>GPUs of running instances</dt>
          <dd>{hourly(gpus)}</dd>
          <dt>Disks of instances</dt>
          <dd>{hourly(disks)}</dd>
          <dt>Volumes</dt>
          <dd>{hourly(volumes)}</dd>
          <dt>Together</dt>
          <dd>{hourly(perHour)}</dd>
          <dt>Credit left</dt>
          <dd>{money(left)}</dd>
        </dl>
        <p className={classes["note"]}>
          {hoursLeft === undefined
            ? "Nothing costs money now."
            : `At this rate the credit lasts ${lasting(hoursLeft)}. Traffic comes on top.`}{" "}
          <Link to="/money">Money</Link>
        </p>
      </Popover.Dropdown>
    </Popover>
  );
}
