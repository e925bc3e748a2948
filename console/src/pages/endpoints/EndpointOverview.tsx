import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../../code.ts";
import { Section } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { EndpointEvents } from "./EndpointEvents.tsx";
import { EndpointWorkers } from "./EndpointWorkers.tsx";
import { WorkerGroups } from "./WorkerGroups.tsx";
import classes from "./endpoints.module.css";

const route = getRouteApi("/frame/endpoints/$id/");
/** Charts come with uPlot, so they are loaded after the rest of the page. */
const Picture = lazyPart(() => import("./EndpointPicture.tsx"), "EndpointPicture");

const SPANS = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "7 d" },
];

/** One picture of an endpoint over time, and below it its workers, their groups, and what happened. */
export function EndpointOverview() {
  const id = Number(route.useParams().id);
  const { hours = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <div className={classes["spans"]}>
        <SegmentedControl
          size="xs"
          aria-label="Time"
          data={SPANS}
          value={String(hours)}
          onChange={(value) => void navigate({ search: (last) => ({ ...last, hours: Number(value) }) })}
        />
      </div>
      <Suspense fallback={<Waiting rows={10} what="Loading: the picture" />}>
        <Picture id={id} hours={hours} />
      </Suspense>
      <Section title="Workers">
        <EndpointWorkers id={id} />
      </Section>
      <WorkerGroups endpointId={id} />
      <Section title="What happened, and why">
        <EndpointEvents id={id} />
      </Section>
    </>
  );
}
