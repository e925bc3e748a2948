import { NumberInput, SegmentedControl } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
  ApiError,
  endpointSimulate,
  type EndpointSettings,
  type EndpointSimulateAnswer,
  type EndpointSimulateRequest,
  type SimulatedFigures,
  type WorkerModel,
} from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { nowSeconds } from "../../clock.ts";
import { optionsOf } from "../../forms/endpoint-parameters.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { hourly, money } from "../../text/money.ts";
import { share } from "../../text/size.ts";
import { duration, utcTime } from "../../text/time.ts";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { figure, secondsText, unitsText } from "./endpoint.ts";
import classes from "./endpoints.module.css";

const SPANS = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "7 d" },
];
const HOUR_S = 3_600;

type Props = {
  readonly id: number;
  /** The parameters that the form above has changed. */
  readonly settings: EndpointSettings;
};

/** Replays the endpoint's own past under the changed parameters and under the present ones; nothing is changed. */
export function WhatIf({ id, settings }: Props) {
  const [hours, setHours] = useState("24");
  const [worker, setWorker] = useState<WorkerModel>({});
  const simulate = useMutation({
    mutationFn: (body: EndpointSimulateRequest) => endpointSimulate(client, { id, body }),
  });
  const needsWorker = Object.keys(worker).length > 0 || isWorkerMissing(simulate.error);
  const requestFrom = (from: number): EndpointSimulateRequest => ({
    ...settings,
    from,
    ...(needsWorker ? { worker } : {}),
  });
  const isUnchanged = Object.keys(settings).length === 0;
  return (
    <Section title="What if">
      <div className={classes["form"]}>
        <p className={classes["note"]}>
          {isUnchanged
            ? "Change a parameter above, then see what it would have done to the requests that really came. "
            : "The requests that really came are played again, under the present parameters and under yours. "}
          Nothing is changed by it.
        </p>
        {needsWorker && <WorkerFields worker={worker} onChange={setWorker} />}
        <div className={classes["end"]}>
          <SegmentedControl size="xs" aria-label="Replayed time" data={SPANS} value={hours} onChange={setHours} />
          <ActionButton
            onClick={() => simulate.mutate(requestFrom(Math.floor(nowSeconds()) - Number(hours) * HOUR_S))}
            isBusy={simulate.isPending}
            reason={isUnchanged ? "Change a parameter first." : undefined}
          >
            Replay the past
          </ActionButton>
          <AsCommand
            command={["endpoint", "simulate", String(id), "--hours", hours, ...optionsOf(settings)]}
            request={{ method: "POST", path: `/api/v0/endptjobs/${id}/simulate/`, body: settings }}
          />
        </div>
        {simulate.error !== null && <Failure error={simulate.error} />}
        {simulate.data !== undefined && !simulate.isPending && <Outcome answer={simulate.data} />}
      </div>
    </Section>
  );
}

function isWorkerMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.code === "no_measured_worker";
}

const WORKER_FIELDS = [
  { name: "perf", label: "Speed, units/s" },
  { name: "price_per_hour", label: "Price while it runs, $/h" },
  { name: "storage_per_hour", label: "Price while it is stopped, $/h" },
  { name: "first_start_s", label: "First start, s" },
  { name: "warm_start_s", label: "Start from stopped, s" },
] as const;

type WorkerProps = { readonly worker: WorkerModel; readonly onChange: (worker: WorkerModel) => void };

/** The worker to play with, where none of the endpoint was measured yet. */
function WorkerFields({ worker, onChange }: WorkerProps) {
  return (
    <fieldset className={classes["worker"]}>
      <legend>No worker was measured yet. Say what one is like:</legend>
      {WORKER_FIELDS.map(({ name, label }) => (
        <NumberInput
          key={name}
          label={label}
          min={0}
          value={worker[name] ?? ""}
          onChange={(value) => {
            const { [name]: _, ...others } = worker;
            onChange(value === "" ? others : { ...others, [name]: Number(value) });
          }}
        />
      ))}
    </fieldset>
  );
}

type Row = { readonly title: string; readonly text: (figures: SimulatedFigures) => string };
const unknown = "never for some";
const ROWS: readonly Row[] = [
  { title: "Cost", text: ({ cost }) => money(cost) },
  { title: "Cost of 1,000 requests", text: ({ cost_per_1000_requests: cost }) => (cost === null ? "–" : money(cost)) },
  { title: "Requests", text: ({ requests }) => requests.toLocaleString("en-US") },
  { title: "Waited for more than 1 s", text: ({ late_share: late }) => share(late) },
  { title: "Never served", text: ({ unserved }) => unserved.toLocaleString("en-US") },
  { title: "Wait of the median", text: ({ wait_p50: wait }) => (wait === null ? unknown : secondsText(wait)) },
  { title: "Wait of 95 in 100, at most", text: ({ wait_p95: wait }) => (wait === null ? unknown : secondsText(wait)) },
  { title: "Wait of 99 in 100, at most", text: ({ wait_p99: wait }) => (wait === null ? unknown : secondsText(wait)) },
  { title: "Time of workers, running", text: ({ hot_hours: hours }) => `${figure(hours)} h` },
  { title: "Time of workers, stopped", text: ({ cold_hours: hours }) => `${figure(hours)} h` },
  { title: "Workers at most", text: ({ workers_max: most }) => String(most) },
  { title: "Starts and stops", text: ({ starts, stops }) => `${starts} and ${stops}` },
  { title: "Reversed within a minute", text: ({ flaps }) => String(flaps) },
];

function Outcome({ answer }: { readonly answer: EndpointSimulateAnswer }) {
  const { sentence, present, proposed, from, to, decided_every: every, worker } = answer;
  return (
    <div className={classes["outcome"]} role="status">
      <p>
        <HostileText text={sentence} />
      </p>
      <table aria-label="What if">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">Present</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(({ title, text }) => {
            const [before, after] = [text(present), text(proposed)];
            return (
              <tr key={title} data-differs={before !== after || undefined}>
                <th scope="row">{title}</th>
                <td>{before}</td>
                <td>{after}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className={classes["note"]}>
        {from !== undefined && to !== undefined && `From ${utcTime(from)} to ${utcTime(to)}. `}A worker is taken to
        serve {unitsText(worker.perf)} for {hourly(worker.price_per_hour)}, to be ready {duration(worker.first_start_s)}{" "}
        after its order and {duration(worker.warm_start_s)} from stopped. Decisions every {duration(every)}; no worker
        fails.
      </p>
    </div>
  );
}
