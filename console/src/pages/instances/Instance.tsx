import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import type { Instance as Record } from "../../../../sdk/src/index.ts";
import { Answer } from "../../parts/Answer.tsx";
import { LinkTabs } from "../../parts/LinkTabs.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { useNow } from "../../ui/use-now.ts";
import { stateOf } from "../../parts/instance-state.ts";
import { gpusOf, instanceQuery } from "./instance.ts";
import { InstanceActions } from "./InstanceActions.tsx";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id");

/** The head, the actions and the tabs of one instance; each tab is a page below it. */
export function Instance() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id));
  return (
    <Answer query={instance} rows={10}>
      {(found) => (found === null ? <Gone id={id} /> : <Shown instance={found} />)}
    </Answer>
  );
}

function Shown({ instance }: { readonly instance: Record }) {
  const now = useNow();
  const id = String(instance.id);
  const { state, sentence } = stateOf(instance, now);
  const name = instance.label === null || instance.label === "" ? "" : ` ${instance.label}`;
  return (
    <>
      <PageHead
        title={<HostileText text={`Instance ${id}${name}`} />}
        note={
          <>
            <StateBadge state={state} sentence={sentence} isSentenceShown /> ·{" "}
            <HostileText text={`${gpusOf(instance)} on machine ${instance.machine_id}`} />
            {instance.is_simulated && " · simulated: nothing runs on a real machine"}
          </>
        }
      />
      <LinkTabs
        label="Instance"
        params={{ id }}
        tabs={[
          { label: "Overview", to: "/instances/$id" },
          { label: "Terminal", to: "/instances/$id/terminal" },
          { label: "Files", to: "/instances/$id/files" },
          { label: "Logs", to: "/instances/$id/logs" },
          { label: "Events", to: "/instances/$id/events" },
          { label: "Charges", to: "/instances/$id/charges" },
          { label: "Settings", to: "/instances/$id/settings" },
        ]}
      />
      <div className={classes["layout"]}>
        <div>
          <Outlet />
        </div>
        <InstanceActions instance={instance} />
      </div>
    </>
  );
}

function Gone({ id }: { readonly id: string }) {
  return (
    <>
      <PageHead title={`Instance ${id}`} />
      <EmptyState title={`There is no instance ${id}`}>
        It was destroyed, or it is in another account. Its charges stay under <Link to="/money/charges">Charges</Link>;{" "}
        <Link to="/instances">all instances</Link>.
      </EmptyState>
    </>
  );
}
