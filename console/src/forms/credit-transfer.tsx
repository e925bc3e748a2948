import { NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { billingTransferCredit } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/money/money.module.css";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { money } from "../text/money.ts";
import { Confirm } from "../ui/Confirm.tsx";
import { HostileText } from "../ui/HostileText.tsx";

/** Gives credit to another account, after a question: it cannot be taken back. */
export function CreditTransfer() {
  const [recipient, setRecipient] = useState("");
  const [amount, setAmount] = useState<number | string>("");
  const [isAsking, setAsking] = useState(false);
  const [sent, setSent] = useState<string>();
  const dollars = Number(amount);
  const body = { recipient: recipient.trim(), amount: dollars };
  const transfer = useAction(billingTransferCredit, {
    changes: ["balance", "account"],
    onDone() {
      setSent(`${money(dollars)} went to ${recipient.trim()}.`);
      setAsking(false);
      setRecipient("");
      setAmount("");
    },
  });
  const reason =
    recipient.trim() === "" ? "Say who gets it first." : dollars > 0 ? undefined : "Say how many dollars first.";
  return (
    <form
      className={classes["form"]}
      aria-label="Transfer"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) setAsking(true);
      }}
    >
      <TextInput
        label="To"
        description="The e-mail address or the id of the account"
        value={recipient}
        onChange={(event) => setRecipient(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <NumberInput label="Dollars" min={0} decimalScale={9} prefix="$" value={amount} onChange={setAmount} />
      <p className={classes["note"]}>
        Credit from a card can be transferred once the payment is settled, which takes some days.
      </p>
      <div className={classes["end"]}>
        <ActionButton onClick={() => setAsking(true)} reason={reason}>
          Transfer
        </ActionButton>
        <AsCommand
          command={["transfer", body.recipient || "RECIPIENT", String(amount)]}
          request={{ method: "PUT", path: "/api/v0/commands/transfer_credit/", body }}
        />
      </div>
      <p role="status" className={classes["note"]}>
        {sent !== undefined && <HostileText text={sent} />}
      </p>
      <AskTransfer
        {...{ recipient: body.recipient, dollars, transfer }}
        isOpen={isAsking}
        onConfirm={() => transfer.mutate({ body })}
        onClose={() => {
          transfer.reset();
          setAsking(false);
        }}
      />
    </form>
  );
}

type AskProps = {
  readonly recipient: string;
  readonly dollars: number;
  readonly isOpen: boolean;
  readonly transfer: { readonly isPending: boolean; readonly error: Error | null };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

function AskTransfer({ recipient, dollars, isOpen, transfer, onConfirm, onClose }: AskProps) {
  return (
    <Confirm
      isOpen={isOpen}
      title="Transfer credit?"
      action={`Transfer ${money(dollars)}`}
      loss={
        <p>
          {money(dollars)} of your credit go to <HostileText text={recipient} />. Only they can give it back.
        </p>
      }
      isBusy={transfer.isPending}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {transfer.error !== null && <Failure error={transfer.error} />}
    </Confirm>
  );
}
