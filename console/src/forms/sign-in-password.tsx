import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { BrowserSignInRequest } from "../../../sdk/src/index.ts";
import classes from "./sign-in.module.css";

type Props = { readonly onSubmit: (input: BrowserSignInRequest) => void; readonly isBusy: boolean };

/** The name and the password of an account. */
export function PasswordForm({ onSubmit, isBusy }: Props) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ username: username.trim(), password });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <TextInput
        label="Name or e-mail address"
        autoComplete="username webauthn"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
        required
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" loading={isBusy}>
        Sign in
      </Button>
    </form>
  );
}

/** An API key in place of a password. */
export function KeyForm({ onSubmit, isBusy }: Props) {
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ api_key: key.trim() });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <PasswordInput
        label="API key"
        description="The key that the command line uses. It is exchanged for a session and not kept."
        autoComplete="off"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" loading={isBusy}>
        Sign in
      </Button>
    </form>
  );
}
