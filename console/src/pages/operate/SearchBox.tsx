import { Button, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Icon } from "../../ui/Icon.tsx";
import classes from "./operate.module.css";

/** One field that finds people, machines, instances, documents and payouts of everybody. */
export function SearchBox({ q = "" }: { readonly q?: string | undefined }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState(q);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = typed.trim();
    if (text !== "") void navigate({ to: "/operate/search", search: { q: text } });
  };
  return (
    <search className={classes["search"]}>
      <form onSubmit={submit} className={classes["searchBox"]}>
        <TextInput
          size="xs"
          aria-label="Search everything"
          placeholder="Id, name, address, label, number"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          leftSection={<Icon name="search" size={14} />}
          data-page-search
          spellCheck={false}
          autoComplete="off"
        />
        <Button type="submit" variant="default">
          Search
        </Button>
      </form>
    </search>
  );
}
