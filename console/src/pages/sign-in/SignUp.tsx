import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { browserSettings, browserSignUp, type BrowserSignUpRequest } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { askPlain } from "../../api/query.ts";
import { useSignIn } from "../../api/session.ts";
import classes from "../../forms/sign-in.module.css";
import { Answer } from "../../parts/Answer.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { useFragment } from "./fragment.ts";

/** Makes an account, where everybody may or with the token of an invitation, and signs its person in. */
export function SignUp() {
  const token = useFragment("token");
  const settings = useQuery(askPlain("account.settings", browserSettings));
  return (
    <>
      <PageHead
        title="Create an account"
        {...(token === undefined ? {} : { note: "You are invited. Choose how you sign in." })}
      />
      <Answer query={settings} rows={4}>
        {({ sign_up: way }) =>
          way === "open" || token !== undefined ? (
            <Form token={token} />
          ) : (
            <p className="dim">
              {way === "invitation"
                ? "Accounts of this server are made by invitation. Open the link of yours, or ask the operator for one."
                : "Accounts of this server are made by single sign-on. Sign in, and yours is made."}
            </p>
          )
        }
      </Answer>
      <div className={classes["others"]}>
        <Link to="/sign-in">Sign in instead</Link>
      </div>
    </>
  );
}

function Form({ token }: { readonly token: string | undefined }) {
  const navigate = useNavigate();
  const { take } = useSignIn(() => void navigate({ to: "/", replace: true }));
  const [fields, setFields] = useState({ email: "", username: "", password: "" });
  const make = useMutation({
    mutationFn: (body: BrowserSignUpRequest) => browserSignUp(client, { body }),
    onSuccess: take,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { email, username, password } = fields;
    make.mutate({
      email: email.trim(),
      password,
      ...(username.trim() === "" ? {} : { username: username.trim() }),
      ...(token === undefined ? {} : { token }),
    });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="email"
        value={fields.email}
        onChange={({ currentTarget: { value: email } }) => setFields({ ...fields, email })}
        required
      />
      <TextInput
        label="Name"
        description="Others see it. Without one the address is used."
        autoComplete="username"
        value={fields.username}
        onChange={({ currentTarget: { value: username } }) => setFields({ ...fields, username })}
      />
      <PasswordInput
        label="Password"
        description="At least ten characters; several words are easy to keep."
        autoComplete="new-password"
        value={fields.password}
        onChange={({ currentTarget: { value: password } }) => setFields({ ...fields, password })}
        required
      />
      <Button type="submit" fullWidth size="sm" loading={make.isPending}>
        Create the account
      </Button>
      {make.error !== null && <Failure error={make.error} />}
    </form>
  );
}
