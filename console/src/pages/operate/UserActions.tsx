import { Menu, Button } from "@mantine/core";
import { useState } from "react";
import {
  adminFreezeAccount,
  adminHoldPayouts,
  adminLiftFreeze,
  adminUserSeeAs,
  type AccountFile,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { BookMoney } from "./BookMoney.tsx";
import { ReasonConfirm } from "./ReasonConfirm.tsx";
import { RemoveSecondFactor } from "./RemoveSecondFactor.tsx";

type Act = "see" | "freeze" | "lift" | "hold" | "credit" | "correction" | "factor";
type ActProps = { readonly account: AccountFile; readonly onClose: () => void };

/** Acts of an administrator on one account. */
export function UserActions({ account }: { readonly account: AccountFile }) {
  const [act, setAct] = useState<Act>();
  const close = () => setAct(undefined);
  const isFrozen = account.freeze_id !== null;
  return (
    <>
      <ActionButton onClick={() => setAct("credit")}>Give credit</ActionButton>
      <ActionButton
        onClick={() => setAct(isFrozen ? "lift" : "freeze")}
        reason={account.is_admin && !isFrozen ? "Administrators cannot be frozen." : undefined}
      >
        {isFrozen ? "Lift the freeze" : "Freeze"}
      </ActionButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label="More acts" px={8}>
            <Icon name="more" />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAct("see")} disabled={account.is_admin || account.is_team}>
            See the console as this person
          </Menu.Item>
          <Menu.Item onClick={() => setAct("correction")}>Book a correction</Menu.Item>
          <Menu.Item onClick={() => setAct("hold")}>Hold payouts</Menu.Item>
          <Menu.Item onClick={() => setAct("factor")} disabled={!account.has_tfa}>
            Remove the second factor
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {act === "see" && <SeeAs account={account} onClose={close} />}
      {act === "freeze" && <Freeze account={account} onClose={close} />}
      {act === "lift" && <Lift account={account} onClose={close} />}
      {act === "hold" && <Hold account={account} onClose={close} />}
      {act === "factor" && <RemoveSecondFactor account={account} onClose={close} />}
      <BookMoney account={account} kind={act === "credit" || act === "correction" ? act : undefined} onClose={close} />
    </>
  );
}

function SeeAs({ account, onClose }: ActProps) {
  // Loading the page again leaves nothing of the administrator's in the memory of the browser.
  const begin = useAction(adminUserSeeAs, { changes: [], onDone: () => globalThis.location.assign("/") });
  return (
    <ReasonConfirm
      title={`See the console as account ${account.id}?`}
      action="See it"
      isBusy={begin.isPending}
      error={begin.error}
      onClose={onClose}
      onConfirm={(reason) => begin.mutate({ user_id: String(account.id), body: { reason } })}
    >
      For 15 minutes all tabs of this browser show what its person sees, without secrets, and nothing can be changed.
      The person is notified and reads the reason; it stands in both audit logs.
    </ReasonConfirm>
  );
}

function Freeze({ account, onClose }: ActProps) {
  const freeze = useAction(adminFreezeAccount, { changes: ["operator"], onDone: onClose });
  const user = String(account.id);
  return (
    <ReasonConfirm
      title={`Freeze account ${user}?`}
      action="Freeze"
      isDangerous
      isBusy={freeze.isPending}
      error={freeze.error}
      onClose={onClose}
      onConfirm={(reason) => freeze.mutate({ body: { user, reason } })}
      asCommand={(reason) => ({
        command: ["admin", "freeze", user, "--reason", reason],
        request: { method: "POST", path: "/api/v0/admin/freezes/", body: { user, reason } },
      })}
    >
      Its {account.running_count} running instances stop with their data kept, its machines leave the market, and its
      payouts are held. Its subaccounts are frozen with it. Its owner reads the reason.
    </ReasonConfirm>
  );
}

function Lift({ account, onClose }: ActProps) {
  const lift = useAction(adminLiftFreeze, { changes: ["operator"], onDone: onClose });
  const id = account.freeze_id ?? 0;
  return (
    <ReasonConfirm
      title={`Lift freeze ${id}?`}
      action="Lift the freeze"
      isBusy={lift.isPending}
      error={lift.error}
      onClose={onClose}
      onConfirm={(reason) => lift.mutate({ id, body: { reason } })}
      asCommand={(reason) => ({
        command: ["admin", "unfreeze", String(id), "--reason", reason],
        request: { method: "PUT", path: `/api/v0/admin/freezes/${id}/`, body: { reason } },
      })}
    >
      The account may act again. What was stopped stays stopped until its owner starts it. Its owner reads the reason.
    </ReasonConfirm>
  );
}

function Hold({ account, onClose }: ActProps) {
  const hold = useAction(adminHoldPayouts, { changes: ["operator"], onDone: onClose });
  const user = String(account.id);
  return (
    <ReasonConfirm
      title={`Hold the payouts of account ${user}?`}
      action="Hold payouts"
      isBusy={hold.isPending}
      error={hold.error}
      onClose={onClose}
      onConfirm={(reason) => hold.mutate({ body: { user, reason } })}
      asCommand={(reason) => ({
        command: ["admin", "hold-payout", user, "--reason", reason],
        request: { method: "POST", path: "/api/v0/admin/payout_holds/", body: { user, reason } },
      })}
    >
      Nothing is paid out to it until the hold is released. It earns as before, and reads the reason.
    </ReasonConfirm>
  );
}
