import { NumberInput, Switch } from "@mantine/core";
import { useState } from "react";
import { billingChangeAutobill, type Autobill } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/money/money.module.css";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { money } from "../text/money.ts";
import { Moment } from "../ui/figures.tsx";

type Props = { readonly autobill: Autobill; readonly hasCard: boolean };

/** Switches automatic payments on and off, and says when how much is charged. */
export function AutobillChange({ autobill, hasCard }: Props) {
  const [isOn, setOn] = useState(autobill.enabled);
  const [threshold, setThreshold] = useState<number | string>(autobill.threshold);
  const [amount, setAmount] = useState<number | string>(autobill.amount);
  const change = useAction(billingChangeAutobill, { changes: ["balance", "account"] });
  const body = { enabled: isOn, threshold: Number(threshold), amount: Number(amount) };
  const submit = () => change.mutate({ body });
  const reason = isOn && !hasCard ? "Save a card first." : undefined;
  return (
    <form
      className={classes["form"]}
      aria-label="Automatic payments"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <Switch label="Charge the card by itself" checked={isOn} onChange={(e) => setOn(e.currentTarget.checked)} />
      <NumberInput label="When the balance is down to" min={0} prefix="$" value={threshold} onChange={setThreshold} />
      <NumberInput label="Dollars to charge each time" min={5} prefix="$" value={amount} onChange={setAmount} />
      <p className={classes["note"]}>
        {autobill.enabled
          ? `On: ${money(autobill.amount)} each time, from the card …${autobill.last4 ?? "?"}.`
          : "Off: nothing is charged by itself."}
        {autobill.retry_at !== null && (
          <>
            {" "}
            The card was refused; it is tried again at <Moment at={autobill.retry_at} />.
          </>
        )}
      </p>
      {change.error !== null && <Failure error={change.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton onClick={submit} isBusy={change.isPending} reason={reason}>
          Save
        </ActionButton>
        <AsCommand
          command={
            isOn
              ? ["billing", "autobill", "--on", "--threshold", String(threshold), "--amount", String(amount)]
              : ["billing", "autobill", "--off"]
          }
          request={{ method: "PUT", path: "/api/v0/billing/autobill/", body }}
        />
      </div>
    </form>
  );
}
