import { NativeSelect, NumberInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { apikeyList, capSet, endpointList, instanceList, type Cap } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import { PERIOD_WORDS } from "../pages/money/scopes.ts";
import classes from "../pages/money/money.module.css";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

type Scope = Cap["scope"];
type Period = Cap["period"];
type Props = {
  /** The limit that is changed; undefined for a new one. */
  readonly cap: Cap | undefined;
  readonly onDone: () => void;
};

const SCOPES = ["account", "key", "endpoint", "instance"] as const satisfies readonly Scope[];
const PERIODS = ["day", "month", "total"] as const satisfies readonly Period[];
const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  account: "The whole account",
  key: "An API key",
  endpoint: "An endpoint",
  instance: "An instance",
};
const LIMIT_USUAL = 10;

/** Sets a limit, or changes how much one allows. */
export function CapSet({ cap, onDone }: Props) {
  const [scope, setScope] = useState<Scope>(cap?.scope ?? "account");
  const [thing, setThing] = useState(cap === undefined || cap.scope === "account" ? "" : String(cap.scope_id));
  const [period, setPeriod] = useState<Period>(cap?.period ?? "day");
  const [limit, setLimit] = useState<number | string>(cap?.limit ?? LIMIT_USUAL);
  const set = useAction(capSet, { changes: ["balance"], onDone });
  const needsThing = scope !== "account";
  const body = {
    ...{ scope, period, limit: Number(limit) },
    ...(needsThing ? { scope_id: Number(thing) } : {}),
  };
  const reason =
    limit === ""
      ? "Say how many dollars first."
      : needsThing && thing === ""
        ? `Choose which ${scope} first.`
        : undefined;
  const submit = () => set.mutate({ body });
  return (
    <form
      className={classes["form"]}
      aria-label="Limit"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <NativeSelect
        label="Of"
        value={scope}
        disabled={cap !== undefined}
        data={SCOPES.map((value) => ({ value, label: SCOPE_WORDS[value] }))}
        onChange={({ currentTarget: { value } }) => {
          setScope(SCOPES.find((one) => one === value) ?? "account");
          setThing("");
        }}
      />
      {needsThing && <Things scope={scope} value={thing} isFixed={cap !== undefined} onChange={setThing} />}
      <NativeSelect
        label="Per"
        value={period}
        disabled={cap !== undefined}
        data={PERIODS.map((value) => ({ value, label: PERIOD_WORDS[value] }))}
        onChange={({ currentTarget: { value } }) => setPeriod(PERIODS.find((one) => one === value) ?? "day")}
      />
      <NumberInput label="Limit in dollars" min={0} decimalScale={9} prefix="$" value={limit} onChange={setLimit} />
      <p className={classes["note"]}>{effectOf(scope, period, Number(limit))}</p>
      {set.error !== null && <Failure error={set.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton variant="filled" size="sm" onClick={submit} isBusy={set.isPending} reason={reason}>
          {cap === undefined ? "Set the limit" : "Change the limit"}
        </ActionButton>
        <AsCommand
          command={["cap", "set", needsThing ? `${scope}:${thing}` : scope, String(limit), "--per", period]}
          request={{ method: "PUT", path: "/api/v0/caps/", body }}
        />
      </div>
    </form>
  );
}

/** The effect of the limit, in a sentence. */
function effectOf(scope: Scope, period: Period, limit: number): string {
  const whose = { account: "everything", key: "what the key rents", endpoint: "its workers", instance: "the instance" };
  const again = period === "total" ? "" : `; it begins again each ${period} at midnight UTC`;
  if (limit === 0) return `Zero stops ${whose[scope]} at once, with its data kept${again}.`;
  return `What is spent in this period so far counts. When ${whose[scope]} has reached the limit, it is stopped with its data kept, and nothing more is started${again}.`;
}

type ThingsProps = {
  readonly scope: Exclude<Scope, "account">;
  readonly value: string;
  readonly isFixed: boolean;
  readonly onChange: (value: string) => void;
};

function Things({ scope, value, isFixed, onChange }: ThingsProps) {
  const keys = useQuery({ ...askPlain("key.list", apikeyList), enabled: scope === "key" }).data?.apikeys;
  const endpoints = useQuery({ ...askPlain("endpoint.list", endpointList), enabled: scope === "endpoint" }).data
    ?.results;
  const instances = useQuery({ ...askPlain("instance.list", instanceList), enabled: scope === "instance" }).data
    ?.instances;
  const named = {
    key: keys?.map(({ id, name }) => ({ id, name })),
    endpoint: endpoints?.map(({ id, endpoint_name: name }) => ({ id, name })),
    instance: instances?.map(({ id, label }) => ({ id, name: label ?? "" })),
  }[scope];
  const known = (named ?? []).map(({ id, name }) => ({
    value: String(id),
    label: name === "" ? String(id) : `${id} ${name}`,
  }));
  const isMissing = value !== "" && !known.some((one) => one.value === value);
  return (
    <NativeSelect
      label="Which"
      value={value}
      disabled={isFixed}
      data={[{ value: "", label: "Choose" }, ...known, ...(isMissing ? [{ value, label: value }] : [])]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
