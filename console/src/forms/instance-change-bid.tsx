import { Button, Modal, NumberInput } from "@mantine/core";
import { useState } from "react";
import { instanceChangeBid, type Instance } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { hourly } from "../text/money.ts";
import classes from "./rent.module.css";

type Props = { readonly instance: Instance; readonly isOpen: boolean; readonly onClose: () => void };

/** Changes the bid of an interruptible instance. */
export function ChangeBid({ instance, isOpen, onClose }: Props) {
  const { id, dph_base: bid, waiting_for: waiting, interruption } = instance;
  const [price, setPrice] = useState(bid);
  const change = useAction(instanceChangeBid, { changes: ["instance", "offer", "balance"], onDone: onClose });
  const body = { client_id: "me", price };
  const runsNow = waiting?.bid_to_run_now ?? interruption?.bid_to_run_now ?? null;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={`Bid of instance ${id}`}
      centered
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form
        className={classes["fields"]}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ id, body });
        }}
      >
        <p className={classes["line"]}>
          It is {hourly(bid)} now{runsNow === null ? "" : `; ${hourly(runsNow)} would run now`}. A higher bid runs
          before a lower one.
        </p>
        <NumberInput
          label="Dollars an hour"
          min={0}
          step={0.01}
          decimalScale={6}
          value={price}
          onChange={(value) => setPrice(Number(value) || 0)}
          data-autofocus
        />
        {change.error !== null && <Failure error={change.error} />}
        <div className={classes["end"]}>
          <Button type="submit" variant="filled" loading={change.isPending}>
            Change bid
          </Button>
          <AsCommand
            command={["bid", String(id), "--price", String(price)]}
            request={{ method: "PUT", path: `/api/v0/instances/bid_price/${id}/`, body }}
          />
        </div>
      </form>
    </Modal>
  );
}
