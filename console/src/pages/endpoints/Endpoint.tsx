import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { ApiError, type Endpoint as Record } from "../../../../sdk/src/index.ts";
import { Answer } from "../../parts/Answer.tsx";
import { LinkTabs } from "../../parts/LinkTabs.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { endpointQuery, figure, historyQuery, lastOf, stateSentence, unitsText, workersText } from "./endpoint.ts";
import { EndpointActions } from "./EndpointActions.tsx";

const route = getRouteApi("/frame/endpoints/$id");

/** The head, the actions and the tabs of one endpoint; each tab is a page below it. */
export function Endpoint() {
  const { id } = route.useParams();
  const endpoint = useQuery(endpointQuery(Number(id)));
  if (endpoint.error instanceof ApiError && endpoint.error.status === 404) return <Gone id={id} />;
  return (
    <Answer query={endpoint} rows={10}>
      {({ result }) => <Shown endpoint={result} />}
    </Answer>
  );
}

function Shown({ endpoint }: { readonly endpoint: Record }) {
  const id = String(endpoint.id);
  const { endpoint_name: name, endpoint_state: state } = endpoint;
  return (
    <>
      <PageHead
        title={<HostileText text={`Endpoint ${id} ${name}`} />}
        note={
          <>
            <StateBadge state={state} sentence={stateSentence(state)} isSentenceShown /> <Now id={endpoint.id} />
          </>
        }
        actions={<EndpointActions endpoint={endpoint} />}
      />
      <LinkTabs
        label="Endpoint"
        params={{ id }}
        tabs={[
          { label: "Overview", to: "/endpoints/$id" },
          { label: "Settings and what if", to: "/endpoints/$id/settings" },
          { label: "Send a request", to: "/endpoints/$id/request" },
        ]}
      />
      <Outlet />
    </>
  );
}

/** The present load and workers in one line. */
function Now({ id }: { readonly id: number }) {
  const history = useQuery(historyQuery(id)).data;
  if (history === undefined) return null;
  const { load, workers, queued } = history;
  const waiting = lastOf(queued) ?? 0;
  const parts = [
    `load ${unitsText(load.at(-2) ?? 0)}`,
    `workers: ${workersText(workers) ?? "none yet"}`,
    ...(waiting > 0 ? [`${figure(waiting)} waiting`] : []),
  ];
  return <>· {parts.join(" · ")}</>;
}

function Gone({ id }: { readonly id: string }) {
  return (
    <>
      <PageHead title={`Endpoint ${id}`} />
      <EmptyState title={`There is no endpoint ${id}`}>
        It was deleted, or it is in another account. Its charges stay under <Link to="/money/charges">Charges</Link>;{" "}
        <Link to="/endpoints">all endpoints</Link>.
      </EmptyState>
    </>
  );
}
