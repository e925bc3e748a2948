import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
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
  return (
    <ResetForm
      title="Forgotten password"
      note="A link to choose another one is mailed to you."
      action="Mail me a link"
      done="Look into your mail"
      sent={ask}
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
      />
    </ResetForm>
  );
}

function NewPasswordForm({ token }: { readonly token: string }) {
  const [password, setPassword] = useState("");
  const store = useMutation({ mutationFn: () => browserResetPassword(client, { body: { token, password } }) });
  return (
    <ResetForm
      title="New password"
      note="All your sessions end, in other browsers as well."
      action="Save the password"
      done="Password changed"
      sent={store}
    >
      <PasswordInput
        label="New password"
        description="At least ten characters; several words are easy to keep."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        required
      />
    </ResetForm>
  );
}

type Step = {
  readonly title: string;
  readonly note: string;
  /** The word on the button, and the title once the server has answered. */
  readonly action: string;
  readonly done: string;
  readonly sent: UseMutationResult<{ readonly msg: string }, Error, void>;
  /** The one field of the step. */
  readonly children: ReactNode;
};

/** One step of a reset: a field that is sent, and then what the server says about it. */
function ResetForm({ title, note, action, done, sent, children }: Step) {
  if (sent.data !== undefined) {
    return (
      <>
        <PageHead title={done} />
        <p role="status">{sent.data.msg}</p>
      </>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sent.mutate();
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <PageHead title={title} note={note} />
      {children}
      <Button type="submit" fullWidth size="sm" loading={sent.isPending}>
        {action}
      </Button>
      {sent.error !== null && <Failure error={sent.error} onRetry={() => sent.mutate()} />}
    </form>
  );
}
