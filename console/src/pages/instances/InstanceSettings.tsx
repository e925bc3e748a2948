import { Button, NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { instanceUpdate, type Instance } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { AddSchedule, ScheduleList } from "../../parts/schedules.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { instanceQuery } from "./instance.ts";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id");

export function InstanceSettings() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id)).data;
  if (instance === undefined || instance === null) return <Waiting rows={6} />;
  return (
    <>
      <Section title="Settings">
        <div className={classes["fields"]}>
          <Name key={`name ${instance.label}`} instance={instance} />
          <Traffic key={`traffic ${instance.traffic_limit}`} instance={instance} />
        </div>
      </Section>
      <Section title="Schedules" actions={<AddSchedule instance={instance.id} />}>
        <ScheduleList instance={instance.id} />
      </Section>
      <Section title="As it was rented">
        <Rented instance={instance} />
      </Section>
    </>
  );
}

function Name({ instance: { id, label } }: { readonly instance: Instance }) {
  const [text, setText] = useState(label ?? "");
  const update = useAction(instanceUpdate, { changes: ["instance"] });
  const body = { label: text.trim() };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ id, body });
      }}
    >
      <div className={classes["row"]}>
        <TextInput label="Name" value={text} onChange={(event) => setText(event.currentTarget.value)} />
        <Button type="submit" variant="default" loading={update.isPending} disabled={text.trim() === (label ?? "")}>
          Rename
        </Button>
      </div>
      {update.error !== null && <Failure error={update.error} />}
      <AsCommand
        command={["label", String(id), body.label]}
        request={{ method: "PUT", path: `/api/v0/instances/${id}/`, body }}
      />
    </form>
  );
}

function Traffic({
  instance: { id, traffic_limit: limit, traffic_limit_source: source },
}: {
  readonly instance: Instance;
}) {
  const [dollars, setDollars] = useState<number | "">(source === "renter" ? limit : "");
  const update = useAction(instanceUpdate, { changes: ["instance"] });
  const body = { traffic_limit: dollars === "" ? null : dollars };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ id, body });
      }}
    >
      <div className={classes["row"]}>
        <NumberInput
          label="Traffic, at most, in dollars"
          description={`It stops when its traffic has cost this much. Empty takes the budget of the service, now $${limit}.`}
          min={0}
          value={dollars}
          onChange={(value) => setDollars(value === "" ? "" : Number(value))}
        />
        <Button type="submit" variant="default" loading={update.isPending}>
          Set
        </Button>
      </div>
      {update.error !== null && <Failure error={update.error} />}
    </form>
  );
}

function Rented({ instance }: { readonly instance: Instance }) {
  const { image_uuid: image, image_runtype: runtype, extra_env: env, onstart, template_name: template } = instance;
  const facts: readonly (readonly [string, string])[] = [
    ["Image", image],
    ["Template", template ?? "none"],
    ["Connection", runtype],
    ["Environment", env.map(([name = "", value = ""]) => `${name}=${value}`).join(" ") || "none"],
    ["Start script", onstart || "none"],
    ["Kind", instance.is_bid ? "interruptible" : instance.is_reserved ? "reserved" : "on demand"],
  ];
  return (
    <dl className={classes["facts"]}>
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>
            <HostileText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
