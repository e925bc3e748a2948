import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { templateEdit, templateVersions, type Template, type TemplateVersion } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Ago } from "../../ui/figures.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { linesBetween } from "./lines.ts";
import classes from "./templates.module.css";

const FIRST = 10;
const MORE = 100;

/** Earlier contents of a template, and the way back to each. */
export function Versions({ template }: { readonly template: Template }) {
  const [limit, setLimit] = useState(FIRST);
  const input = { id: String(template.id), query: { limit } };
  const versions = useQuery(ask("template.versions", templateVersions, input));
  return (
    <Section title="Versions">
      <Answer query={versions} rows={4}>
        {(answer) => (
          <>
            <ol className={classes["versions"]}>
              {answer.versions.map((version, index) => (
                <Version
                  key={version.hash_id}
                  template={template}
                  version={version}
                  isFirst={answer.next_token === null && index === answer.versions.length - 1}
                />
              ))}
            </ol>
            {answer.next_token !== null && limit < MORE && (
              <Button variant="default" mt={12} onClick={() => setLimit(MORE)}>
                Show older versions
              </Button>
            )}
          </>
        )}
      </Answer>
    </Section>
  );
}

type Props = { readonly template: Template; readonly version: TemplateVersion; readonly isFirst: boolean };

function Version({ template, version, isFirst }: Props) {
  const { changes } = version;
  return (
    <li className={classes["box"]}>
      <div className={classes["versionHead"]}>
        <span>
          <code>{version.hash_id.slice(0, 8)}</code> · <Ago at={version.made_at} />
          {version.is_current && " · present"}
        </span>
        {!version.is_current && <RollBack template={template} version={version} />}
      </div>
      {changes.length === 0 && <span className="dim">{isFirst ? "As it was made." : "Nothing changed."}</span>}
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <strong>{field}</strong>
          <pre className={classes["diff"]} aria-label={`Change of ${field}`}>
            {linesBetween(textOf(before), textOf(after)).map(({ kind, text }, index) =>
              kind === "same" ? (
                <span key={index}>
                  {"  "}
                  <HostileText text={text} />
                  {"\n"}
                </span>
              ) : kind === "gone" ? (
                <del key={index}>
                  - <HostileText text={text} />
                </del>
              ) : (
                <ins key={index}>
                  + <HostileText text={text} />
                </ins>
              ),
            )}
          </pre>
        </div>
      ))}
    </li>
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return "(not shown)";
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

function RollBack({ template, version }: Omit<Props, "isFirst">) {
  const [isAsked, setAsked] = useState(false);
  const edit = useAction(templateEdit, { changes: ["template", "offer"], onDone: () => setAsked(false) });
  const body = { hash_id: template.hash_id, restore_hash_id: version.hash_id };
  return (
    <>
      <ActionButton
        onClick={() => setAsked(true)}
        reason={version.is_readable ? undefined : "Its private fields can no longer be read."}
      >
        Roll back to this
      </ActionButton>
      <Confirm
        isOpen={isAsked}
        title={`Roll back to ${version.hash_id.slice(0, 8)}?`}
        action="Roll back"
        isDangerous={false}
        loss={
          <>
            <p>All settings become what they were then. The present version stays in this list.</p>
            <AsCommand request={{ method: "PUT", path: "/api/v0/template/", body }} />
          </>
        }
        isBusy={edit.isPending}
        onConfirm={() => edit.mutate({ body })}
        onClose={() => setAsked(false)}
      >
        {edit.error !== null && <Failure error={edit.error} />}
      </Confirm>
    </>
  );
}
