import { Button, Select, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { tfaSendMail, tfaSendSms, type TfaMethod } from "../../../sdk/src/index.ts";
import { client } from "../api/client.ts";
import type { FactorStep } from "../api/session.ts";
import { Failure } from "../parts/Failure.tsx";
import { PageHead } from "../ui/PageHead.tsx";

type Props = FactorStep & { readonly onBack: () => void };
type Choice = {
  readonly value: string;
  readonly label: string;
  readonly kind: "totp" | "sms" | "email" | "backup";
  readonly id?: number;
};

/** The second step of a sign-in: a code of one of the account's methods, a mailed code, or a backup code. */
export function SecondFactor({ secret, methods, hasBackupCodes, confirm, error, isBusy, onBack }: Props) {
  const choices = choicesOf(methods, hasBackupCodes);
  const primary = methods.find(({ is_primary }) => is_primary);
  const [chosen, setChosen] = useState(primary === undefined ? choices[0]?.value : valueOf(primary));
  const [code, setCode] = useState("");
  const choice = choices.find(({ value }) => value === chosen);
  const kind = choice?.kind ?? "backup";
  const send = useMutation({
    mutationFn: (way: "sms" | "email") =>
      way === "sms" ? tfaSendSms(client, { body: { secret } }) : tfaSendMail(client, { body: { secret } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const typed = code.trim();
    if (kind === "backup") return confirm({ backup_code: typed });
    confirm({ tfa_method: kind, code: typed, ...(choice?.id === undefined ? {} : { tfa_method_id: choice.id }) });
  };
  return (
    <form onSubmit={submit}>
      <PageHead title="Second factor" note="This account asks for a code as well." />
      <Select
        label="Method"
        data={choices.map(({ value, label }) => ({ value, label }))}
        value={chosen ?? null}
        onChange={(value) => setChosen(value ?? chosen)}
        allowDeselect={false}
        comboboxProps={{ withinPortal: true }}
      />
      {(kind === "sms" || kind === "email") && (
        <Button variant="default" mt={8} loading={send.isPending} onClick={() => send.mutate(kind)}>
          {send.isSuccess ? "Send it again" : "Send a code"}
        </Button>
      )}
      <TextInput
        mt={12}
        label="Code"
        inputMode={kind === "backup" ? "text" : "numeric"}
        autoComplete="one-time-code"
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" mt={16} mb={8} loading={isBusy}>
        Continue
      </Button>
      <Button variant="subtle" fullWidth onClick={onBack}>
        Start again
      </Button>
      {(error ?? send.error) !== null && <Failure error={error ?? send.error} />}
    </form>
  );
}

function choicesOf(methods: readonly TfaMethod[], hasBackupCodes: boolean): readonly Choice[] {
  const own = methods.map((one): Choice => {
    const name = one.method === "sms" ? "Text message" : "Authenticator app";
    return {
      value: valueOf(one),
      label: one.label === "" ? name : `${name}: ${one.label}`,
      kind: one.method,
      id: one.id,
    };
  });
  const backup: readonly Choice[] = hasBackupCodes ? [{ value: "backup", label: "Backup code", kind: "backup" }] : [];
  // After single sign-on the methods are not known here: the server finds the app to which a code belongs.
  const app: readonly Choice[] = own.length === 0 ? [{ value: "totp", label: "Authenticator app", kind: "totp" }] : own;
  return [...app, { value: "email", label: "E-mail", kind: "email" }, ...backup];
}

function valueOf({ method, id }: TfaMethod): string {
  return `${method} ${id}`;
}
