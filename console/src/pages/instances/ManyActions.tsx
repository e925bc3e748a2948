import { useState } from "react";
import { instanceDestroyBulk, instanceUpdateBulk, type Instance } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import classes from "./instances.module.css";

type Props = { readonly instances: readonly Instance[]; readonly onDone: () => void };

/** Actions for several chosen instances; one that is not possible for some of them says for which, and why. */
export function ManyActions({ instances, onDone }: Props) {
  const [isAsking, setAsking] = useState(false);
  const ids = instances.map(({ id }) => id);
  const update = useAction(instanceUpdateBulk, { changes: ["instance", "balance"], onDone });
  const destroy = useAction(instanceDestroyBulk, {
    changes: ["instance", "balance"],
    onDone() {
      setAsking(false);
      onDone();
    },
  });
  const set = (state: "running" | "stopped") => update.mutate({ body: { state, ids } });
  return (
    <div className={classes["many"]}>
      <span>{count(instances.length, "instance")} chosen</span>
      <ActionButton onClick={() => set("stopped")} isBusy={update.isPending} reason={reasonOf(instances, "stop")}>
        Stop
      </ActionButton>
      <ActionButton onClick={() => set("running")} isBusy={update.isPending} reason={reasonOf(instances, "start")}>
        Start
      </ActionButton>
      <ActionButton color="red" onClick={() => setAsking(true)} reason={reasonOf(instances, "destroy")}>
        Destroy
      </ActionButton>
      <AsCommand request={{ method: "PUT", path: "/api/v0/instances/", body: { state: "stopped", ids } }} />
      {update.error !== null && <Failure error={update.error} />}
      <Confirm
        isOpen={isAsking}
        title={`Destroy ${count(instances.length, "instance")}?`}
        action="Destroy"
        loss={
          <>
            <p>Everything on their disks is lost: {ids.join(", ")}.</p>
            <AsCommand request={{ method: "DELETE", path: "/api/v0/instances/", body: { instance_ids: ids } }} />
          </>
        }
        typed={instances.length > 1 ? "destroy" : undefined}
        isBusy={destroy.isPending}
        onConfirm={() => destroy.mutate({ body: { instance_ids: ids } })}
        onClose={() => setAsking(false)}
      >
        {destroy.error !== null && <Failure error={destroy.error} />}
      </Confirm>
    </div>
  );
}

function reasonOf(instances: readonly Instance[], action: "start" | "stop" | "destroy"): string | undefined {
  const refused = instances.find((one) => !one.allowed_actions[action].allowed);
  return refused === undefined
    ? undefined
    : `${refused.id}: ${refused.allowed_actions[action].reason ?? "not possible now"}`;
}
