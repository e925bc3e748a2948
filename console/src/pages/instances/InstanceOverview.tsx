import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../../code.ts";
import type { Instance } from "../../../../sdk/src/index.ts";
import { money } from "../../text/money.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { costText, instanceQuery, portsOf, sshCommandOf } from "./instance.ts";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id");
const Graphs = lazyPart(() => import("./InstanceGraphs.tsx"), "InstanceGraphs");

/** The way in, the ports with their links, the cost, and graphs of what the instance uses. */
export function InstanceOverview() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id)).data;
  if (instance === undefined || instance === null) return <Waiting rows={8} />;
  return (
    <>
      <Section title="Connect">
        <Connect instance={instance} />
      </Section>
      <Section title="Use">
        <Suspense fallback={<Waiting rows={8} />}>
          <Graphs id={instance.id} />
        </Suspense>
      </Section>
      <Section title="Cost">
        <p>{costText(instance)}.</p>
        {instance.credit_balance !== null && instance.credit_balance > 0 && (
          <p className="dim">{money(instance.credit_balance)} of it is paid in advance.</p>
        )}
      </Section>
    </>
  );
}

function Connect({ instance }: { readonly instance: Instance }) {
  const command = sshCommandOf(instance);
  const id = String(instance.id);
  return (
    <>
      {command === undefined ? (
        <EmptyState title="There is no way in yet">The command to connect stands here once it runs.</EmptyState>
      ) : (
        <div className={classes["command"]}>
          <code>{command}</code>
          <CopyButton text={command} what="the SSH command" />
        </div>
      )}
      <p className="dim">
        Or open the{" "}
        <Link to="/instances/$id/terminal" params={{ id }}>
          terminal
        </Link>{" "}
        or the{" "}
        <Link to="/instances/$id/files" params={{ id }}>
          files
        </Link>{" "}
        here, or copy with <code>./berth copy local:data/ {id}:/data</code>.
      </p>
      <Ports instance={instance} />
    </>
  );
}

function Ports({ instance }: { readonly instance: Instance }) {
  const open = portsOf(instance);
  if (open.length === 0) return undefined;
  return (
    <dl className={classes["facts"]}>
      {open.map(({ inner, place, link, isJupyter }) => (
        <div key={inner} style={{ display: "contents" }}>
          <dt>{inner}</dt>
          <dd>
            {link === undefined ? (
              <HostileText text={place} />
            ) : (
              <a href={link} target="_blank" rel="noreferrer">
                {place}
                {isJupyter && " (Jupyter)"}
              </a>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
