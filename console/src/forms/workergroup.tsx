import { Button, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  workergroupCreate,
  workergroupUpdate,
  type WorkerGroup,
  type WorkerGroupSettings,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import classes from "./endpoint.module.css";

type Draft = {
  readonly template: string;
  readonly launch: string;
  readonly search: string;
  readonly price: number | "";
  readonly most: number | "";
};

type Props = {
  readonly endpointId: number;
  /** The group that is changed; undefined for a new one. */
  readonly group: WorkerGroup | undefined;
  readonly onDone: () => void;
};

/** Adds a worker group to an endpoint, or changes one. */
export function WorkerGroupForm({ endpointId, group, onDone }: Props) {
  const [draft, setDraft] = useState(() => draftOf(group));
  const changes = ["endpoint", "balance"] as const;
  const create = useAction(workergroupCreate, { changes, onDone });
  const update = useAction(workergroupUpdate, { changes, onDone });
  const change = (part: Partial<Draft>) => setDraft((last) => ({ ...last, ...part }));
  const body = bodyOf(draft, { endpointId, group });
  const isRecipeChanged = group !== undefined && (body.launch_args !== undefined || body.template_hash !== undefined);
  const error = create.error ?? update.error;
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        if (group === undefined) create.mutate({ body });
        else update.mutate({ id: group.id, body });
      }}
    >
      <Fields draft={draft} onChange={change} />
      {isRecipeChanged && <p className="dim">Its workers are updated one by one, while the others carry the load.</p>}
      {error !== null && <Failure error={error} />}
      <div className={classes["end"]}>
        <Button type="submit" variant="filled" loading={create.isPending || update.isPending}>
          {group === undefined ? "Add worker group" : "Save"}
        </Button>
        <AsCommand
          command={["workergroup", ...commandOf(body, group)]}
          request={
            group === undefined
              ? { method: "POST", path: "/api/v0/workergroups/", body }
              : { method: "PUT", path: `/api/v0/workergroups/${group.id}/`, body }
          }
        />
      </div>
    </form>
  );
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (part: Partial<Draft>) => void };

function Fields({ draft, onChange: change }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Template"
        description="The hash of the template of its workers."
        value={draft.template}
        onChange={(event) => change({ template: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label="Launch arguments"
        description="Instead of a template: options of `berth rent`, such as --image IMAGE --env '-e MODEL=llama' --disk 40."
        autosize
        value={draft.launch}
        onChange={(event) => change({ launch: event.currentTarget.value })}
      />
      <TextInput
        label="Offers"
        description="Which machines it may rent, such as gpu_name=RTX_4090 num_gpus=1 verified=true."
        value={draft.search}
        onChange={(event) => change({ search: event.currentTarget.value })}
      />
      <NumberInput
        label="Price of a worker at most, $/h"
        description="Its disk included. Empty: three times the market's usual price for these offers. 0 gives a price of yours back to that rule."
        min={0}
        step={0.05}
        value={draft.price}
        onChange={(value) => change({ price: value === "" ? "" : Number(value) })}
      />
      <NumberInput
        label="Workers at most"
        description="Of this group; the endpoint's own maximum counts as well."
        min={1}
        value={draft.most}
        onChange={(value) => change({ most: value === "" ? "" : Number(value) })}
      />
    </>
  );
}

function draftOf(group: WorkerGroup | undefined): Draft {
  if (group === undefined) return { template: "", launch: "", search: "", price: "", most: "" };
  const { template_hash: template, launch_args: launch, search_params: search, max_workers: most } = group;
  return { template, launch, search, most, price: group.is_max_dph_by_owner ? (group.max_dph ?? "") : "" };
}

/** The settings of the request: all that are filled in for a new group, those that differ for one that exists. */
function bodyOf(draft: Draft, { endpointId, group }: Pick<Props, "endpointId" | "group">): WorkerGroupSettings {
  const before = draftOf(group);
  const isSent = (name: keyof Draft) => draft[name] !== before[name] && (group !== undefined || draft[name] !== "");
  return {
    ...(group === undefined ? { endpoint_id: endpointId } : {}),
    ...(isSent("template") ? { template_hash: draft.template.trim() } : {}),
    ...(isSent("launch") ? { launch_args: draft.launch.trim() } : {}),
    ...(isSent("search") ? { search_params: draft.search.trim() } : {}),
    ...(isSent("price") ? { max_dph: draft.price === "" ? 0 : draft.price } : {}),
    ...(isSent("most") && draft.most !== "" ? { max_workers: draft.most } : {}),
  };
}

function commandOf(body: WorkerGroupSettings, group: WorkerGroup | undefined): readonly string[] {
  const {
    endpoint_id: endpoint,
    template_hash: template,
    launch_args: launch,
    max_dph: price,
    max_workers: most,
  } = body;
  const search = typeof body.search_params === "string" ? body.search_params : undefined;
  const options = { endpoint, template, "launch-args": launch, search, "max-price": price, "max-workers": most };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return group === undefined ? ["create", ...words] : ["update", String(group.id), ...words];
}
