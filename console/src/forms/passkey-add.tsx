import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, type TfaStatus } from "../../../sdk/src/index.ts";
import { addPasskey } from "../api/passkeys.ts";
import classes from "../pages/account/account.module.css";
import { Failure } from "../parts/Failure.tsx";
import { FactorAuthorize } from "./factor-authorize.tsx";

type Props = { readonly status: TfaStatus; readonly onDone: () => void };

/** Adds a passkey. An old session has to prove first that it is the person. */
export function PasskeyAdd({ status, onDone }: Props) {
  const queries = useQueryClient();
  const [label, setLabel] = useState("");
  const add = useMutation({
    mutationFn: () => addPasskey(label),
    async onSuccess(answer) {
      if (answer === undefined) return;
      await queries.invalidateQueries({ queryKey: ["account"] });
      onDone();
    },
  });
  const isTooOld = add.error instanceof ApiError && add.error.code === "sign_in_again";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  if (isTooOld) {
    return (
      <>
        <p className={classes["hint"]}>You signed in a while ago, so prove first that it is you.</p>
        <FactorAuthorize status={status} onDone={() => add.reset()} />
      </>
    );
  }
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <p className={classes["hint"]}>
        Your device keeps the passkey and asks for a finger, your face or a PIN. It works at this site and no other.
      </p>
      <TextInput
        label="Name"
        description="Tells your passkeys apart, such as laptop."
        maxLength={64}
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value)}
        data-autofocus
      />
      {add.error !== null && <Failure error={add.error} />}
      {add.isSuccess && add.data === undefined && <p role="status">No passkey was made.</p>}
      <div>
        <Button type="submit" loading={add.isPending}>
          Make the passkey
        </Button>
      </div>
    </form>
  );
}
