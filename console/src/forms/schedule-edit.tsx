import { Button, NativeSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import {
  apikeyList,
  instanceList,
  scheduleCreate,
  scheduleUpdate,
  type ApiKey,
  type ScheduleCreateRequest,
  type ScheduledJob,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { useMe } from "../api/me.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { visibleText } from "../text/hostile.ts";
import { scheduleText } from "../text/schedule.ts";
import { localTime } from "../text/time.ts";
import { bodyOf, commandOf, draftOf, newDraft, type Deed, type Draft, type Frequency } from "./schedule-draft.ts";

const DEEDS: Readonly<Record<Deed, string>> = {
  stop: "Stop an instance",
  start: "Start an instance",
  reboot: "Reboot an instance",
  bid: "Change the bid of an instance",
  destroy: "Destroy an instance, with its data",
  request: "Send another request",
};
const FREQUENCIES: Readonly<Record<Frequency, string>> = {
  HOURLY: "Each hour",
  DAILY: "Each day",
  WEEKLY: "Each week",
  ONCE: "Once",
};
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

type Props = {
  /** The job to change; a new one without it. */
  readonly job?: ScheduledJob | undefined;
  /** The instance that a new job is about. */
  readonly instance?: number | undefined;
  readonly onDone: () => void;
};

/** Makes or changes a scheduled job. The server has the last word on what fits. */
export function ScheduleEdit({ job, instance, onDone }: Props) {
  const keys = useOwnKeys();
  const [draft, setDraft] = useState<Draft>(() => (job === undefined ? newDraft(instance) : draftOf(job)));
  // Until a person chooses, a new job acts with the newest key of theirs: a sign-in ends too soon.
  const [isKeyChosen, setKeyChosen] = useState(job !== undefined);
  const keyId = isKeyChosen ? draft.keyId : keys.at(-1)?.id;
  const whole = { ...draft, keyId: keys.some(({ id }) => id === keyId) ? keyId : undefined };
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const create = useAction(scheduleCreate, { changes: ["schedule"], onDone });
  const update = useAction(scheduleUpdate, { changes: ["schedule"], onDone });
  const made = bodyOf(whole);
  const error = create.error ?? update.error;
  const send = () => {
    if ("problem" in made) return;
    if (job === undefined) create.mutate({ body: made.body });
    else update.mutate({ id: job.id, body: made.body });
  };
  return (
    <form
      className={classes["wide"]}
      aria-label="Schedule"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        send();
      }}
    >
      <What draft={draft} onChange={change} isFixed={instance !== undefined} />
      {job !== undefined && job.request_body === undefined && (
        <p className={classes["hint"]}>
          Only key {job.api_key_id} may read the body of the stored request, so say here again what is sent.
        </p>
      )}
      <When draft={draft} onChange={change} />
      <ActsWith
        keys={keys}
        keyId={whole.keyId}
        onChoose={(chosen) => {
          setKeyChosen(true);
          change({ keyId: chosen });
        }}
      />
      {"problem" in made ? (
        <p className={classes["hint"]}>{made.problem}</p>
      ) : (
        <p className={classes["hint"]} role="status">
          It runs {scheduleText(textFields(made.body))}.
        </p>
      )}
      {error !== null && <Failure error={error} onRetry={send} />}
      <div className={classes["buttons"]}>
        <Button
          type="submit"
          variant="filled"
          loading={create.isPending || update.isPending}
          disabled={"problem" in made}
        >
          {job === undefined ? "Make the schedule" : "Change the schedule"}
        </Button>
        {"body" in made && <Shown job={job} draft={whole} body={made.body} />}
      </div>
    </form>
  );
}

type ShownProps = {
  readonly job: ScheduledJob | undefined;
  readonly draft: Draft;
  readonly body: ScheduleCreateRequest;
};

/** The schedule as a command and as a request; no command states a whole request again. */
function Shown({ job, draft, body }: ShownProps) {
  const { request_method: method, api_endpoint: path } = body;
  return job === undefined ? (
    <AsCommand
      command={["schedule", "create", method, path, ...commandOf(draft, body)]}
      request={{ method: "POST", path: "/api/v0/commands/schedule_job/", body }}
    />
  ) : (
    <AsCommand request={{ method: "PUT", path: `/api/v0/commands/schedule_job/${job.id}/`, body }} />
  );
}

type ActsWithProps = {
  readonly keys: readonly ApiKey[];
  readonly keyId: number | undefined;
  readonly onChoose: (keyId: number | undefined) => void;
};

function ActsWith({ keys, keyId, onChoose }: ActsWithProps) {
  return (
    <NativeSelect
      label="Acts with"
      description={
        keys.length === 0 ? (
          <>
            This sign-in ends within days, and the schedule with it. <Link to="/account/keys">Make a key</Link> for one
            that stays.
          </>
        ) : (
          "Each run may do what this key may do at that moment."
        )
      }
      data={[
        ...keys.map(({ id, name }) => ({ value: String(id), label: `Key ${id} ${visibleText(name)}` })),
        { value: "", label: "This sign-in, until it ends" },
      ]}
      value={keyId === undefined ? "" : String(keyId)}
      onChange={({ currentTarget: { value } }) => {
        onChoose(value === "" ? undefined : Number(value));
      }}
    />
  );
}

