import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { secretCreate, secretUpdate } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

type Props = {
  /** The variable that gets another value; undefined for a new one. */
  readonly name: string | undefined;
  readonly onDone: () => void;
};

/** Stores an environment variable, whose value is never shown again. */
export function SecretStore({ name, onDone }: Props) {
  const [key, setKey] = useState(name ?? "");
  const [value, setValue] = useState("");
  const make = useAction(secretCreate, { changes: ["key"], onDone });
  const change = useAction(secretUpdate, { changes: ["key"], onDone });
  const store = name === undefined ? make : change;
  const body = { key: key.trim().toUpperCase(), value };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    store.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <TextInput
        label="Name"
        placeholder="HF_TOKEN"
        autoComplete="off"
        value={key}
        readOnly={name !== undefined}
        onChange={(event) => setKey(event.currentTarget.value)}
        required
      />
      <PasswordInput
        label="Value"
        description="Letters, digits and _ . - , at most 4,096 of them."
        autoComplete="off"
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        required
      />
      {store.error !== null && <Failure error={store.error} onRetry={() => store.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={store.isPending}>
          Save
        </Button>
        <AsCommand
          command={["env-var", name === undefined ? "create" : "update", body.key || "NAME"]}
          request={{
            method: name === undefined ? "POST" : "PUT",
            path: "/api/v0/secrets/",
            body: { key: body.key || "NAME", value: "…" },
          }}
        />
      </div>
    </form>
  );
}
