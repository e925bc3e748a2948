import { Button, Checkbox, NativeSelect, Radio, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { apikeyCreate, instanceList, type ApikeyCreateRequest } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { visibleText } from "../text/hostile.ts";
import {
  CATEGORIES,
  documentOf,
  INSTANCE_USES,
  instanceDocument,
  PURPOSES,
  type PermissionDocument,
} from "./key-scopes.ts";

type Props = {
  readonly hasTfa: boolean;
  /** Called with the key, which the server shows this once. */
  readonly onMade: (key: string) => void;
  /** The team that the key acts for; one's own account without it. */
  readonly teamId?: number;
};

/** Makes an API key that may do what it is for, and nothing else. */
export function KeyCreate({ hasTfa, onMade, teamId }: Props) {
  const [name, setName] = useState("");
  const [purpose, setPurpose] = useState("all");
  const [chosen, setChosen] = useState<readonly string[]>(["instance_read"]);
  const [demandsTfa, setDemandsTfa] = useState(false);
  const make = useAction(apikeyCreate, { changes: ["key", "team"], onDone: ({ key }) => onMade(key) });
  const [instance, setInstance] = useState<number>();
  const [uses, setUses] = useState<readonly string[]>(["see"]);
  const permissions = permissionsOf({ purpose, chosen, instance, uses });
  const isOpen = purpose === "instance" && (instance === undefined || uses.length === 0);
  const body: ApikeyCreateRequest = {
    name: name.trim(),
    ...(permissions === undefined ? {} : { permissions }),
    ...(demandsTfa ? { demands_tfa: true } : {}),
    ...(teamId === undefined ? {} : { team_id: teamId }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <TextInput
        label="Name"
        description="What the key is for, such as “training runs”."
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Radio.Group label="The key may" value={purpose} onChange={setPurpose}>
        <div className={classes["wide"]} style={{ gap: 8, marginTop: 8 }}>
          {PURPOSES.map(({ key, label, note }) => (
            <Radio key={key} value={key} label={label} description={note} />
          ))}
          <Radio value="instance" label="Use one instance" description="And no other: for a program that runs one." />
          <Radio value="own" label="What I choose" />
        </div>
      </Radio.Group>
      {purpose === "own" && <Choices label="Categories" choices={CATEGORIES} chosen={chosen} onChoose={setChosen} />}
      {purpose === "instance" && (
        <>
          <InstanceChoice instance={instance} onChoose={setInstance} />
          <Choices label="With it, the key may" choices={INSTANCE_USES} chosen={uses} onChoose={setUses} />
        </>
      )}
      {hasTfa && (
        <Checkbox
          label="It asks for a second factor before it destroys something"
          checked={demandsTfa}
          onChange={(event) => setDemandsTfa(event.currentTarget.checked)}
        />
      )}
      <div>
        <p className={classes["hint"]}>Its permissions, as the server keeps them:</p>
        <pre className={classes["json"]} aria-label="Permissions" tabIndex={0}>
          {permissions === undefined ? "all that I may do now" : JSON.stringify(permissions, null, 2)}
        </pre>
      </div>
      {make.error !== null && <Failure error={make.error} onRetry={() => make.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={make.isPending} disabled={isOpen}>
          Make the key
        </Button>
        <AsCommand request={{ method: "POST", path: "/api/v0/auth/apikeys/", body }} />
      </div>
    </form>
  );
}

type Choice = {
  readonly purpose: string;
  readonly chosen: readonly string[];
  readonly instance: number | undefined;
  readonly uses: readonly string[];
};

/** The document of the chosen rights; undefined for everything. */
function permissionsOf({ purpose, chosen, instance, uses }: Choice): PermissionDocument | undefined {
  if (purpose === "instance") return instance === undefined ? { api: {} } : instanceDocument(instance, uses);
  const categories = purpose === "own" ? chosen : PURPOSES.find(({ key }) => key === purpose)?.categories;
  return categories === undefined ? undefined : documentOf(categories);
}

type ChoicesProps = {
  readonly label: string;
  readonly choices: readonly { readonly key: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
};

function Choices({ label, choices, chosen, onChoose }: ChoicesProps) {
  return (
    <Checkbox.Group label={label} value={[...chosen]} onChange={onChoose}>
      <div className={classes["checks"]} style={{ marginTop: 8 }}>
        {choices.map((choice) => (
          <Checkbox key={choice.key} value={choice.key} label={choice.label} />
        ))}
      </div>
    </Checkbox.Group>
  );
}

type InstanceProps = {
  readonly instance: number | undefined;
  readonly onChoose: (instance: number | undefined) => void;
};

function InstanceChoice({ instance, onChoose }: InstanceProps) {
  const instances = useQuery(askPlain("instance.list", instanceList)).data?.instances ?? [];
  return (
    <NativeSelect
      label="Instance"
      data={[
        { value: "", label: instances.length === 0 ? "You have no instance" : "Choose one" },
        ...instances.map(({ id, label }) => ({ value: String(id), label: `${id} ${visibleText(label ?? "")}` })),
      ]}
      value={instance === undefined ? "" : String(instance)}
      onChange={({ currentTarget: { value } }) => onChoose(value === "" ? undefined : Number(value))}
    />
  );
}
