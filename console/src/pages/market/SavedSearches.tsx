import { Button, Menu, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { savedSearchDelete, savedSearchList, savedSearchSave } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Icon } from "../../ui/Icon.tsx";
import classes from "./market.module.css";

type Props = { readonly q: string; readonly onChoose: (q: string) => void };

/** The person's saved searches: choose one, save the present one under a name, or delete one. */
export function SavedSearches({ q, onChoose }: Props) {
  const saved = useQuery(askPlain("offer.saved", savedSearchList)).data?.saved_searches ?? [];
  const [first] = saved;
  const [name, setName] = useState("");
  const save = useAction(savedSearchSave, { changes: ["offer"], onDone: () => setName("") });
  const remove = useAction(savedSearchDelete, { changes: ["offer"] });
  const submit = () => save.mutate({ body: { name: name.trim(), query: q } });
  return (
    <Menu position="bottom-end" width={320} closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name="chevron" size={12} />}>
          Saved searches{saved.length > 0 && ` (${saved.length})`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {saved.map((one) => (
          <div key={one.id} className={classes["saved"]}>
            <Menu.Item onClick={() => onChoose(one.query)} closeMenuOnClick>
              <HostileText text={one.name} />
              <span className={classes["savedText"]}>
                <HostileText text={one.query === "" ? "every offer" : one.query} />
              </span>
            </Menu.Item>
            <button
              type="button"
              className={classes["remove"]}
              aria-label={`Delete the search ${one.name}`}
              onClick={() => remove.mutate({ id: String(one.id) })}
            >
              <Icon name="cross" size={12} />
            </button>
          </div>
        ))}
        {saved.length === 0 && <p className={classes["hint"]}>A saved search keeps the conditions under a name.</p>}
        <Menu.Divider />
        <form
          className={classes["save"]}
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== "") submit();
          }}
        >
          <TextInput
            size="xs"
            aria-label="Name of this search"
            placeholder="Name of this search"
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => event.stopPropagation()}
          />
          <Button type="submit" variant="default" disabled={name.trim() === ""} loading={save.isPending}>
            Save
          </Button>
        </form>
        <AsRequests first={first?.id} body={{ name: name.trim(), query: q }} />
        {save.error !== null && <Failure error={save.error} onRetry={submit} />}
        {remove.error !== null && <Failure error={remove.error} />}
      </Menu.Dropdown>
    </Menu>
  );
}

type RequestsProps = {
  /** The id of the first saved search. */
  readonly first: number | undefined;
  readonly body: { readonly name: string; readonly query: string };
};

/** Saving and deleting as requests. */
function AsRequests({ first, body }: RequestsProps) {
  return (
    <p className={classes["hint"]}>
      Save <AsCommand request={{ method: "POST", path: "/api/v0/users/saved-searches/", body }} />
      {first !== undefined && (
        <>
          , delete <AsCommand request={{ method: "DELETE", path: `/api/v0/users/saved-searches/${first}/` }} />
        </>
      )}
    </p>
  );
}