/** The person's API keys in this account, the oldest first. */
function useOwnKeys() {
  const me = useMe();
  const keys = useQuery(askPlain("key.api", apikeyList)).data?.apikeys ?? [];
  return keys.filter((key) => me !== undefined && key.user_id === me.id);
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (changed: Partial<Draft>) => void };

function What({ draft, onChange, isFixed }: FieldsProps & { readonly isFixed: boolean }) {
  const { deed, instance, price } = draft;
  const instances = useQuery({ ...askPlain("instance.list", instanceList), enabled: !isFixed }).data?.instances ?? [];
  const isGone = instance !== undefined && !isFixed && instances.every(({ id }) => id !== instance);
  return (
    <>
      <NativeSelect
        label="What"
        data={Object.entries(DEEDS).map(([value, label]) => ({
          value,
          label: isFixed ? label.replace(" an instance", " the instance") : label,
        }))}
        value={deed}
        onChange={({ currentTarget: { value } }) => onChange({ deed: deedIn(value) })}
        data-autofocus
      />
      {deed !== "request" && !isFixed && (
        <NativeSelect
          label="Instance"
          data={[
            { value: "", label: instances.length === 0 ? "You have no instance" : "Choose one" },
            ...(isGone ? [{ value: String(instance), label: `${instance}, which is gone` }] : []),
            ...instances.map(({ id, label }) => ({ value: String(id), label: `${id} ${visibleText(label ?? "")}` })),
          ]}
          value={instance === undefined ? "" : String(instance)}
          onChange={({ currentTarget: { value } }) => onChange({ instance: value === "" ? undefined : Number(value) })}
        />
      )}
      {deed === "bid" && (
        <NumberInput
          label="Bid in dollars an hour"
          min={0}
          step={0.01}
          decimalScale={6}
          value={price ?? ""}
          onChange={(value) => onChange({ price: value === "" ? undefined : Number(value) })}
        />
      )}
      {deed === "request" && <Request draft={draft} onChange={onChange} />}
    </>
  );
}

function Request({ draft: { method, path, json }, onChange }: FieldsProps) {
  return (
    <>
      <NativeSelect
        label="Method"
        data={["GET", "POST", "PUT", "DELETE"]}
        value={method}
        onChange={({ currentTarget: { value } }) =>
          onChange({ method: (["GET", "POST", "PUT", "DELETE"] as const).find((one) => one === value) ?? "PUT" })
        }
      />
      <TextInput
        label="Path"
        placeholder="/api/v0/instances/reboot/7/"
        value={path}
        onChange={({ currentTarget: { value } }) => onChange({ path: value })}
      />
      <Textarea
        label="Body"
        description="JSON"
        autosize
        minRows={2}
        value={json}
        onChange={({ currentTarget: { value } }) => onChange({ json: value })}
      />
    </>
  );
}

function When({ draft: { frequency, day, time, once, until }, onChange }: FieldsProps) {
  const onceAt = Date.parse(`${once}Z`) / 1000;
  return (
    <>
      <NativeSelect
        label="How often"
        data={Object.entries(FREQUENCIES).map(([value, label]) => ({ value, label }))}
        value={frequency}
        onChange={({ currentTarget: { value } }) => onChange({ frequency: frequencyIn(value) })}
      />
      {frequency === "WEEKLY" && (
        <NativeSelect
          label="Day"
          data={DAYS.map((label, index) => ({ value: String(index), label }))}
          value={String(day)}
          onChange={({ currentTarget: { value } }) => onChange({ day: Number(value) })}
        />
      )}
      {frequency === "ONCE" ? (
        <TextInput
          type="datetime-local"
          label="Time (UTC)"
          description={Number.isNaN(onceAt) ? undefined : `${localTime(onceAt)} where you are`}
          value={once}
          onChange={({ currentTarget: { value } }) => onChange({ once: value })}
        />
      ) : (
        <TextInput
          type="time"
          label={frequency === "HOURLY" ? "Time (only its minute counts)" : "Time (UTC)"}
          value={time}
          onChange={({ currentTarget: { value } }) => onChange({ time: value })}
        />
      )}
      {frequency !== "ONCE" && (
        <TextInput
          type="date"
          label="Last day"
          description="Empty: a year from now."
          value={until}
          onChange={({ currentTarget: { value } }) => onChange({ until: value })}
        />
      )}
    </>
  );
}

function deedIn(value: string): Deed {
  return (["stop", "start", "reboot", "bid", "destroy"] as const).find((one) => one === value) ?? "request";
}

function frequencyIn(value: string): Frequency {
  return (["HOURLY", "WEEKLY", "ONCE"] as const).find((one) => one === value) ?? "DAILY";
}

function textFields(body: ScheduleCreateRequest) {
  return {
    frequency: body.frequency,
    start_time: body.start_time ?? 0,
    day_of_the_week: body.day_of_the_week ?? null,
    hour_of_the_day: body.hour_of_the_day ?? null,
    min_of_the_hour: body.min_of_the_hour ?? null,
  };
}
