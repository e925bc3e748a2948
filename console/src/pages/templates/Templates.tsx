import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import type { Template } from "../../../../sdk/src/index.ts";
import { useMe } from "../../api/me.ts";
import { TemplateEdit } from "../../forms/template-edit.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { SHOWN, type Shown } from "./shown.ts";
import { choose, imageOf, kindOf, recentQuery, templatesQuery } from "./templates.ts";
import classes from "./templates.module.css";

const route = getRouteApi("/frame/templates");
const WORDS: Readonly<Record<Shown, string>> = {
  all: "All",
  shipped: "Shipped",
  own: "Yours",
  public: "Public",
  recent: "Recent",
};

export function Templates() {
  const { q = "", show = "all", form } = route.useSearch();
  const navigate = route.useNavigate();
  const me = useMe();
  const text = useDeferredValue(q.trim());
  const all = useQuery({ ...templatesQuery(text), placeholderData: keepPreviousData, enabled: show !== "recent" });
  const recent = useQuery({ ...recentQuery, enabled: show === "recent" });
  const query = show === "recent" ? recent : all;
  const templates = query.data === undefined ? undefined : choose(query.data, show, me?.id);
  const found = show === "recent" ? templates?.filter((one) => holds(one, text)) : templates;
  const change = (changed: {
    readonly q?: string | undefined;
    readonly show?: Shown;
    readonly form?: "new" | undefined;
  }) => void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  return (
    <>
      <PageHead
        title="Templates"
        note="An image with its settings, ready to rent with."
        actions={<Button onClick={() => change({ form: "new" })}>New template</Button>}
      />
      <div className={classes["tools"]}>
        <TextInput
          className={classes["search"]}
          aria-label="Search in names, images and descriptions"
          placeholder="Search in names, images and descriptions"
          data-page-search
          value={q}
          onChange={(event) => change({ q: event.currentTarget.value || undefined })}
        />
        <SegmentedControl
          aria-label="Which templates"
          size="xs"
          value={show}
          onChange={(next) => change({ show: SHOWN.find((word) => word === next) ?? "all" })}
          data={SHOWN.map((value) => ({ value, label: WORDS[value] }))}
        />
        <span className="dim" aria-live="polite">
          {found !== undefined && count(found.length, "template")}
        </span>
      </div>
      {query.error !== null && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {found === undefined && query.error === null && <Waiting rows={8} what="Loading: templates" />}
      {found?.length === 0 && <Nothing shown={show} text={text} onNew={() => change({ form: "new" })} />}
      {found !== undefined && found.length > 0 && <Gallery templates={found} ownerId={me?.id} />}
      <Panel title="New template" isOpen={form === "new"} onClose={() => change({ form: undefined })} width={640}>
        <TemplateEdit
          kind="create"
          onDone={({ id }) => void navigate({ to: "/templates/$id", params: { id: String(id) } })}
        />
      </Panel>
    </>
  );
}

function holds({ name, image = "", desc = "" }: Template, text: string): boolean {
  return `${name}\n${image}\n${desc}`.toLowerCase().includes(text.toLowerCase());
}

function Gallery({
  templates,
  ownerId,
}: {
  readonly templates: readonly Template[];
  readonly ownerId: number | undefined;
}) {
  return (
    <ul className={classes["gallery"]} aria-label="Templates">
      {templates.map((template) => (
        <li key={template.id} className={classes["card"]}>
          <h2 className={classes["name"]}>
            <Link to="/templates/$id" params={{ id: String(template.id) }}>
              <HostileText text={template.name} />
            </Link>
          </h2>
          <p className={classes["image"]}>
            <HostileText text={imageOf(template)} />
          </p>
          <p className={classes["desc"]}>
            <HostileText text={template.desc ?? ""} />
          </p>
          <p className={classes["facts"]}>
            <span>{kindOf(template, ownerId)}</span>
            {(template.count_created ?? 0) > 0 && <span>{count(template.count_created ?? 0, "rental")}</span>}
          </p>
        </li>
      ))}
    </ul>
  );
}

type NothingProps = { readonly shown: Shown; readonly text: string; readonly onNew: () => void };

function Nothing({ shown, text, onNew }: NothingProps) {
  const make = (
    <Button variant="default" onClick={onNew}>
      New template
    </Button>
  );
  if (text !== "")
    return <EmptyState title="No template holds this text">Search for a part of its name or image.</EmptyState>;
  if (shown === "recent")
    return <EmptyState title="No recent templates">Those that you rent with are listed here.</EmptyState>;
  return (
    <EmptyState title="No templates" action={make}>
      A template holds an image with its settings, so that renting takes one click.
    </EmptyState>
  );
}
