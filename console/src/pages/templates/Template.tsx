import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { lazyPart } from "../../code.ts";
import { templateDelete, type Template as TemplateRow } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { useMe } from "../../api/me.ts";
import { TemplateEdit } from "../../forms/template-edit.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { Outlook } from "./Outlook.tsx";
import { Settings } from "./Settings.tsx";
import { queryTextOf, templateQuery } from "./templates.ts";
import { Versions } from "./Versions.tsx";
import classes from "./templates.module.css";

const route = getRouteApi("/frame/templates/$id");
// The reader of Markdown is large, and most pages do without it.
const Markdown = lazyPart(() => import("../../parts/Markdown.tsx"), "Markdown");

export function Template() {
  const { id } = route.useParams();
  const template = useQuery(templateQuery(id));
  return (
    <Answer query={template} rows={10}>
      {(found) =>
        found === null ? (
          <>
            <PageHead title={`Template ${id}`} />
            <EmptyState title={`There is no template ${id} for you`}>
              Its owner deleted it or made it private. <Link to="/templates">All templates</Link>
            </EmptyState>
          </>
        ) : (
          <OneTemplate template={found} />
        )
      }
    </Answer>
  );
}

function OneTemplate({ template }: { readonly template: TemplateRow }) {
  const isOwn = useMe()?.id === template.creator_id;
  const { readme = "", desc = "" } = template;
  return (
    <>
      <PageHead
        title={<HostileText text={template.name} />}
        note={desc === "" ? undefined : <HostileText text={desc} />}
        actions={<Actions template={template} isOwn={isOwn} />}
      />
      <div className={classes["page"]}>
        <div>
          {readme !== "" && template.readme_visible !== false && (
            <Suspense fallback={<Waiting rows={6} what="Loading: readme" />}>
              <Markdown text={readme} label="Readme" />
            </Suspense>
          )}
          <Settings template={template} isOwn={isOwn} />
          {isOwn && <Versions template={template} />}
        </div>
        <div>
          <Outlook id={template.id} />
        </div>
      </div>
    </>
  );
}

function Actions({ template, isOwn }: { readonly template: TemplateRow; readonly isOwn: boolean }) {
  const { form } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (next: "edit" | "copy" | undefined) =>
    void navigate({ search: (before) => ({ ...before, form: next }), replace: true });
  const done = ({ id }: Pick<TemplateRow, "id">) =>
    void navigate({ to: "/templates/$id", params: { id: String(id) }, search: {}, replace: true });
  const q = queryTextOf(template.extra_filters);
  return (
    <>
      {isOwn && <Delete template={template} />}
      <Button variant="default" onClick={() => open("copy")}>
        Copy
      </Button>
      {isOwn && (
        <Button variant="default" onClick={() => open("edit")}>
          Edit
        </Button>
      )}
      <Button
        renderRoot={(props) => (
          <Link to="/market" search={{ template: template.hash_id, ...(q === "" ? {} : { q }) }} {...props} />
        )}
      >
        Rent with this template
      </Button>
      <Panel
        title={form === "edit" ? `Edit template ${template.id}` : `Copy template ${template.id}`}
        isOpen={form === "edit" || form === "copy"}
        onClose={() => open(undefined)}
        width={640}
      >
        <TemplateEdit kind={form === "edit" ? "edit" : "copy"} template={template} onDone={done} />
      </Panel>
    </>
  );
}

function Delete({ template }: { readonly template: TemplateRow }) {
  const navigate = route.useNavigate();
  const [isAsked, setAsked] = useState(false);
  const remove = useAction(templateDelete, {
    changes: ["template"],
    onDone: () => void navigate({ to: "/templates" }),
  });
  const body = { template_id: template.id };
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        Delete
      </Button>
      <Confirm
        isOpen={isAsked}
        title={`Delete template ${template.id}?`}
        action="Delete"
        loss={
          <>
            <p>
              <HostileText text={template.name} /> and its versions will be gone, and nobody can rent with it any more.
              Instances that were made from it stay.
            </p>
            <AsCommand
              command={["template", "delete", String(template.id)]}
              request={{ method: "DELETE", path: "/api/v0/template/", body }}
            />
          </>
        }
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate({ body })}
        onClose={() => setAsked(false)}
      >
        {remove.error !== null && <Failure error={remove.error} />}
      </Confirm>
    </>
  );
}
