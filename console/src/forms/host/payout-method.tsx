import { Button, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { billingChoosePayoutMethod, type BillingChoosePayoutMethodRequest } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import classes from "../../pages/host/host.module.css";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";

type Way = BillingChoosePayoutMethodRequest["method"];
type Detail = keyof BillingChoosePayoutMethodRequest["details"];
type Field = { readonly key: Detail; readonly label: string; readonly isOptional?: boolean };

const FIELDS: Readonly<Record<Way, readonly Field[]>> = {
  bank: [
    { key: "account_holder", label: "Account holder" },
    { key: "country", label: "Country, two letters" },
    { key: "iban", label: "IBAN", isOptional: true },
    { key: "bic", label: "BIC", isOptional: true },
    { key: "account_number", label: "Account number, where there is no IBAN", isOptional: true },
    { key: "routing_number", label: "Routing number, where there is no IBAN", isOptional: true },
  ],
  paypal: [{ key: "email", label: "Email of the PayPal account" }],
  wise: [{ key: "email", label: "Email of the Wise account" }],
  stripe: [{ key: "account_id", label: "Id of the Stripe account" }],
};
const WAYS = [
  { value: "bank", label: "Bank transfer" },
  { value: "paypal", label: "PayPal" },
  { value: "wise", label: "Wise" },
  { value: "stripe", label: "Stripe" },
] as const;

/** Chooses where payouts go. */
export function PayoutMethodForm({ onDone }: { readonly onDone: () => void }) {
  const [way, setWay] = useState<Way>("bank");
  const [details, setDetails] = useState<BillingChoosePayoutMethodRequest["details"]>({});
  const save = useAction(billingChoosePayoutMethod, { changes: ["balance"], onDone });
  const bodyOf = () => {
    const given = FIELDS[way].flatMap(({ key }) => {
      const value = details[key]?.trim() ?? "";
      return value === "" ? [] : [[key, value] as const];
    });
    return { method: way, details: Object.fromEntries(given) };
  };
  const body = bodyOf();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className="dim">Only the operator who pays you sees these details. They are stored encrypted.</p>
      <Select
        label="Way"
        data={WAYS}
        value={way}
        onChange={(value) => setWay(WAYS.find((one) => one.value === value)?.value ?? "bank")}
        allowDeselect={false}
      />
      {FIELDS[way].map(({ key, label, isOptional = false }) => (
        <TextInput
          key={key}
          label={label}
          value={details[key] ?? ""}
          onChange={(event) => setDetails({ ...details, [key]: event.currentTarget.value })}
          required={!isOptional}
          autoComplete="off"
          spellCheck={false}
        />
      ))}
      {save.error !== null && <Failure error={save.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="filled" loading={save.isPending}>
          Choose it
        </Button>
        <AsCommand request={{ method: "PUT", path: "/api/v0/billing/payout_method/", body }} />
      </div>
    </form>
  );
}
