import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { tfaConfirmNew, tfaTotpSetup, type TfaStatus } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { Answer } from "../parts/Answer.tsx";
import { Failure } from "../parts/Failure.tsx";
import { QrCode } from "../parts/QrCode.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { FactorAuthorize } from "./factor-authorize.tsx";

type Props = {
  readonly status: TfaStatus;
  /** Called with backup codes when the app is the first second factor of the account. */
  readonly onDone: (backupCodes: readonly string[] | undefined) => void;
};

/** Sets up an authenticator app: a proof, its QR code, and a first code of it. */
export function AuthenticatorAdd({ status, onDone }: Props) {
  const [isAuthorized, setAuthorized] = useState(status.new_method_authorized);
  if (!isAuthorized) return <FactorAuthorize status={status} onDone={() => setAuthorized(true)} />;
  return <Setup onDone={onDone} />;
}

function Setup({ onDone }: Pick<Props, "onDone">) {
  // Each request makes another secret, so it is made once and not asked again while the form is open.
  const setup = useQuery({
    ...askPlain("account.totp", tfaTotpSetup),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const [code, setCode] = useState("");
  const [label, setLabel] = useState("");
  const confirm = useAction(tfaConfirmNew, {
    changes: [],
    onDone: ({ backup_codes: codes }) => onDone(codes),
  });
  return (
    <Answer query={setup}>
      {({ secret, provisioning_uri: address }) => {
        const submit = (event: FormEvent) => {
          event.preventDefault();
          confirm.mutate({ body: { tfa_method: "totp", secret, code: code.trim(), label: label.trim() } });
        };
        return (
          <form onSubmit={submit} className={classes["wide"]}>
            <div className={classes["code"]}>
              <QrCode text={address} label="QR code of the new authenticator" />
              <span className={classes["facts"]}>
                <code className={classes["break"]}>{secret}</code>
                <CopyButton text={secret} what="the secret" />
              </span>
            </div>
            <p className={classes["hint"]}>
              Scan the picture with an authenticator app, or type the letters below it. Then type the code that the app
              shows.
            </p>
            <TextInput
              label="Name"
              description="Tells your methods apart, such as phone."
              maxLength={64}
              value={label}
              onChange={(event) => setLabel(event.currentTarget.value)}
            />
            <TextInput
              label="Code"
              inputMode="numeric"
              autoComplete="one-time-code"
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
              required
            />
            {confirm.error !== null && <Failure error={confirm.error} />}
            <div>
              <Button type="submit" loading={confirm.isPending}>
                Switch it on
              </Button>
            </div>
          </form>
        );
      }}
    </Answer>
  );
}
