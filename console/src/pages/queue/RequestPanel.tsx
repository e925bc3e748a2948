import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { standingRequestCancel, standingRequestShow, type ShownStandingRequest } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { gigabytes } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { priceOf, searchOf, stateWordOf, waitingOf } from "./request.ts";
import classes from "./queue.module.css";

type Props = { readonly id: number | undefined; readonly onClose: () => void };

/** One request beside the list: what it waits for, what it will run, and a way to cancel it. */
export function RequestPanel({ id, onClose }: Props) {
  return (
    <Panel title={`Request ${id ?? ""}`} isOpen={id !== undefined} onClose={onClose}>
      {id !== undefined && <Shown id={id} />}
    </Panel>
  );
}

function Shown({ id }: { readonly id: number }) {
  const request = useQuery(ask("queue.show", standingRequestShow, { id }));
  return <Answer query={request}>{({ standing_request: shown }) => <Request request={shown} />}</Answer>;
}

function Request({ request }: { readonly request: ShownStandingRequest }) {
  const { id, status, position, reason, image, disk, label, instance_id: instance } = request;
  const isOpen = status === "open";
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Looks for", <HostileText key="q" text={searchOf(request)} />],
    ["Price", priceOf(request)],
    ["Image", <HostileText key="image" text={image} />],
    ["Disk", gigabytes(disk)],
    ["Name", label === null ? "–" : <HostileText key="label" text={label} />],
    ["Asked", <Ago key="asked" at={request.created_at} />],
    ["Last try", request.attempted_at === null ? "none yet" : <Ago key="tried" at={request.attempted_at} />],
    [
      isOpen ? "Waits until" : "Ended",
      <Ago key="end" at={isOpen ? request.expires_at : (request.closed_at ?? request.expires_at)} />,
    ],
  ];
  return (
    <>
      <StateBadge
        state={stateWordOf(request)}
        {...(position === null ? {} : { sentence: `number ${position} in the queue`, isSentenceShown: true })}
      />
      <dl className={classes["facts"]}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {isOpen && <p className={classes["waiting"]}>{waitingOf(request)}</p>}
      {reason !== "" && (
        <p>
          {isOpen ? "The last try failed: " : ""}
          <HostileText text={reason} />
        </p>
      )}
      {instance !== null && (
        <p>
          It became{" "}
          <Link to="/instances/$id" params={{ id: String(instance) }}>
            instance {instance}
          </Link>
          .
        </p>
      )}
      {isOpen && <Cancel id={id} />}
    </>
  );
}

function Cancel({ id }: { readonly id: number }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useAction(standingRequestCancel, { changes: ["queue"], onDone: () => setAsking(false) });
  return (
    <div className={classes["end"]} style={{ marginTop: 16 }}>
      <ActionButton color="red" onClick={() => setAsking(true)}>
        Cancel the request
      </ActionButton>
      <AsCommand
        command={["queue", "cancel", String(id)]}
        request={{ method: "DELETE", path: `/api/v0/standing_requests/${id}/` }}
      />
      <Confirm
        isOpen={isAsking}
        title={`Cancel request ${id}?`}
        action="Cancel the request"
        loss="Its place in the queue is lost. Nothing was set aside, and nothing is charged."
        isBusy={cancel.isPending}
        onConfirm={() => cancel.mutate({ id })}
        onClose={() => {
          cancel.reset();
          setAsking(false);
        }}
      >
        {cancel.error !== null && <Failure error={cancel.error} />}
      </Confirm>
    </div>
  );
}
