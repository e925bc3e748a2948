import { Button, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { endpointCreate } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { changedSettings, optionsOf, ParameterFields, startValues } from "./endpoint-parameters.tsx";
import classes from "./endpoint.module.css";

/** Makes an endpoint; its workers come with its first worker group, so it costs nothing until then. */
export function CreateEndpoint() {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [values, setValues] = useState(startValues);
  const create = useAction(endpointCreate, {
    changes: ["endpoint"],
    onDone: ({ result }) => void navigate({ to: "/endpoints/$id", params: { id: String(result) } }),
  });
  const body = { endpoint_name: name.trim(), ...changedSettings(values, startValues()) };
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ body });
      }}
    >
      <TextInput
        label="Name"
        description="Clients name it in each request; it is part of the address for clients of OpenAI's API."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        required
        data-autofocus
      />
      <ParameterFields values={values} onChange={setValues} />
      {create.error !== null && <Failure error={create.error} />}
      <div className={classes["end"]}>
        <Button type="submit" variant="filled" loading={create.isPending}>
          Create endpoint
        </Button>
        <AsCommand
          command={["endpoint", "create", ...optionsOf(body)]}
          request={{ method: "POST", path: "/api/v0/endptjobs/", body }}
        />
      </div>
    </form>
  );
}
