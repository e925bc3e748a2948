import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { userUpdate, type Account } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

/** The names of an account, and its address. */
export function ProfileChange({ me }: { readonly me: Account }) {
  const [username, setUsername] = useState(me.username);
  const [fullname, setFullname] = useState(me.fullname);
  const [email, setEmail] = useState(me.email);
  const store = useAction(userUpdate, { changes: ["account"] });
  const body = {
    ...(username.trim() === me.username ? {} : { username: username.trim() }),
    ...(fullname.trim() === me.fullname ? {} : { fullname: fullname.trim() }),
    ...(email.trim() === me.email ? {} : { normalized_email: email.trim() }),
  };
  const isChanged = Object.keys(body).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) store.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <TextInput
        label="Name"
        description="Others see it, in teams and beside templates."
        autoComplete="username"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
        required
      />
      <TextInput
        label="Full name"
        description="For invoices."
        autoComplete="name"
        value={fullname}
        onChange={(event) => setFullname(event.currentTarget.value)}
      />
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="email"
        {...(email.trim() === me.email ? {} : { description: "Another address has to be proven again." })}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
      />
      {store.error !== null && <Failure error={store.error} onRetry={() => store.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" disabled={!isChanged} loading={store.isPending}>
          Save
        </Button>
        {isChanged && <AsCommand request={{ method: "PUT", path: "/api/v0/users/", body }} />}
        {store.isSuccess && !isChanged && <span role="status">Saved.</span>}
      </div>
    </form>
  );
}
