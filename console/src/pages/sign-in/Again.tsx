import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useMe } from "../../api/me.ts";
import { session } from "../../api/query-client.ts";
import { useSignIn } from "../../api/session.ts";
import { SecondFactor } from "../../forms/second-factor.tsx";
import { KeyForm, PasswordForm } from "../../forms/sign-in-password.tsx";
import classes from "../../forms/sign-in.module.css";
import { Failure } from "../../parts/Failure.tsx";
import { OtherWays } from "./OtherWays.tsx";

/** Signs the same person in again. For another account the page is loaded again: it shows things of the first one. */
export function Again() {
  const queries = useQueryClient();
  const me = useMe();
  const [isByKey, setByKey] = useState(false);
  const signIn = useSignIn((accountId) => {
    if (accountId !== me?.id) return globalThis.location.assign("/");
    session.set(false);
    void queries.invalidateQueries();
  });
  if (signIn.factor !== undefined) return <SecondFactor {...signIn.factor} onBack={signIn.startAgain} />;
  const Form = isByKey ? KeyForm : PasswordForm;
  return (
    <>
      <p>Sign in again to go on. What you have typed on the page stays; send it again after that.</p>
      <Form onSubmit={signIn.begin} isBusy={signIn.isBusy} />
      {signIn.error !== null && <Failure error={signIn.error} />}
      <div className={classes["others"]}>
        <button type="button" className={classes["link"]} onClick={() => setByKey(!isByKey)}>
          {isByKey ? "Sign in with a password" : "Sign in with an API key"}
        </button>
        <a href="/sign-in">Leave the page</a>
      </div>
      <OtherWays providers={[]} onAnswer={signIn.take} />
    </>
  );
}
