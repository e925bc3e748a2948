import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  tfaDelete,
  tfaRegenBackupCodes,
  tfaUpdate,
  type TfaMethod,
  type TfaStatus,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AuthenticatorAdd } from "../../forms/authenticator-add.tsx";
import { FactorProof, nameOf } from "../../forms/factor-proof.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./account.module.css";

type Open = { readonly what: "app" | "codes" } | { readonly what: "delete"; readonly method: TfaMethod };

/** The second factors of the account, and its backup codes. */
export function Factors({ status }: { readonly status: TfaStatus }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState<Open>();
  const [codes, setCodes] = useState<readonly string[]>();
  const close = () => setOpen(undefined);
  const showCodes = (made: readonly string[] | undefined) => {
    close();
    setCodes(made);
    void queries.invalidateQueries({ queryKey: ["account"] });
  };
  const add = (
    <Button variant={status.tfa_enabled ? "default" : "filled"} onClick={() => setOpen({ what: "app" })}>
      Add an authenticator app
    </Button>
  );
  const title =
    open?.what === "app"
      ? "Add an authenticator app"
      : open?.what === "codes"
        ? "New backup codes"
        : "Delete a second factor";
  return (
    <Section title="Second factors" actions={status.tfa_enabled && add}>
      {status.tfa_enabled ? (
        <>
          <ul className={classes["list"]} aria-label="Second factors">
            {status.methods.map((method) => (
              <Method key={method.id} method={method} onDelete={() => setOpen({ what: "delete", method })} />
            ))}
          </ul>
          <div className={classes["row"]} style={{ maxWidth: 760 }}>
            <span>{count(status.backup_codes_remaining, "backup code")} left</span>
            <Button size="compact-xs" variant="default" onClick={() => setOpen({ what: "codes" })}>
              Make new backup codes
            </Button>
          </div>
        </>
      ) : (
        <EmptyState title="No second factor" action={add}>
          With one, the password alone opens nothing: an app on your phone shows a code as well.
        </EmptyState>
      )}
      <Panel title={title} isOpen={open !== undefined} onClose={close}>
        {open?.what === "app" && <AuthenticatorAdd status={status} onDone={showCodes} />}
        {open?.what === "codes" && <NewCodes status={status} onDone={showCodes} />}
        {open?.what === "delete" && <DeleteMethod status={status} method={open.method} onDone={close} />}
      </Panel>
      <ShownOnce
        title="Your backup codes"
        note="Each is good once, where your phone is not. Keep them apart from it: they are shown never again."
        what="the backup codes"
        fileName="berth-backup-codes.txt"
        text={codes?.join("\n")}
        onClose={() => setCodes(undefined)}
      />
    </Section>
  );
}

function Method({ method, onDelete }: { readonly method: TfaMethod; readonly onDelete: () => void }) {
  const update = useAction(tfaUpdate, { changes: ["account"] });
  const name = nameOf(method);
  return (
    <li className={classes["row"]}>
      <span className={classes["facts"]}>
        <HostileText text={name} />
        {method.is_primary && <StateBadge state={{ word: "asked for first", tone: "green", icon: "check" }} />}
        <span className="dim">
          {method.last_used === null ? (
            "never used"
          ) : (
            <>
              last used <Ago at={method.last_used} />
            </>
          )}
        </span>
      </span>
      <span className={classes["buttons"]}>
        {!method.is_primary && (
          <Button
            size="compact-xs"
            variant="default"
            loading={update.isPending}
            onClick={() => update.mutate({ body: { tfa_method_id: method.id, is_primary: true } })}
          >
            Ask for it first<span className="visually-hidden">: {name}</span>
          </Button>
        )}
        <Button size="compact-xs" variant="default" onClick={onDelete}>
          Delete<span className="visually-hidden"> {name}</span>
        </Button>
      </span>
    </li>
  );
}

type CodesProps = { readonly status: TfaStatus; readonly onDone: (codes: readonly string[]) => void };

function NewCodes({ status, onDone }: CodesProps) {
  const make = useAction(tfaRegenBackupCodes, { changes: [], onDone: ({ backup_codes: codes }) => onDone(codes) });
  return (
    <>
      <p className={classes["hint"]}>The codes that you have now stop working.</p>
      <FactorProof
        methods={status.methods}
        hasBackupCodes={status.backup_codes_remaining > 0}
        action="Make new codes"
        isBusy={make.isPending}
        error={make.error}
        onProof={(body) => make.mutate({ body })}
      />
    </>
  );
}

type DeleteProps = { readonly status: TfaStatus; readonly method: TfaMethod; readonly onDone: () => void };

function DeleteMethod({ status, method, onDone }: DeleteProps) {
  const remove = useAction(tfaDelete, { changes: ["account"], onDone });
  const isLast = status.methods.length === 1;
  return (
    <>
      <p>
        <HostileText text={nameOf(method)} /> asks for no code any more.
        {isLast &&
          " It is the last one: from then on the password alone opens the account, and the backup codes are gone."}
      </p>
      <FactorProof
        methods={status.methods}
        hasBackupCodes={status.backup_codes_remaining > 0}
        action="Delete it"
        isDangerous
        isBusy={remove.isPending}
        error={remove.error}
        onProof={(body) => remove.mutate({ body: { ...body, target_id: method.id } })}
      />
    </>
  );
}
