import { Button, Checkbox, Radio, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { apikeyCreate, type ApikeyCreateRequest } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { CATEGORIES, documentOf, PURPOSES } from "./key-scopes.ts";

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
  const categories = purpose === "own" ? chosen : PURPOSES.find(({ key }) => key === purpose)?.categories;
  const body: ApikeyCreateRequest = {
    name: name.trim(),
    ...(categories === undefined ? {} : { permissions: documentOf(categories) }),
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
          <Radio value="own" label="What I choose" />
        </div>
      </Radio.Group>
      {purpose === "own" && (
        <Checkbox.Group label="Categories" value={[...chosen]} onChange={setChosen}>
          <div className={classes["checks"]} style={{ marginTop: 8 }}>
            {CATEGORIES.map(({ key, label }) => (
              <Checkbox key={key} value={key} label={label} />
            ))}
          </div>
        </Checkbox.Group>
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
          {categories === undefined ? "all that I may do now" : JSON.stringify(documentOf(categories), null, 2)}
        </pre>
      </div>
      {make.error !== null && <Failure error={make.error} onRetry={() => make.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={make.isPending}>
          Make the key
        </Button>
        <AsCommand request={{ method: "POST", path: "/api/v0/auth/apikeys/", body }} />
      </div>
    </form>
  );
}
