import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { passkeyDelete, passkeyList, passkeyUpdate, type Passkey, type TfaStatus } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { hasPasskeys } from "../../api/passkeys.ts";
import { askPlain } from "../../api/query.ts";
import { PasskeyAdd } from "../../forms/passkey-add.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./account.module.css";

/** The passkeys of the account. */
export function Passkeys({ status }: { readonly status: TfaStatus }) {
  const passkeys = useQuery(askPlain("account.passkeys", passkeyList));
  const [isOpen, setOpen] = useState(false);
  const add = (
    <Button variant="default" onClick={() => setOpen(true)}>
      Add a passkey
    </Button>
  );
  return (
    <Section title="Passkeys" actions={hasPasskeys() && add}>
      <Answer query={passkeys} rows={2}>
        {(answer) =>
          answer.passkeys.length === 0 ? (
            <EmptyState title="No passkeys">
              {hasPasskeys()
                ? "A passkey signs you in without a password: your device asks for a finger, your face or a PIN."
                : "This browser takes passkeys only at an address with a name and TLS."}
            </EmptyState>
          ) : (
            <ul className={classes["list"]} aria-label="Passkeys">
              {answer.passkeys.map((passkey) => (
                <Row key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </Answer>
      <Panel title="Add a passkey" isOpen={isOpen} onClose={() => setOpen(false)}>
        <PasskeyAdd status={status} onDone={() => setOpen(false)} />
      </Panel>
    </Section>
  );
}

function Row({ passkey }: { readonly passkey: Passkey }) {
  const { id, label, is_synced: isSynced, created_at: createdAt, last_used: lastUsed } = passkey;
  const [isNaming, setNaming] = useState(false);
  const remove = useAction(passkeyDelete, { changes: ["account"] });
  const name = label === "" ? `Passkey ${id}` : label;
  if (isNaming) return <Naming id={id} label={label} onDone={() => setNaming(false)} />;
  return (
    <li className={classes["row"]}>
      <span className={classes["facts"]}>
        <HostileText text={name} />
        <span className="dim">
          {isSynced ? "on all your devices" : "on one device"} · added <Ago at={createdAt} />
          {lastUsed !== null && (
            <>
              {" "}
              · last used <Ago at={lastUsed} />
            </>
          )}
        </span>
      </span>
      <span className={classes["buttons"]}>
        <Button size="compact-xs" variant="default" onClick={() => setNaming(true)}>
          Rename<span className="visually-hidden"> {name}</span>
        </Button>
        <RemoveButton
          action={remove}
          input={{ id: String(id) }}
          what={`the passkey “${name}”`}
          loss="It signs nobody in any more. Remove it from your device, too."
          asCommand={<AsCommand request={{ method: "DELETE", path: `/api/v0/auth/passkeys/${id}/` }} />}
        />
      </span>
    </li>
  );
}

type NamingProps = { readonly id: number; readonly label: string; readonly onDone: () => void };

function Naming({ id, label, onDone }: NamingProps) {
  const [text, setText] = useState(label);
  const rename = useAction(passkeyUpdate, { changes: ["account"], onDone });
  return (
    <li className={classes["row"]}>
      <form
        className={classes["buttons"]}
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate({ id: String(id), body: { label: text.trim() } });
        }}
      >
        <TextInput
          aria-label="Name of the passkey"
          maxLength={64}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          required
        />
        <Button type="submit" loading={rename.isPending}>
          Save
        </Button>
        <AsCommand request={{ method: "PUT", path: `/api/v0/auth/passkeys/${id}/`, body: { label: text.trim() } }} />
        <Button variant="subtle" onClick={onDone}>
          Cancel
        </Button>
      </form>
      {rename.error !== null && <Failure error={rename.error} />}
    </li>
  );
}
