import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  browserSettings,
  tfaAuthorize,
  tfaFinishAuthorization,
  type Client,
  type TfaStatus,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { Failure } from "../parts/Failure.tsx";
import { FactorProof, type Proof } from "./factor-proof.tsx";

/** Asks, with a method that the account has, and proves it at once. */
async function authorizeBy(client: Client, proof: Proof): Promise<void> {
  if ("backup_code" in proof) {
    await tfaAuthorize(client, { body: proof });
    return;
  }
  const { tfa_method: way, tfa_method_id: id, code } = proof;
  const { secret } = await tfaAuthorize(client, { body: { tfa_method: way, tfa_method_id: id } });
  await tfaFinishAuthorization(client, { body: { code, ...(secret === undefined ? {} : { secret }) } });
}

type Props = { readonly status: TfaStatus; readonly onDone: () => void };

/** Allows the account to get another second factor or passkey for half an hour, after a proof that it is the person. */
export function FactorAuthorize({ status, onDone }: Props) {
  const prove = useAction(authorizeBy, { changes: ["account"], onDone });
  if (!status.tfa_enabled) return <FirstAuthorization onDone={onDone} />;
  return (
    <FactorProof
      methods={status.methods}
      hasBackupCodes={status.backup_codes_remaining > 0}
      action="Continue"
      isBusy={prove.isPending}
      error={prove.error}
      onProof={prove.mutate}
    />
  );
}

/** Without a second factor the password is the proof, or a code mailed to the proven address. */
function FirstAuthorization({ onDone }: Pick<Props, "onDone">) {
  const settings = useQuery(askPlain("account.settings", browserSettings)).data;
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const ask = useAction(tfaAuthorize, { changes: [] });
  const authorize = useAction(tfaAuthorize, { changes: ["account"], onDone });
  const finish = useAction(tfaFinishAuthorization, { changes: ["account"], onDone });
  const secret = ask.data?.secret;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (secret === undefined) authorize.mutate({ body: { password } });
    else finish.mutate({ body: { code: code.trim(), secret } });
  };
  const error = authorize.error ?? finish.error ?? ask.error;
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      {secret === undefined ? (
        <PasswordInput
          label="Your password"
          description="It proves that it is you who is adding this."
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          required
          data-autofocus
        />
      ) : (
        <TextInput
          label="Code from the mail"
          autoComplete="one-time-code"
          inputMode="numeric"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          required
        />
      )}
      {error !== null && <Failure error={error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={authorize.isPending || finish.isPending}>
          Continue
        </Button>
        {secret === undefined && settings?.has_mail === true && (
          <Button variant="subtle" loading={ask.isPending} onClick={() => ask.mutate({ body: {} })}>
            Mail me a code instead
          </Button>
        )}
      </div>
    </form>
  );
}
