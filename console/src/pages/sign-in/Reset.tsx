import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { browserRequestReset, browserResetPassword } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import classes from "../../forms/sign-in.module.css";
import { Failure } from "../../parts/Failure.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { useFragment } from "./fragment.ts";

/** Another password for a person who forgot theirs: mails a link, and with the token of that link stores a new one. */
export function Reset() {
  const token = useFragment("token");
  return (
    <>
      {token === undefined ? <AskForm /> : <NewPasswordForm token={token} />}
      <div className={classes["others"]}>
        <Link to="/sign-in">Sign in</Link>
      </div>
    </>
  );
}

function AskForm() {
  const [email, setEmail] = useState("");
  const ask = useMutation({ mutationFn: () => browserRequestReset(client, { body: { email: email.trim() } }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate();
  };
  if (ask.data !== undefined) return <Said title="Look into your mail" text={ask.data.msg} />;
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <PageHead title="Forgotten password" note="A link to choose another one is mailed to you." />
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" loading={ask.isPending}>
        Mail me a link
      </Button>
      {ask.error !== null && <Failure error={ask.error} onRetry={() => ask.mutate()} />}
    </form>
  );
}

function NewPasswordForm({ token }: { readonly token: string }) {
  const [password, setPassword] = useState("");
  const store = useMutation({ mutationFn: () => browserResetPassword(client, { body: { token, password } }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    store.mutate();
  };
  if (store.data !== undefined) return <Said title="Password changed" text={store.data.msg} />;
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <PageHead title="New password" note="All your sessions end, in other browsers as well." />
      <PasswordInput
        label="New password"
        description="At least ten characters; several words are easy to keep."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" loading={store.isPending}>
        Save the password
      </Button>
      {store.error !== null && <Failure error={store.error} />}
    </form>
  );
}

function Said({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <PageHead title={title} />
      <p role="status">{text}</p>
    </>
  );
}
