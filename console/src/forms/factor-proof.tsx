import { Button, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { tfaSendSms, type TfaMethod } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { Failure } from "../parts/Failure.tsx";

export type Proof =
  | {
      readonly tfa_method: "totp" | "sms";
      readonly tfa_method_id: number;
      readonly code: string;
      readonly secret?: string;
    }
  | { readonly backup_code: string };

type Props = {
  readonly methods: readonly TfaMethod[];
  readonly hasBackupCodes: boolean;
  /** The words of the button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onProof: (proof: Proof) => void;
};

/** A code of one of the account's second factors, or a backup code. */
export function FactorProof({ methods, hasBackupCodes, action, isDangerous = false, isBusy, error, onProof }: Props) {
  const choices = [
    ...methods.map((method) => ({ value: String(method.id), label: nameOf(method) })),
    ...(hasBackupCodes ? [{ value: "backup", label: "Backup code" }] : []),
  ];
  const [chosen, setChosen] = useState(choices[0]?.value ?? "backup");
  const [code, setCode] = useState("");
  const send = useAction(tfaSendSms, { changes: [] });
  const method = methods.find(({ id }) => String(id) === chosen);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const typed = code.trim();
    onProof(
      method === undefined
        ? { backup_code: typed }
        : { tfa_method: method.method, tfa_method_id: method.id, code: typed },
    );
  };
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <Select
        label="Proof that it is you"
        data={choices}
        value={chosen}
        onChange={(value) => setChosen(value ?? chosen)}
        allowDeselect={false}
      />
      {method?.method === "sms" && (
        <Button
          variant="default"
          loading={send.isPending}
          onClick={() => send.mutate({ body: { tfa_method_id: method.id } })}
        >
          Send a code
        </Button>
      )}
      <TextInput
        label="Code"
        autoComplete="one-time-code"
        inputMode={method === undefined ? "text" : "numeric"}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        required
        data-autofocus
      />
      {(error ?? send.error) !== null && <Failure error={error ?? send.error} />}
      <div>
        <Button type="submit" color={isDangerous ? "red" : "sea"} loading={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** `Authenticator app: phone`. */
export function nameOf({ method, label }: Pick<TfaMethod, "method" | "label">): string {
  const kind = method === "sms" ? "Text message" : "Authenticator app";
  return label === "" ? kind : `${kind}: ${label}`;
}
