import { Button, NumberInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { adminUserCreate } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { AccountLink } from "./links.tsx";
import classes from "./operate.module.css";

type Props = { readonly isOpen: boolean; readonly onClose: () => void };

/** Makes an account for somebody; its key is shown once. */
export function NewAccount({ isOpen, onClose }: Props) {
  return (
    <Panel title="Add an account" isOpen={isOpen} onClose={onClose}>
      {isOpen && <Form onClose={onClose} />}
    </Panel>
  );
}

function Form({ onClose }: Pick<Props, "onClose">) {
  const [email, setEmail] = useState("");
  const [credit, setCredit] = useState<number | string>("");
  const create = useAction(adminUserCreate, { changes: ["operator"] });
  const body = { email: email.trim(), ...(typeof credit === "number" && { credit }) };
  if (create.data !== undefined) {
    const { id, api_key: key, email: address } = create.data;
    return (
      <div className={classes["form"]}>
        <p style={{ margin: 0 }}>
          <AccountLink id={id} name={address} /> has an account. Give them this key: it is shown only now.
        </p>
        <p style={{ margin: 0, overflowWrap: "anywhere" }}>
          <code>{key}</code> <CopyButton text={key} what="the key" />
        </p>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
      </div>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ body });
  };
  return (
    <form className={classes["form"]} onSubmit={submit}>
      <TextInput
        label="E-mail address"
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <NumberInput
        label="Credit to begin with, in dollars"
        min={0}
        decimalScale={2}
        value={credit}
        onChange={setCredit}
      />
      <Button type="submit" loading={create.isPending}>
        Add the account
      </Button>
      <AsCommand
        command={[
          "admin",
          "user",
          "create",
          body.email,
          ...(typeof credit === "number" ? ["--credit", String(credit)] : []),
        ]}
        request={{ method: "POST", path: "/api/v0/admin/users/", body }}
      />
      {create.error !== null && <Failure error={create.error} />}
    </form>
  );
}
