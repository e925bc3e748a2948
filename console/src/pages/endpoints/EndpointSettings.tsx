import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { endpointUpdate, type Endpoint } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { fieldsOf, isSame, rebase, type Difference } from "../../forms/endpoint-draft.ts";
import { changedSettings, optionsOf, ParameterFields, valuesOf } from "../../forms/endpoint-parameters.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { endpointQuery } from "./endpoint.ts";
import { WhatIf } from "./WhatIf.tsx";
import classes from "./endpoints.module.css";

const route = getRouteApi("/frame/endpoints/$id");

export function EndpointSettings() {
  const id = Number(route.useParams().id);
  const endpoint = useQuery(endpointQuery(id));
  return <Answer query={endpoint}>{({ result }) => <Settings key={id} endpoint={result} />}</Answer>;
}

/**
 * The draft of a person. Fields that they did not touch follow the server; what they typed stays when somebody else changes
 * the endpoint, and the differences are kept to be compared.
 */
function useDraft(endpoint: Endpoint) {
  const server = fieldsOf(endpoint);
  const [base, setBase] = useState(server);
  const [draft, setDraft] = useState(server);
  const [differences, setDifferences] = useState<readonly Difference[]>([]);
  if (!isSame(base, server)) {
    const merged = rebase(draft, { from: base, to: server });
    const labels = new Set(merged.differences.map(({ label }) => label));
    // Without a draft there is nothing to compare: the newer settings just show.
    const isOpen = !isSame(draft, base) && !isSame(draft, server);
    setBase(server);
    setDraft(merged.draft);
    setDifferences(isOpen ? [...differences.filter(({ label }) => !labels.has(label)), ...merged.differences] : []);
  }
  const undo = () => {
    setDraft(server);
    setDifferences([]);
  };
  return { draft, setDraft, differences, forget: () => setDifferences([]), undo };
}

/** Parameters in one form: they can be tried on the past of the endpoint, and saved. */
function Settings({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, endpoint_name: before } = endpoint;
  const { draft, setDraft, differences, forget, undo } = useDraft(endpoint);
  const { name, values } = draft;
  const update = useAction(endpointUpdate, { changes: ["endpoint"], onDone: forget });
  const settings = changedSettings(values, valuesOf(endpoint));
  const body = { ...(name.trim() === before ? {} : { endpoint_name: name.trim() }), ...settings };
  const changes = Object.keys(body).length;
  return (
    <>
      <Section title="Settings">
        <form
          className={classes["form"]}
          onSubmit={(event) => {
            event.preventDefault();
            if (changes > 0) update.mutate({ id, body });
          }}
        >
          <TextInput
            className={classes["narrow"]}
            label="Name"
            description="Clients name it in their requests: they need the new one at once."
            value={name}
            onChange={({ currentTarget: { value } }) => setDraft({ ...draft, name: value })}
            maxLength={255}
          />
          <ParameterFields values={values} onChange={(changed) => setDraft({ ...draft, values: changed })} />
          {differences.length > 0 && <Differences differences={differences} onForget={forget} onTake={undo} />}
          {update.error !== null && <Failure error={update.error} />}
          <div className={classes["end"]}>
            <ActionButton
              variant="filled"
              onClick={() => update.mutate({ id, body })}
              reason={changes === 0 ? "Nothing is changed." : undefined}
              isBusy={update.isPending}
            >
              {changes === 0 ? "Save" : `Save ${count(changes, "change")}`}
            </ActionButton>
            {changes > 0 && (
              <Button variant="default" onClick={undo}>
                Undo
              </Button>
            )}
            <AsCommand
              command={["endpoint", "update", String(id), ...optionsOf(body)]}
              request={{ method: "PUT", path: `/api/v0/endptjobs/${id}/`, body }}
            />
          </div>
        </form>
      </Section>
      <WhatIf id={id} settings={settings} />
    </>
  );
}

type DifferencesProps = {
  readonly differences: readonly Difference[];
  readonly onForget: () => void;
  readonly onTake: () => void;
};

/** Changes that somebody else made meanwhile, beside the draft. */
function Differences({ differences, onForget, onTake }: DifferencesProps) {
  return (
    <div className={classes["meanwhile"]} role="status">
      <DataTable
        label="Changed meanwhile"
        rows={differences}
        keyOf={({ label }) => label}
        empty={null}
        columns={[
          { key: "label", title: "Setting", isName: true, cell: ({ label }) => label },
          { key: "before", title: "Before", isOnCard: true, cell: ({ before }) => shown(before) },
          { key: "now", title: "Now", isOnCard: true, cell: ({ now }) => shown(now) },
          {
            key: "own",
            title: "In your draft",
            isOnCard: true,
            cell: ({ own, now }) =>
              own === undefined ? <span className="dim">{shown(now)}, taken over</span> : shown(own),
          },
        ]}
      />
      <p>Somebody changed this endpoint while you wrote. Saving sends only what your draft has otherwise.</p>
      <div className={classes["actions"]}>
        <Button variant="default" onClick={onForget}>
          Keep my draft
        </Button>
        <Button variant="default" onClick={onTake}>
          Take the new settings
        </Button>
      </div>
    </div>
  );
}

function shown(value: string | number) {
  return value === "" ? <span className="dim">not set</span> : <HostileText text={String(value)} />;
}
