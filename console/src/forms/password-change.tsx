import { Button, PasswordInput, SegmentedControl, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { userChangePassword } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

const PROOFS = [
  { value: "password", label: "Password" },
  { value: "code", label: "Code of an app" },
  { value: "backup_code", label: "Backup code" },
];

/** Stores another password, which the present one or a second factor allows. */
export function PasswordChange({ hasTfa }: { readonly hasTfa: boolean }) {
  const [proof, setProof] = useState("password");
  const [present, setPresent] = useState("");
  const [password, setPassword] = useState("");
  const change = useAction(userChangePassword, {
    changes: ["account"],
    onDone: () => {
      setPresent("");
      setPassword("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ body: { new_password: password, [proof]: proof === "password" ? present : present.trim() } });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      {hasTfa && (
        <SegmentedControl
          aria-label="What proves that it is you"
          data={PROOFS}
          value={proof}
          onChange={(value) => {
            setProof(value);
            setPresent("");
          }}
        />
      )}
      {proof === "password" ? (
        <PasswordInput
          label="Present password"
          autoComplete="current-password"
          value={present}
          onChange={(event) => setPresent(event.currentTarget.value)}
          required
        />
      ) : (
        <TextInput
          label={proof === "code" ? "Code" : "Backup code"}
          autoComplete="one-time-code"
          value={present}
          onChange={(event) => setPresent(event.currentTarget.value)}
          required
        />
      )}
      <PasswordInput
        label="New password"
        description="At least ten characters; several words are easy to keep."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        required
      />
      {change.error !== null && <Failure error={change.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="default" loading={change.isPending}>
          Change the password
        </Button>
        <AsCommand
          request={{
            ...{ method: "PUT", path: "/api/v0/users/current/password/" },
            body: { new_password: "…", [proof]: "…" },
          }}
        />
        {change.data !== undefined && <span role="status">{change.data.msg}</span>}
      </div>
    </form>
  );
}
