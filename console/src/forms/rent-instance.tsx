import { Collapse, NativeSelect, NumberInput, TextInput, UnstyledButton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import {
  instanceCreate,
  sshKeyList,
  templateSearch,
  type CallOptions,
  type Client,
  type InstanceCreateRequest,
  type NewInstance,
  type Template,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { ask, askPlain } from "../api/query.ts";
import type { OfferType } from "../pages/market/fields.ts";
import type { OfferRow } from "../pages/market/offers.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { hourly } from "../text/money.ts";
import { gigabytes } from "../text/size.ts";
import { bodyOf, commandOf, firstChoice, isReady, type ReadyChoice, type RentChoice } from "./rent-choice.ts";
import { RentBid } from "./rent-bid.tsx";
import { RentCost } from "./rent-cost.tsx";
import { RentMore } from "./rent-more.tsx";
import { RentVolume } from "./rent-volume.tsx";
import classes from "./rent.module.css";

type Props = {
  readonly offer: OfferRow;
  readonly type: OfferType;
  /** Hash of the template to begin with. */
  readonly template?: string | undefined;
};

/** The form that rents one offer, beside what it costs as the server says it. */
export function RentInstance({ offer, type, template }: Props) {
  const [chosen, setChoice] = useState<RentChoice>(() => firstChoice(offer, type, template));
  const templates = useQuery(ask("template.public", templateSearch, { query: { limit: 100 } })).data?.templates;
  const choice = withTemplate(chosen, offer, templates);
  const [isMore, setMore] = useState(false);
  const set = (changed: Partial<RentChoice>) => setChoice((before) => ({ ...before, ...changed }));
  const { forecast, rent, body, reason } = useRent(offer.id, choice);
  const submit = () => rent.mutate({ id: offer.id, body });
  const price = forecast.data?.price.total_per_hour;
  return (
    <form
      className={classes["form"]}
      aria-label="Rent"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <div className={classes["columns"]}>
        <MainFields {...{ offer, choice, set, templates: templates ?? [] }} />
        <RentCost forecast={forecast.data} isAsking={forecast.isFetching} />
      </div>
      {type === "bid" && <RentBid offer={offer} bid={choice.bid} onBid={(bid) => set({ bid })} />}
      <UnstyledButton className={classes["more"]} aria-expanded={isMore} onClick={() => setMore(!isMore)}>
        {isMore ? "▾" : "▸"} Connection, environment, ports, start script, traffic
      </UnstyledButton>
      <Collapse expanded={isMore}>
        <RentMore choice={choice} set={set} />
      </Collapse>
      {forecast.error !== null && <Failure error={forecast.error} />}
      {rent.error !== null && <Failure error={rent.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton variant="filled" size="sm" onClick={submit} isBusy={rent.isPending} reason={reason}>
          {price === undefined ? "Rent" : `Rent for ${hourly(price)}`}
        </ActionButton>
        <AsCommand
          command={commandOf(offer.id, choice)}
          request={{ method: "PUT", path: `/api/v0/asks/${offer.id}/`, body }}
        />
      </div>
    </form>
  );
}

/** The server's forecast of a choice, the action that rents it, and the reason why it cannot be rented as it stands. */
function useRent(offerId: number, choice: ReadyChoice) {
  const navigate = useNavigate();
  const body = bodyOf(choice);
  const rent = useAction(createInstance, {
    changes: ["instance", "offer", "balance"],
    onDone: ({ new_contract: id }) => void navigate({ to: afterRental(body), params: { id: String(id) } }),
  });
  const dry = useDeferredValue(JSON.stringify(body));
  const forecast = useQuery({
    ...ask("balance.forecast", forecastOf, { id: offerId, body: dry }),
    enabled: isReady(choice),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const refused = forecast.data?.would_start === false ? forecast.data.reason?.msg : undefined;
  const reason = isReady(choice) ? refused : "Choose a template or name an image first.";
  return { forecast, rent, body, reason };
}

/** The page after a rental: the terminal, which opens by itself; an instance that runs only its program has none. */
function afterRental({ runtype }: InstanceCreateRequest) {
  return runtype === "args" ? "/instances/$id" : "/instances/$id/terminal";
}

/** The choice with the first of the templates that come with Berth, until a person chooses; it has a shell for the terminal. */
function withTemplate(choice: RentChoice, offer: OfferRow, templates: readonly Template[] = []): ReadyChoice {
  const { templateHash, diskGb } = choice;
  if (templateHash !== undefined) return { ...choice, templateHash };
  const first = templates.find(({ shipped }) => shipped === true);
  if (first === undefined) return { ...choice, templateHash: "" };
  return { ...choice, templateHash: first.hash_id, diskGb: diskFor(first, diskGb, offer) };
}

function diskFor({ recommended_disk_space: gb }: Template, chosenGb: number, offer: OfferRow): number {
  return Math.min(Math.max(chosenGb, Math.ceil(gb ?? 0)), diskMax(offer));
}

type FieldsProps = {
  readonly offer: OfferRow;
  readonly templates: readonly Template[];
  readonly choice: ReadyChoice;
  readonly set: (changed: Partial<RentChoice>) => void;
};

function MainFields({ offer, templates, choice, set }: FieldsProps) {
  const isListed = choice.templateHash === "" || templates.some((one) => one.hash_id === choice.templateHash);
  const chooseTemplate = (hash: string) => {
    const found = templates.find((one) => one.hash_id === hash);
    set({ templateHash: hash, ...(found && { diskGb: diskFor(found, choice.diskGb, offer) }) });
  };
  return (
    <div className={classes["fields"]}>
      <NativeSelect
        label="Template"
        value={choice.templateHash}
        data={[
          { value: "", label: "None: name an image" },
          ...templates.map(({ hash_id: value, name }) => ({ value, label: name })),
          ...(isListed ? [] : [{ value: choice.templateHash, label: `Shared: ${choice.templateHash.slice(0, 8)}` }]),
        ]}
        onChange={(event) => chooseTemplate(event.currentTarget.value)}
      />
      {choice.templateHash === "" && (
        <TextInput
          label="Image"
          placeholder="ubuntu:24.04"
          value={choice.image}
          onChange={(event) => set({ image: event.currentTarget.value })}
          spellCheck={false}
        />
      )}
      <NumberInput
        label="Disk in GB"
        min={1}
        max={diskMax(offer)}
        value={choice.diskGb}
        onChange={(value) => set({ diskGb: Number(value) || 1 })}
        description={`At most ${gigabytes(offer.disk_space ?? 0)} on this machine`}
      />
      <TextInput
        label="Name"
        placeholder="trainer"
        value={choice.label}
        onChange={(event) => set({ label: event.currentTarget.value })}
      />
      <RentVolume offer={offer} volume={choice.volume} set={set} />
      <SshKeyLine />
    </div>
  );
}

function diskMax(offer: OfferRow): number {
  return Math.max(1, Math.floor(offer.disk_space ?? 1));
}

type CreateInput = { readonly id: number; readonly body: InstanceCreateRequest };

function createInstance(client: Client, { id, body }: CreateInput, options?: CallOptions): Promise<NewInstance> {
  return instanceCreate(client, { id, body: { ...body, dry_run: false } }, options);
}

function forecastOf(
  client: Client,
  { id, body }: { readonly id: number; readonly body: string },
  options?: CallOptions,
) {
  const request: InstanceCreateRequest = JSON.parse(body);
  return instanceCreate(client, { id, body: { ...request, dry_run: true } }, options);
}

/** Which keys open the instance, or where to add the first one. */
function SshKeyLine() {
  const keys = useQuery(askPlain("key.ssh", sshKeyList)).data;
  if (keys === undefined) return undefined;
  if (keys.length > 0) {
    return (
      <p className={classes["line"]}>SSH: your {keys.length === 1 ? "key opens" : `${keys.length} keys open`} it.</p>
    );
  }
  return (
    <p className={classes["line"]}>
      SSH: no key yet. <Link to="/account/ssh-keys">Add one</Link>, or use the terminal in the browser.
    </p>
  );
}
