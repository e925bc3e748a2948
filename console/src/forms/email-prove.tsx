import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { browserSettings, userConfirmEmail, userRequestEmailProof, type Client } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

const requestProof = (client: Client, _input: null) => userRequestEmailProof(client);

/** Proves that the account's address is the person's: a token is mailed there, and comes back. */
export function EmailProve() {
  const settings = useQuery(askPlain("account.settings", browserSettings)).data;
  const [token, setToken] = useState("");
  const ask = useAction(requestProof, { changes: [] });
  const confirm = useAction(userConfirmEmail, { changes: ["account"] });
  const body = { token: token.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate({ body });
  };
  if (settings?.has_mail === false) {
    return <p className={classes["hint"]}>This server sends no mail. Its operator confirms addresses.</p>;
  }
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className={classes["hint"]}>
        A token is mailed to the address. Notifications, invitations and credit reach it after the proof.
      </p>
      <div className={classes["buttons"]}>
        <Button variant="default" loading={ask.isPending} onClick={() => ask.mutate(null)}>
          Mail me a token
        </Button>
        <AsCommand command={["email", "prove"]} request={{ method: "POST", path: "/api/v0/users/me/email/proof/" }} />
      </div>
      {ask.data !== undefined && <p role="status">{ask.data.msg}</p>}
      {ask.error !== null && <Failure error={ask.error} onRetry={() => ask.mutate(null)} />}
      <TextInput
        label="Token from the mail"
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        required
      />
      {confirm.error !== null && <Failure error={confirm.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="default" loading={confirm.isPending}>
          Prove the address
        </Button>
        <AsCommand
          command={["email", "confirm", token === "" ? "…" : token]}
          request={{ method: "POST", path: "/api/v0/users/me/email/confirm/", body }}
        />
      </div>
    </form>
  );
}
