import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { browserSettings, ssoProblems } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { session } from "../../api/query-client.ts";
import { useSignIn } from "../../api/session.ts";
import { SecondFactor } from "../../forms/second-factor.tsx";
import { KeyForm, PasswordForm } from "../../forms/sign-in-password.tsx";
import classes from "../../forms/sign-in.module.css";
import { Failure } from "../../parts/Failure.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { useFragment } from "./fragment.ts";
import { OtherWays } from "./OtherWays.tsx";

const route = getRouteApi("/outer/sign-in");

/** Signs in: by a link at once, or with a password, an API key, a passkey or single sign-on, and a second factor. */
export function SignIn() {
  const { next, error: ssoError } = route.useSearch();
  const navigate = useNavigate();
  const [isByKey, setByKey] = useState(false);
  const token = useFragment("token");
  const secretSoFar = useFragment("second_factor");
  const settings = useQuery(askPlain("account.settings", browserSettings)).data;
  const queries = useQueryClient();
  const signIn = useSignIn(() => {
    queries.clear();
    session.set(false);
    void navigate({ to: isOwnPath(next) ? next : "/", replace: true });
  }, secretSoFar);
  useLink(token, signIn.begin);
  if (signIn.factor !== undefined) return <SecondFactor {...signIn.factor} onBack={signIn.startAgain} />;
  if (token !== undefined && signIn.error === null) {
    return (
      <>
        <PageHead title="Sign in" note="The link signs you in." />
        <Waiting rows={2} what="Signing in" />
      </>
    );
  }
  const Form = isByKey ? KeyForm : PasswordForm;
  return (
    <>
      <PageHead title="Sign in" />
      {ssoError !== undefined && <SsoProblem code={ssoError} />}
      <Form onSubmit={signIn.begin} isBusy={signIn.isBusy} />
      {signIn.error !== null && <Failure error={signIn.error} />}
      <div className={classes["others"]}>
        <button type="button" className={classes["link"]} onClick={() => setByKey(!isByKey)}>
          {isByKey ? "Sign in with a password" : "Sign in with an API key"}
        </button>
        {settings?.has_mail === true && <Link to="/reset-password">Forgot the password?</Link>}
        {settings?.sign_up === "open" && <Link to="/sign-up">Create an account</Link>}
      </div>
      <OtherWays providers={settings?.sso ?? []} onAnswer={signIn.take} />
    </>
  );
}

/** Uses the token of a link, once. */
function useLink(token: string | undefined, begin: (input: { readonly token: string }) => void): void {
  const isUsed = useRef(false);
  useEffect(() => {
    if (token === undefined || isUsed.current) return;
    isUsed.current = true;
    begin({ token });
  }, [token, begin]);
}

/** The sentence of the server about a sign-in that failed at the issuer; the address has its code only. */
function SsoProblem({ code }: { readonly code: string }) {
  const problems = useQuery(askPlain("account.sso", ssoProblems)).data?.problems;
  if (problems === undefined) return null;
  const known = problems.find((problem) => problem.code === code)?.msg;
  return (
    <div className={classes["form"]}>
      <ErrorNote problem={{ what: known ?? "Single sign-on did not work. Try again." }} />
    </div>
  );
}

/** True for a path of this server: an address in the link to this page could lead to another site. */
function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path);
}
