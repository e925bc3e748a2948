import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { browserSettings, userShow } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { askPlain } from "../../api/query.ts";
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
  const providers = useQuery(askPlain("account.settings", browserSettings)).data?.sso ?? [];
  const goOn = (accountId: number | undefined) => {
    if (accountId !== me?.id) return globalThis.location.assign("/");
    session.set(false);
    void queries.invalidateQueries();
  };
  const signIn = useSignIn(goOn);
  useReturn(({ id }) => goOn(id));
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
      <OtherWays providers={providers} onAnswer={signIn.take} inOwnTab />
    </>
  );
}

/** Calls with the account of a session that another tab has begun, when the person comes back to this one. */
function useReturn(onReturn: (account: { readonly id: number }) => void): void {
  const latest = useEffectEvent(onReturn);
  useEffect(() => {
    // Nobody is signed in yet: the dialog stays.
    const look = () =>
      void userShow(client).then(
        (account) => latest(account),
        () => {},
      );
    globalThis.addEventListener("focus", look);
    return () => globalThis.removeEventListener("focus", look);
  }, []);
}
