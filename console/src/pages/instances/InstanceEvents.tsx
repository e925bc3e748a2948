import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { instanceEvents } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id");
const EVENTS_MAX = 200;

/** The story of an instance, newest first: each change with its cause. */
export function InstanceEvents() {
  const { id } = route.useParams();
  const events = useQuery(ask("instance.events", instanceEvents, { id: Number(id), query: { limit: EVENTS_MAX } }));
  return (
    <Section title="Events">
      <Answer query={events}>
        {({ events: list }) =>
          list.length === 0 ? (
            <EmptyState title="Nothing has happened yet">
              Each change of its state stands here, with its cause.
            </EmptyState>
          ) : (
            <ol className={classes["story"]}>
              {list.map((event) => (
                <li key={`${event.at} ${event.cause} ${event.to}`}>
                  <Ago at={event.at} />
                  <div>
                    <p>
                      <HostileText text={event.message} />
                    </p>
                    <p className="dim">
                      <HostileText
                        text={`${event.from === null ? event.to : `${event.from} → ${event.to}`} · ${event.cause} · by ${event.actor}`}
                      />
                    </p>
                  </div>
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
    </Section>
  );
}
