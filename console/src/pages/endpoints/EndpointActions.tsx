import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { endpointDelete, endpointUpdate, type Endpoint } from "../../../../sdk/src/index.ts";
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { workersQuery } from "./endpoint.ts";
import classes from "./endpoints.module.css";

const CHANGES = ["endpoint", "instance", "balance"] as const;
/** Each state with the button that leads to it, and what its button says is the case already. */
const STATES = [
  { state: "active", action: "Activate", already: "It is active." },
  { state: "suspended", action: "Suspend", already: "It is suspended." },
  { state: "stopped", action: "Stop", already: "It is stopped." },
] as const;

type Props = { readonly endpoint: Endpoint };

/** Changes the state of an endpoint, and deletes it. */
export function EndpointActions({ endpoint: { id, endpoint_name: name, endpoint_state: present } }: Props) {
  const update = useAction(endpointUpdate, { changes: CHANGES });
  const [isAsked, setAsked] = useState(false);
  const wanted = update.variables?.body?.endpoint_state;
  return (
    <div className={classes["actions"]} data-page-actions>
      {STATES.map(({ state, action, already }) => (
        <ActionButton
          key={state}
          onClick={() => update.mutate({ id, body: { endpoint_state: state } })}
          reason={state === present ? already : undefined}
          isBusy={update.isPending && wanted === state}
        >
          {action}
        </ActionButton>
      ))}
      <ActionButton color="red" onClick={() => setAsked(true)}>
        Delete
      </ActionButton>
      {update.error !== null && <Failure error={update.error} />}
      {isAsked && <Delete id={id} name={name} onClose={() => setAsked(false)} />}
    </div>
  );
}

type DeleteProps = { readonly id: number; readonly name: string; readonly onClose: () => void };

function Delete({ id, name, onClose }: DeleteProps) {
  const navigate = useNavigate();
  const workers = useQuery(workersQuery(id)).data?.length ?? 0;
  const remove = useAction(endpointDelete, { changes: CHANGES, onDone: () => void navigate({ to: "/endpoints" }) });
  return (
    <Confirm
      isOpen
      title={`Delete endpoint ${id}?`}
      action="Delete"
      loss={
        <>
          <p>
            {workers === 0
              ? "It has no workers now. Its"
              : `${count(workers, "worker")} and what is on their disks, its`}{" "}
            worker groups, its key and its history are lost. Requests that wait get an error. Its charges stay on the
            bill.
          </p>
          <AsCommand
            command={["endpoint", "delete", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/endptjobs/${id}/` }}
          />
        </>
      }
      typed={workers > 0 ? name.trim() : undefined}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ id })}
      onClose={onClose}
    >
      {remove.error !== null && <Failure error={remove.error} />}
    </Confirm>
  );
}
