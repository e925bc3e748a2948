import { epochSeconds } from "../../../base/clock.ts";
import type { EndpointEventRecord, LogsResponse } from "./schema.ts";
import type { EndpointEvent } from "./event-store.ts";

export function eventRecord(event: EndpointEvent): EndpointEventRecord {
  return {
    id: event.id,
    at: epochSeconds(event.at),
    kind: event.kind,
    level: event.level,
    sentence: event.sentence,
    ...(event.instanceId === undefined ? {} : { worker_id: event.instanceId }),
    ...(event.workerGroupId === undefined ? {} : { workergroup_id: event.workerGroupId }),
    detail: event.detail,
  };
}

/** The published streams, oldest line first; `events` are newest first. */
export function logsOf(events: readonly EndpointEvent[]): LogsResponse {
  const lines = events.toReversed().map((event) => ({ level: event.level, text: lineOf(event) }));
  const upTo = (level: number) =>
    lines
      .filter((line) => line.level <= level)
      .map((line) => line.text)
      .join("\n");
  return { info0: upTo(0), info1: upTo(1), trace: upTo(2), debug: upTo(3), logs: upTo(1) };
}

function lineOf({ at, instanceId, sentence }: EndpointEvent): string {
  const isNamed = instanceId === undefined || sentence.startsWith(`Worker ${instanceId} `);
  const worker = isNamed ? "" : ` worker ${instanceId}:`;
  return `${at.toISOString()}${worker} ${sentence.replaceAll("\n", " ")}`;
}
