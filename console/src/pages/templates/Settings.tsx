import type { ReactNode } from "react";
import type { Template } from "../../../../sdk/src/index.ts";
import { gigabytes } from "../../text/size.ts";
import { money } from "../../text/money.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { imageOf, kindOf, modeOf, queryTextOf } from "./templates.ts";
import classes from "./templates.module.css";

/** Everything that a template sets. */
export function Settings({ template, isOwn }: { readonly template: Template; readonly isOwn: boolean }) {
  const { env = "", onstart = "", args_str: args = "", traffic_limit: traffic } = template;
  const { recommended_disk_space: disk, created_at: createdAt, recent_create_date: usedAt } = template;
  const needs = queryTextOf(template.extra_filters);
  const rows: readonly (readonly [string, ReactNode] | undefined)[] = [
    ["Image", <Mono key="image" text={imageOf(template)} />],
    ["Starts", modeOf(template)],
    env === "" ? undefined : ["Variables and ports", <Mono key="env" text={env} />],
    args === "" ? undefined : ["Arguments", <Mono key="args" text={args} />],
    onstart === "" ? undefined : ["Start script", <Script key="onstart" text={onstart} />],
    template.jupyter_dir ? ["Jupyter starts in", <Mono key="dir" text={template.jupyter_dir} />] : undefined,
    disk === undefined ? undefined : ["Disk", gigabytes(disk)],
    needs === "" ? undefined : ["Machines must have", <Mono key="needs" text={needs} />],
    template.docker_login_repo ? ["Registry", <HostileText key="repo" text={template.docker_login_repo} />] : undefined,
    typeof traffic === "number" ? ["Traffic costs at most", money(traffic)] : undefined,
    ["Who finds it", kindOf(template, isOwn ? template.creator_id : undefined)],
    ["Rentals", String(template.count_created ?? 0)],
    usedAt === undefined || usedAt === null ? undefined : ["Last rental", <Ago key="used" at={usedAt} />],
    createdAt === undefined ? undefined : ["Made", <Ago key="made" at={createdAt} />],
    ["Hash", <Hash key="hash" hash={template.hash_id} />],
  ];
  return (
    <Section title="Settings">
      <dl className={classes["settings"]}>
        {rows.map((row) => row !== undefined && <Fact key={row[0]} name={row[0]} value={row[1]} />)}
      </dl>
    </Section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Mono({ text }: { readonly text: string }) {
  return (
    <span className="mono">
      <HostileText text={text} />
    </span>
  );
}

function Script({ text }: { readonly text: string }) {
  return (
    <pre className={classes["script"]}>
      <HostileText text={text} />
    </pre>
  );
}

function Hash({ hash }: { readonly hash: string }) {
  return (
    <>
      <code>{hash}</code> <CopyButton text={hash} what="the hash" />
    </>
  );
}
