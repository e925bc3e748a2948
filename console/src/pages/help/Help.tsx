import { TextInput } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { findHelp, HELP_ENTRIES, HELP_GROUPS } from "./docs.ts";
import type { HelpEntry } from "./nodes.ts";
import classes from "./help.module.css";

const route = getRouteApi("/frame/help");

/** The documentation of this installation: by group, or what a search finds. */
export function Help() {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate();
  return (
    <>
      <PageHead title="Help" note="The documentation of this version of Berth." />
      <TextInput
        className={classes["search"] ?? ""}
        type="search"
        aria-label="Search the help pages"
        placeholder="What do you want to do?"
        leftSection={<Icon name="search" />}
        value={q}
        onChange={(event) => {
          const value = event.currentTarget.value;
          void navigate({ to: "/help", search: value === "" ? {} : { q: value }, replace: true });
        }}
      />
      {q.trim() === "" ? <Groups /> : <Found q={q} />}
    </>
  );
}

function Groups() {
  const entries = new Map(HELP_ENTRIES.map((entry) => [entry.name, entry]));
  return (
    <div className={classes["groups"]}>
      {HELP_GROUPS.map(({ name, pages }) => (
        <div key={name}>
          <h2>{name}</h2>
          <ul className={classes["pages"]}>
            {pages
              .flatMap((page) => entries.get(page) ?? [])
              .map((entry) => (
                <li key={entry.name}>
                  <PageLink entry={entry} />
                </li>
              ))}
            {name === "Write a client" && (
              <li>
                <Link to="/help/reference">Every operation of the API</Link>
              </li>
            )}
          </ul>
        </div>
      ))}
    </div>
  );
}

function PageLink({ entry }: { readonly entry: HelpEntry }) {
  return (
    <Link to="/help/$page" params={{ page: entry.name }}>
      {entry.title}
    </Link>
  );
}

function Found({ q }: { readonly q: string }) {
  const found = findHelp(q);
  if (found.length === 0) {
    return (
      <EmptyState
        title="No page has these words"
        action={
          <Link to="/help/reference" search={{ q }}>
            Search the operations of the API
          </Link>
        }
      >
        Try fewer words, or other ones.
      </EmptyState>
    );
  }
  return (
    <ul className={classes["found"]} aria-label="Found">
      {found.map(({ entry, heading }) => (
        <li key={entry.name}>
          <Link to="/help/$page" params={{ page: entry.name }} hash={heading?.id ?? ""}>
            {heading === undefined ? entry.title : `${entry.title}: ${heading.text}`}
          </Link>
          <p className="dim">{entry.first}</p>
        </li>
      ))}
    </ul>
  );
}
