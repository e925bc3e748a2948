import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { browserSettings } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { useSignIn } from "../../api/session.ts";
import { SecondFactor } from "../../forms/second-factor.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import classes from "./sign-in.module.css";

const route = getRouteApi("/outer/sign-in");

/** Signs in with a name and a password, or with an API key, and with a second factor where the account has one. */
export function SignIn() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const [isByKey, setByKey] = useState(false);
  const settings = useQuery(askPlain("account.settings", browserSettings)).data;
  const signIn = useSignIn(() => void navigate({ to: isOwnPath(next) ? next : "/", replace: true }));
  if (signIn.factor !== undefined) return <SecondFactor {...signIn.factor} onBack={signIn.startAgain} />;
  return (
    <>
      <PageHead title="Sign in" />
      {isByKey ? (
        <KeyForm onSubmit={signIn.begin} isBusy={signIn.isBusy} />
      ) : (
        <PasswordForm onSubmit={signIn.begin} isBusy={signIn.isBusy} />
      )}
      {signIn.error !== null && <Failure error={signIn.error} />}
      <div className={classes["others"]}>
        <button type="button" className={classes["link"]} onClick={() => setByKey(!isByKey)}>
          {isByKey ? "Sign in with a password" : "Sign in with an API key"}
        </button>
        {settings?.has_mail === true && <Link to="/reset">Forgot the password?</Link>}
        {settings?.sign_up === "open" && <Link to="/sign-up">Create an account</Link>}
      </div>
    </>
  );
}

/** True for a path of this server: an address in the link to this page could lead to another site. */
function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path);
}

type FormProps = { readonly onSubmit: (input: SignInInput) => void; readonly isBusy: boolean };
type SignInInput = Parameters<ReturnType<typeof useSignIn>["begin"]>[0];

function PasswordForm({ onSubmit, isBusy }: FormProps) {
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
        autoComplete="username"
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

function KeyForm({ onSubmit, isBusy }: FormProps) {
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
