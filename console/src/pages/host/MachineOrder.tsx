import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  machineCleanup,
  machineDeleteDefaultJob,
  machineForceDelete,
  type Machine,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { DefaultJobForm } from "../../forms/host/default-job.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./host.module.css";

/** The job of idle GPUs, and what cannot be taken back: clean up and delete. */
export function MachineOrder({ machine }: { readonly machine: Machine }) {
  return (
    <>
      <Job machine={machine} />
      <Section title="Clean up and delete">
        <CleanUp machine={machine} />
        <Remove machine={machine} />
      </Section>
    </>
  );
}

function Job({ machine: { id, default_job: job, allowed_actions: allowed } }: { readonly machine: Machine }) {
  const [isOpen, setOpen] = useState(false);
  const end = useAction(machineDeleteDefaultJob, { changes: ["machine", "instance"] });
  return (
    <Section
      title="Background job"
      actions={
        <>
          {job !== null && (
            <RemoveButton
              action={end}
              reason={reasonOf(allowed.end_default_job)}
              input={{ id }}
              verb="End"
              what={`the background job of machine ${id}`}
              loss="Its containers stop, and their data is deleted."
              asCommand={<AsCommand request={{ method: "DELETE", path: `/api/v0/machines/${id}/defjob/` }} />}
            />
          )}
          <ActionButton onClick={() => setOpen(true)} reason={reasonOf(allowed.set_default_job)}>
            {job === null ? "Set a job" : "Change the job"}
          </ActionButton>
        </>
      }
    >
      {job === null ? (
        <EmptyState title="Idle GPUs do nothing">
          A background job of yours runs on each idle GPU, and stops at once when somebody rents it.
        </EmptyState>
      ) : (
        <dl className={classes["facts"]}>
          <dt>Image</dt>
          <dd>
            <HostileText text={job.image} />
          </dd>
          <dt>Arguments</dt>
          <dd>{job.args.length === 0 ? "none" : <HostileText text={job.args.join(" ")} />}</dd>
        </dl>
      )}
      <Panel title={`Background job of machine ${id}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <DefaultJobForm machine={id} image={job?.image ?? ""} args={job?.args ?? []} onDone={() => setOpen(false)} />
      </Panel>
    </Section>
  );
}

function CleanUp({ machine: { id, allowed_actions: allowed } }: { readonly machine: Machine }) {
  const [deleted, setDeleted] = useState<string>();
  const clean = useAction(machineCleanup, { changes: ["machine"], onDone: ({ msg }) => setDeleted(msg) });
  return (
    <div className={classes["row"]}>
      <p>
        Data of rentals that ended stays for two days.
        {deleted !== undefined && (
          <span role="status">
            {" "}
            <HostileText text={deleted} />
          </span>
        )}
      </p>
      <RemoveButton
        action={clean}
        reason={reasonOf(allowed.clean_up)}
        input={{ id }}
        verb="Clean up"
        what={`machine ${id}`}
        loss="The data of all rentals that have ended is deleted now. Their renters cannot get it back."
        asCommand={
          <AsCommand
            command={["machine", "cleanup", String(id)]}
            request={{ method: "PUT", path: `/api/v0/machines/${id}/cleanup/` }}
          />
        }
      />
    </div>
  );
}

function Remove({ machine }: { readonly machine: Machine }) {
  const navigate = useNavigate();
  const { id, current_rentals_resident: resident, allowed_actions: allowed } = machine;
  const remove = useAction(machineForceDelete, {
    changes: ["machine", "host", "offer"],
    onDone: () => void navigate({ to: "/host/machines" }),
  });
  return (
    <div className={classes["row"]}>
      <p>The server refuses to delete a machine while others rent on it, or have a volume there.</p>
      <RemoveButton
        action={remove}
        reason={reasonOf(allowed.delete)}
        input={{ id }}
        what={`machine ${id}`}
        loss={
          <>
            It leaves all lists. Your own instances on it and rentals that have ended are deleted with their data
            {resident > 0 && ` (${resident} with a disk there now)`}. When it joins again it has its number and history,
            and is not listed.
          </>
        }
        asCommand={
          <AsCommand
            command={["machine", "delete", String(id)]}
            request={{ method: "POST", path: `/api/v0/machines/${id}/force_delete/` }}
          />
        }
      />
    </div>
  );
}
