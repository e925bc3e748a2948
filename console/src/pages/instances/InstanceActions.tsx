import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  instanceDestroy,
  instanceReboot,
  instanceRecycle,
  instanceUpdate,
  type Instance,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ChangeBid } from "../../forms/instance-change-bid.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { lossOf } from "./instance.ts";
import { StopWithUndo } from "./StopWithUndo.tsx";
import classes from "./instances.module.css";

const CHANGES = ["instance", "offer", "balance"] as const;

type Props = { readonly instance: Instance };

/** Everything that can be done with an instance now; the server says what, and why something is not possible. */
export function InstanceActions({ instance }: Props) {
  const { id, allowed_actions: allowed } = instance;
  const update = useAction(instanceUpdate, { changes: CHANGES });
  const reboot = useAction(instanceReboot, { changes: CHANGES });
  const [asked, setAsked] = useState<"recycle" | "destroy" | "bid" | undefined>();
  const close = () => setAsked(undefined);
  const error = update.error ?? reboot.error;
  return (
    <aside className={classes["actions"]} aria-label="Actions" data-page-actions>
      <h2>Actions</h2>
      <StopWithUndo instance={instance} />
      <ActionButton
        onClick={() => update.mutate({ id, body: { state: "running" } })}
        isBusy={update.isPending}
        reason={reasonOf(allowed.start)}
      >
        Start
      </ActionButton>
      <ActionButton onClick={() => reboot.mutate({ id })} isBusy={reboot.isPending} reason={reasonOf(allowed.reboot)}>
        Reboot
      </ActionButton>
      <ActionButton onClick={() => setAsked("recycle")} reason={reasonOf(allowed.recycle)}>
        Recycle
      </ActionButton>
      {instance.is_bid && (
        <ActionButton onClick={() => setAsked("bid")} reason={reasonOf(allowed.change_bid)}>
          Change bid
        </ActionButton>
      )}
      <ActionButton color="red" onClick={() => setAsked("destroy")} reason={reasonOf(allowed.destroy)}>
        Destroy
      </ActionButton>
      <dl className={classes["commands"]}>
        <Same name="Stop" command="stop" id={id} request={stateOf(id, "stopped")} isShown={allowed.stop.allowed} />
        <Same name="Start" command="start" id={id} request={stateOf(id, "running")} isShown={allowed.start.allowed} />
        <Same
          name="Reboot"
          command="reboot"
          id={id}
          request={{ method: "PUT", path: `/api/v0/instances/reboot/${id}/` }}
          isShown={allowed.reboot.allowed}
        />
      </dl>
      {error !== null && <Failure error={error} />}
      <Recycle instance={instance} isOpen={asked === "recycle"} onClose={close} />
      <Destroy instance={instance} isOpen={asked === "destroy"} onClose={close} />
      <ChangeBid instance={instance} isOpen={asked === "bid"} onClose={close} />
    </aside>
  );
}

const stateOf = (id: number, state: "running" | "stopped") => ({
  ...{ method: "PUT", path: `/api/v0/instances/${id}/` },
  body: { state },
});

type SameProps = {
  readonly name: string;
  readonly command: string;
  readonly id: number;
  readonly request: Parameters<typeof AsCommand>[0]["request"];
  readonly isShown: boolean;
};

/** An action that begins at a click, as a command and as a request. */
function Same({ name, command, id, request, isShown }: SameProps) {
  if (!isShown) return undefined;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <AsCommand command={[command, String(id)]} request={request} />
      </dd>
    </div>
  );
}

type DialogProps = Props & { readonly isOpen: boolean; readonly onClose: () => void };

function Recycle({ instance: { id, image_uuid: image }, isOpen, onClose }: DialogProps) {
  const recycle = useAction(instanceRecycle, { changes: CHANGES, onDone: onClose });
  return (
    <Confirm
      isOpen={isOpen}
      title={`Recycle instance ${id}?`}
      action="Recycle"
      loss={
        <>
          <p>
            Its container is made again from <HostileText text={image} />, pulled afresh, on an empty disk.
          </p>
          <AsCommand
            command={["recycle", String(id)]}
            request={{ method: "PUT", path: `/api/v0/instances/recycle/${id}/` }}
          />
        </>
      }
      isBusy={recycle.isPending}
      onConfirm={() => recycle.mutate({ id })}
      onClose={onClose}
    >
      {recycle.error !== null && <Failure error={recycle.error} />}
    </Confirm>
  );
}

function Destroy({ instance, isOpen, onClose }: DialogProps) {
  const { id, label, disk_usage: usedGb } = instance;
  const navigate = useNavigate();
  const destroy = useAction(instanceDestroy, { changes: CHANGES, onDone: () => void navigate({ to: "/instances" }) });
  return (
    <Confirm
      isOpen={isOpen}
      title={`Destroy instance ${id}?`}
      action="Destroy"
      loss={
        <>
          <p>{lossOf(instance)}</p>
          <AsCommand
            command={["destroy", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/instances/${id}/` }}
          />
        </>
      }
      typed={usedGb > 0 ? label || String(id) : undefined}
      isBusy={destroy.isPending}
      onConfirm={() => destroy.mutate({ id })}
      onClose={onClose}
    >
      {destroy.error !== null && <Failure error={destroy.error} />}
    </Confirm>
  );
}
