import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { PasskeySignInAnswer, SsoProvider } from "../../../../sdk/src/index.ts";
import { hasPasskeys, signInWithPasskey } from "../../api/passkeys.ts";
import classes from "../../forms/sign-in.module.css";
import { Failure } from "../../parts/Failure.tsx";
import { HostileText } from "../../ui/HostileText.tsx";

type Props = {
  readonly providers: readonly SsoProvider[];
  readonly onAnswer: (answer: PasskeySignInAnswer) => void;
  /** True where the page has to stay: the issuer is opened in a tab of its own. */
  readonly inOwnTab?: boolean;
};

/** Ways to sign in without a password: a passkey, and the issuers of single sign-on that this server trusts. */
export function OtherWays({ providers, onAnswer, inOwnTab = false }: Props) {
  const passkey = useMutation({
    mutationFn: signInWithPasskey,
    onSuccess: (answer) => {
      if (answer !== undefined) onAnswer(answer);
    },
  });
  if (!hasPasskeys() && providers.length === 0) return null;
  return (
    <div className={classes["or"]}>
      {hasPasskeys() && (
        <Button variant="default" fullWidth loading={passkey.isPending} onClick={() => passkey.mutate()}>
          Use a passkey
        </Button>
      )}
      {providers.map(({ id, name }) => (
        // The server sends the browser on to the issuer, so this is no page of the console.
        <Button
          key={id}
          variant="default"
          fullWidth
          component="a"
          href="/api/v0/auth/sso/start/"
          {...(inOwnTab ? { target: "_blank", rel: "noopener" } : {})}
        >
          <span>
            Sign in with <HostileText text={name} />
            {inOwnTab && " in a new tab"}
          </span>
        </Button>
      ))}
      {passkey.error !== null && <Failure error={passkey.error} />}
    </div>
  );
}
