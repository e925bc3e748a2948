import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { arrearsShow, capList, capRemove, type ArrearsShowAnswer, type Cap } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { Band } from "../../charts/Band.tsx";
import { CapSet } from "../../forms/cap-set.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { hourly, money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Ago, Moment } from "../../ui/figures.tsx";
import { PERIOD_WORDS, scopeText } from "./scopes.ts";
import classes from "./money.module.css";

/** The caps with what each has left; set one, change it, remove it. */
export function Limits() {
  const caps = useQuery(askPlain("balance.caps", capList));
  const arrears = useQuery(askPlain("balance.arrears", arrearsShow)).data;
  const [form, setForm] = useState<Cap | "new">();
  const [leaving, setLeaving] = useState<Cap>();
  return (
    <>
      <PageHead
        title="Limits"
        note="A limit is never passed: what it does not cover is refused, and what runs is stopped with its data kept."
        actions={
          <ActionButton variant="filled" onClick={() => setForm("new")}>
            Set a limit
          </ActionButton>
        }
      />
      {arrears !== undefined && <ArrearsNote answer={arrears} />}
      <Answer query={caps} rows={4}>
        {({ caps: rows }) =>
          rows.length === 0 ? (
            <EmptyState
              title="No limit is set"
              action={
                <Button variant="default" onClick={() => setForm("new")}>
                  Set the first limit
                </Button>
              }
            >
              You cannot spend more than your balance. A limit stops earlier: per day, per month or in total, for the
              whole account, a key, an endpoint or an instance.
            </EmptyState>
          ) : (
            <ul className={classes["caps"]} aria-label="Limits">
              {rows.map((cap) => (
                <CapItem key={cap.id} cap={cap} onChange={() => setForm(cap)} onRemove={() => setLeaving(cap)} />
              ))}
            </ul>
          )
        }
      </Answer>
      <Panel
        title={form === "new" || form === undefined ? "Set a limit" : "Change a limit"}
        isOpen={form !== undefined}
        onClose={() => setForm(undefined)}
      >
        {form !== undefined && <CapSet cap={form === "new" ? undefined : form} onDone={() => setForm(undefined)} />}
      </Panel>
      <RemoveCap cap={leaving} onClose={() => setLeaving(undefined)} />
    </>
  );
}

type ItemProps = { readonly cap: Cap; readonly onChange: () => void; readonly onRemove: () => void };

function CapItem({ cap, onChange, onRemove }: ItemProps) {
  const { limit, spent, held, left, stops_at: stopsAt, resets_at: resetsAt } = cap;
  const name = scopeText(cap);
  return (
    <li>
      <div className={classes["capHead"]}>
        <h2>
          {name}: {money(limit)} {PERIOD_WORDS[cap.period]}
        </h2>
        <div className={classes["end"]}>
          <ActionButton size="compact-xs" onClick={onChange}>
            Change
          </ActionButton>
          <ActionButton size="compact-xs" color="red" onClick={onRemove}>
            Remove
          </ActionButton>
        </div>
      </div>
      <Band
        label={`${name} ${PERIOD_WORDS[cap.period]}`}
        total={Math.max(limit, spent + held)}
        format={money}
        parts={[
          { label: "spent", value: spent, tone: left <= 0 ? "red" : "accent" },
          { label: "held", value: held, tone: "amber" },
          { label: "left", value: left, tone: "dim" },
        ]}
      />
      <p className={classes["note"]}>
        {stopsAt !== null && (
          <>
            At this rate it stops what runs <Ago at={stopsAt} />.{" "}
          </>
        )}
        {left <= 0 && "Nothing more is spent under this limit. "}
        {resetsAt === null ? (
          "It never begins again."
        ) : (
          <>
            It begins again <Ago at={resetsAt} />, at midnight UTC.
          </>
        )}
      </p>
    </li>
  );
}

function RemoveCap({ cap, onClose }: { readonly cap: Cap | undefined; readonly onClose: () => void }) {
  const remove = useAction(capRemove, { changes: ["balance"], onDone: onClose });
  return (
    <Confirm
      isOpen={cap !== undefined}
      title={
        cap === undefined ? "Remove the limit?" : `Remove the limit of ${money(cap.limit)} ${PERIOD_WORDS[cap.period]}?`
      }
      action="Remove"
      loss={
        cap !== undefined && (
          <>
            <p>
              {scopeText(cap)} may then spend up to your balance. Instances that the limit has stopped stay stopped
              until you start them.
            </p>
            <AsCommand
              command={["cap", "remove", String(cap.id)]}
              request={{ method: "DELETE", path: `/api/v0/caps/${cap.id}/` }}
            />
          </>
        )
      }
      isBusy={remove.isPending}
      onConfirm={() => cap !== undefined && remove.mutate({ id: cap.id })}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      {remove.error !== null && <Failure error={remove.error} />}
    </Confirm>
  );
}

/** Data that is kept without pay, and until when. */
function ArrearsNote({ answer: { arrears, balance_stops_at: stopsAt, caps } }: { readonly answer: ArrearsShowAnswer }) {
  if (arrears === null && caps.length === 0 && stopsAt === null) return null;
  return (
    <div className={classes["warning"]} role="status">
      {stopsAt !== null && arrears === null && (
        <p>
          At this rate the balance is used up <Ago at={stopsAt} />; what runs is then stopped, and its data is kept.
        </p>
      )}
      {arrears !== null && (
        <p>
          The account is in arrears since <Moment at={arrears.began_at} />. Your data costs{" "}
          {hourly(arrears.storage_per_hour)} and is kept until <Moment at={arrears.delete_at} />. Then instances and
          volumes are deleted, unless there is credit before.
        </p>
      )}
      {caps.map((kept) => (
        <p key={kept.cap_id}>
          The limit of {kept.scope === "account" ? "the account" : `${kept.scope} ${kept.scope_id}`} leaves nothing for{" "}
          {count(kept.instance_ids.length, "instance")} and {count(kept.volume_ids.length, "volume")}. They are deleted
          at <Moment at={kept.delete_at} />, unless you raise or remove the limit.
        </p>
      ))}
    </div>
  );
}
