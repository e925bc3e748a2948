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
import { bodyOf, commandOf, firstChoice, isReady, type RentChoice } from "./rent-choice.ts";
import { RentBid } from "./rent-bid.tsx";
import { RentCost } from "./rent-cost.tsx";
import { RentMore } from "./rent-more.tsx";
import classes from "./rent.module.css";

type Props = {
  readonly offer: OfferRow;
  readonly type: OfferType;
  /** Hash of the template to begin with. */
  readonly template?: string | undefined;
};

/** The form that rents one offer, beside what it costs as the server says it. */
export function RentInstance({ offer, type, template }: Props) {
  const [choice, setChoice] = useState<RentChoice>(() => firstChoice(offer, type, template));
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
        <MainFields {...{ offer, choice, set }} />
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
function useRent(offerId: number, choice: RentChoice) {
  const navigate = useNavigate();
  const rent = useAction(createInstance, {
    changes: ["instance", "offer", "balance"],
    onDone: ({ new_contract: id }) => void navigate({ to: "/instances/$id", params: { id: String(id) } }),
  });
  const body = bodyOf(choice);
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

type FieldsProps = {
  readonly offer: OfferRow;
  readonly choice: RentChoice;
  readonly set: (changed: Partial<RentChoice>) => void;
};

function MainFields({ offer, choice, set }: FieldsProps) {
  const templates = useQuery(ask("template.public", templateSearch, { query: { limit: 100 } })).data?.templates ?? [];
  const isListed = choice.templateHash === "" || templates.some((one) => one.hash_id === choice.templateHash);
  const chooseTemplate = (hash: string) => {
    const gb = Math.ceil(templates.find((one) => one.hash_id === hash)?.recommended_disk_space ?? 0);
    set({ templateHash: hash, diskGb: Math.min(Math.max(choice.diskGb, gb), diskMax(offer)) });
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
