import { NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { standingRequestCreate, templateSearch } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { ask } from "../api/query.ts";
import classes from "../pages/queue/queue.module.css";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { hourly } from "../text/money.ts";

type Props = {
  /** The conditions with which the person comes from the market. */
  readonly q: string;
  readonly onDone: (id: number) => void;
};

const HOURS_USUAL = 24;
const HOURS_MAX = 720;
const DISK_GB_USUAL = 16;

type Choice = {
  readonly q: string;
  readonly most: number | string;
  readonly hours: number | string;
  readonly template: string;
  readonly image: string;
  readonly disk: number | string;
  readonly label: string;
};

/** Leaves a request in the queue: conditions, the highest price, and what to run. */
export function QueueAdd({ q, onDone }: Props) {
  const [choice, setChoice] = useState<Choice>({
    ...{ q, most: "", hours: HOURS_USUAL, template: "", image: "", disk: DISK_GB_USUAL, label: "" },
  });
  const set = (changed: Partial<Choice>) => setChoice((before) => ({ ...before, ...changed }));
  const add = useAction(standingRequestCreate, { changes: ["queue"], onDone: ({ id }) => onDone(id) });
  const body = bodyOf(choice);
  const submit = () => add.mutate({ body });
  const reason = reasonOf(choice);
  return (
    <form
      className={classes["form"]}
      aria-label="Wait for a machine"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <Fields choice={choice} set={set} />
      <p className={classes["note"]}>
        {reason ??
          `The first offer that fits for at most ${hourly(Number(choice.most))}, disk included, is rented for you, and costs from then on.`}
      </p>
      {add.error !== null && <Failure error={add.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton variant="filled" size="sm" onClick={submit} isBusy={add.isPending} reason={reason}>
          Wait in the queue
        </ActionButton>
        <AsCommand command={commandOf(choice)} request={{ method: "POST", path: "/api/v0/standing_requests/", body }} />
      </div>
    </form>
  );
}

type FieldsProps = { readonly choice: Choice; readonly set: (changed: Partial<Choice>) => void };

function Fields({ choice, set }: FieldsProps) {
  const templates = useQuery(ask("template.public", templateSearch, { query: { limit: 100 } })).data?.templates ?? [];
  return (
    <>
      <TextInput
        label="Conditions"
        description="As in the search of the market; empty takes any offer"
        placeholder="gpu_name=RTX_4090 num_gpus=1"
        value={choice.q}
        onChange={(event) => set({ q: event.currentTarget.value })}
        spellCheck={false}
        classNames={{ input: classes["search"] ?? "" }}
      />
      <NumberInput
        label="Highest price in dollars an hour"
        min={0}
        decimalScale={9}
        prefix="$"
        value={choice.most}
        onChange={(most) => set({ most })}
      />
      <NumberInput
        label="Hours to wait"
        min={1}
        max={HOURS_MAX}
        value={choice.hours}
        onChange={(hours) => set({ hours })}
      />
      <NativeSelect
        label="Template"
        value={choice.template}
        data={[
          { value: "", label: "None: name an image" },
          ...templates.map(({ hash_id: value, name }) => ({ value, label: name })),
        ]}
        onChange={(event) => set({ template: event.currentTarget.value })}
      />
      {choice.template === "" && (
        <TextInput
          label="Image"
          placeholder="ubuntu:24.04"
          value={choice.image}
          onChange={(event) => set({ image: event.currentTarget.value })}
          spellCheck={false}
        />
      )}
      <NumberInput label="Disk in GB" min={1} value={choice.disk} onChange={(disk) => set({ disk })} />
      <TextInput label="Name" value={choice.label} onChange={(event) => set({ label: event.currentTarget.value })} />
    </>
  );
}

function bodyOf({ q, most, hours, template, image, disk, label }: Choice) {
  return {
    ...{ q: q.trim(), max_dph: Number(most), expires_in_hours: Number(hours), disk: Number(disk) },
    ...(template === "" ? { image: image.trim() } : { template_hash_id: template }),
    ...(label.trim() === "" ? {} : { label: label.trim() }),
  };
}

function commandOf({ q, most, hours, template, image, disk, label }: Choice): readonly string[] {
  return [
    ...[
      "queue",
      "add",
      ...q.trim().split(/\s+/).filter(Boolean),
      "--max-price",
      String(most),
      "--hours",
      String(hours),
    ],
    ...(template === "" ? ["--image", image.trim() || "IMAGE"] : ["--template", template]),
    ...["--disk", String(disk), ...(label.trim() === "" ? [] : ["--label", label.trim()])],
  ];
}

function reasonOf({ most, template, image }: Choice): string | undefined {
  if (!(Number(most) > 0)) return "Say the highest price first.";
  return template === "" && image.trim() === "" ? "Choose a template or name an image first." : undefined;
}
