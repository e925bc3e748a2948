import { Button, NumberInput, SegmentedControl, Select, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { adminBookCorrection, adminCredit, type AccountFile } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { money } from "../../text/money.ts";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./operate.module.css";

type Props = {
  readonly account: AccountFile;
  readonly kind: "credit" | "correction" | undefined;
  readonly onClose: () => void;
};
type FormProps = Omit<Props, "kind">;

/** Money that an administrator gives or takes, in a panel beside the account. */
export function BookMoney({ account, kind, onClose }: Props) {
  const title = kind === "correction" ? `Correct account ${account.id}` : `Give account ${account.id} credit`;
  return (
    <Panel title={title} isOpen={kind !== undefined} onClose={onClose} width={440}>
      {kind === "credit" && <CreditForm account={account} onClose={onClose} />}
      {kind === "correction" && <CorrectionForm account={account} onClose={onClose} />}
    </Panel>
  );
}

function CreditForm({ account, onClose }: FormProps) {
  const [amount, setAmount] = useState<number | string>("");
  const [reason, setReason] = useState("");
  const [paidBy, setPaidBy] = useState("");
  const give = useAction(adminCredit, { changes: ["operator", "balance"], onDone: onClose });
  const body = {
    user_id: account.id,
    amount: Number(amount),
    ...(reason.trim() !== "" && { reason: reason.trim() }),
    ...(paidBy.trim() !== "" && { paid_by: paidBy.trim() }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    give.mutate({ body });
  };
  return (
    <form className={classes["form"]} onSubmit={submit}>
      <p className="dim" style={{ margin: 0 }}>
        It has {money(account.money.credit)} now. Granted credit can be spent and given to others, but not paid out.
      </p>
      <AmountInput value={amount} onChange={setAmount} />
      <TextInput
        label="Reason"
        description="Its invoice shows it."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <TextInput
        label="Paid by"
        description="How it was paid for, such as a wire transfer: the account gets a receipt. Empty for a gift."
        value={paidBy}
        onChange={(event) => setPaidBy(event.currentTarget.value)}
      />
      <Button type="submit" loading={give.isPending}>
        Give credit
      </Button>
      <AsCommand
        command={["admin", "credit", account.email, String(body.amount), ...optionsOf(body)]}
        request={{ method: "POST", path: "/api/v0/admin/credit/", body }}
      />
      {give.error !== null && <Failure error={give.error} />}
    </form>
  );
}

function optionsOf({ reason, paid_by: paidBy }: { readonly reason?: string; readonly paid_by?: string }) {
  return [
    ...(reason === undefined ? [] : ["--reason", reason]),
    ...(paidBy === undefined ? [] : ["--paid-by", paidBy]),
  ];
}

function CorrectionForm({ account, onClose }: FormProps) {
  const [direction, setDirection] = useState("pay");
  const [side, setSide] = useState<"credit" | "earnings">("credit");
  const [size, setSize] = useState<number | string>("");
  const [reference, setReference] = useState("");
  const [reason, setReason] = useState("");
  const book = useAction(adminBookCorrection, { changes: ["operator", "balance"], onDone: onClose });
  const user = String(account.id);
  const amount = direction === "charge" ? -Number(size) : Number(size);
  const body = { user, side, amount, reference: reference.trim(), reason: reason.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    book.mutate({ body });
  };
  const flags = [...(direction === "charge" ? ["--charge"] : []), ...(side === "earnings" ? ["--earnings"] : [])];
  return (
    <form className={classes["form"]} onSubmit={submit}>
      <SegmentedControl
        aria-label="Direction"
        data={[
          { value: "pay", label: "In its favour" },
          { value: "charge", label: "Charge it" },
        ]}
        value={direction}
        onChange={setDirection}
      />
      <Select
        label="Of its"
        data={[
          { value: "credit", label: "Credit" },
          { value: "earnings", label: "Earnings" },
        ]}
        value={side}
        onChange={(value) => setSide(value === "earnings" ? "earnings" : "credit")}
        allowDeselect={false}
      />
      <AmountInput value={size} onChange={setSize} />
      <TextInput
        label="Reference"
        description="The number of the case or of the invoice: under it an entry is booked once."
        required
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
      <Textarea
        label="Reason"
        description="The account reads it."
        required
        autosize
        minRows={2}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Button type="submit" loading={book.isPending}>
        Book it
      </Button>
      <AsCommand
        command={[
          ...["admin", "correct", user, String(Number(size)), ...flags],
          ...["--reference", body.reference, "--reason", body.reason],
        ]}
        request={{ method: "POST", path: "/api/v0/admin/corrections/", body }}
      />
      {book.error !== null && <Failure error={book.error} />}
    </form>
  );
}

type AmountProps = { readonly value: number | string; readonly onChange: (value: number | string) => void };

function AmountInput({ value, onChange }: AmountProps) {
  return (
    <NumberInput
      label="Amount in dollars"
      min={0.01}
      decimalScale={2}
      prefix="$"
      required
      hideControls
      value={value}
      onChange={onChange}
      data-autofocus
    />
  );
}
