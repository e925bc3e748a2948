import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { endpointUpdate, type Endpoint } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { changedSettings, optionsOf, ParameterFields, valuesOf } from "../../forms/endpoint-parameters.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { Section } from "../../ui/PageHead.tsx";
import { endpointQuery } from "./endpoint.ts";
import { WhatIf } from "./WhatIf.tsx";
import classes from "./endpoints.module.css";

const route = getRouteApi("/frame/endpoints/$id");

export function EndpointSettings() {
  const id = Number(route.useParams().id);
  const endpoint = useQuery(endpointQuery(id));
  // Somebody else's change shows at once, unless a draft of this person is open: the fields begin again when it is saved.
  return <Answer query={endpoint}>{({ result }) => <Settings key={keyOf(result)} endpoint={result} />}</Answer>;
}

function keyOf(endpoint: Endpoint): string {
  return JSON.stringify([endpoint.endpoint_name, valuesOf(endpoint)]);
}

/** Parameters in one form: they can be tried on the past of the endpoint, and saved. */
function Settings({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, endpoint_name: before } = endpoint;
  const [name, setName] = useState(before);
  const [values, setValues] = useState(() => valuesOf(endpoint));
  const update = useAction(endpointUpdate, { changes: ["endpoint"] });
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
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={255}
          />
          <ParameterFields values={values} onChange={setValues} />
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
              <Button
                variant="default"
                onClick={() => {
                  setName(before);
                  setValues(valuesOf(endpoint));
                }}
              >
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
