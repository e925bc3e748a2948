import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endpointEvents, type EndpointEvent } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./endpoints.module.css";

const PAGE = 50;
/** The server answers with as many at most. */
const EVENTS_MAX = 1_000;

type Props = {
  readonly id: number;
  /** Only events of this worker. */
  readonly worker?: number;
};

/** Decisions of the autoscaler and the fates of workers in sentences, newest first. */
export function EndpointEvents({ id, worker }: Props) {
  const [limit, setLimit] = useState(worker === undefined ? PAGE : EVENTS_MAX);
  const events = useQuery(ask("endpoint.events", endpointEvents, { id, query: { limit } }));
  return (
    <Answer query={events}>
      {({ events: all }) => {
        const shown = all.filter((event) => worker === undefined || event.worker_id === worker);
        if (shown.length === 0) {
          return (
            <EmptyState title="Nothing has happened yet">
              Each decision stands here with its reason, and each worker with its fate, for seven days.
            </EmptyState>
          );
        }
        return (
          <>
            <ol className={classes["story"]}>
              {shown.map((event) => (
                <Line key={event.id} event={event} />
              ))}
            </ol>
            {worker === undefined && all.length === limit && limit < EVENTS_MAX && (
              <Button mt={8} variant="default" onClick={() => setLimit(Math.min(EVENTS_MAX, limit * 4))}>
                Show older ones
              </Button>
            )}
          </>
        );
      }}
    </Answer>
  );
}

const KINDS = { decision: "decision", worker: "worker", change: "change by you" } as const;

function Line({ event: { at, kind, sentence } }: { readonly event: EndpointEvent }) {
  return (
    <li>
      <Ago at={at} />
      <p>
        <HostileText text={sentence} /> <span className="dim">{KINDS[kind]}</span>
      </p>
    </li>
  );
}
