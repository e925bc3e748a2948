// A schedule while a person writes it: its fields as texts, and the body of the request that they make.
import type { ScheduleCreateRequest, ScheduledJob } from "../../../sdk/src/index.ts";

export type Deed = "stop" | "start" | "reboot" | "bid" | "destroy" | "request";
export type Frequency = ScheduleCreateRequest["frequency"];

export type Draft = {
  /** The deed at each time; `request` is any request of the API. */
  readonly deed: Deed;
  readonly instance: number | undefined;
  readonly price: number | undefined;
  readonly method: ScheduleCreateRequest["request_method"];
  readonly path: string;
  readonly json: string;
  readonly frequency: Frequency;
  /** Day of the week, where 0 is Sunday. */
  readonly day: number;
  /** `03:00` in UTC; of an hourly job only the minute counts. */
  readonly time: string;
  /** `2026-12-24T18:00` in UTC, for a job that runs once. */
  readonly once: string;
  /** `2026-12-24`, the last day in UTC; empty for a year. */
  readonly until: string;
  /** The API key that it acts with; undefined for this sign-in. */
  readonly keyId: number | undefined;
};

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
const FREQUENCIES = ["HOURLY", "DAILY", "WEEKLY", "ONCE"] as const;

export function newDraft(instance: number | undefined): Draft {
  return {
    ...{ deed: "stop", instance, price: undefined, method: "PUT", path: "", json: "{}" },
    ...{ frequency: "DAILY", day: 1, time: "03:00", once: "", until: "", keyId: undefined },
  };
}

/** The draft that changes a job. A request whose body is hidden from this sign-in is to be said again. */
export function draftOf(job: ScheduledJob): Draft {
  const { request_body: body, api_endpoint: path, instance_id: named } = job;
  const method = METHODS.find((one) => one === job.request_method) ?? "PUT";
  const instance = instanceIn(path) ?? named ?? undefined;
  const two = (number: number | null) => String(number ?? 0).padStart(2, "0");
  const frequency = FREQUENCIES.find((one) => one === job.frequency) ?? "DAILY";
  const price = body?.["price"];
  return {
    deed: deedOf({ method, path, body }),
    instance,
    price: typeof price === "number" ? price : undefined,
    method,
    path,
    json: body === undefined ? "" : JSON.stringify(body),
    frequency,
    day: job.day_of_the_week ?? 1,
    time: `${two(job.hour_of_the_day)}:${two(job.min_of_the_hour)}`,
    once: frequency === "ONCE" ? new Date(job.start_time * 1000).toISOString().slice(0, 16) : "",
    until: frequency === "ONCE" ? "" : new Date(job.end_time * 1000).toISOString().slice(0, 10),
    keyId: job.api_key_id,
  };
}

const INSTANCE_PATH = /^\/api\/v0\/instances\/(?:reboot\/|bid_price\/)?(\d+)\/$/;

function instanceIn(path: string): number | undefined {
  const id = INSTANCE_PATH.exec(path)?.[1];
  return id === undefined ? undefined : Number(id);
}

type Request = Pick<Draft, "method" | "path"> & { readonly body: ScheduledJob["request_body"] };

/** The deed that sends this request; a hidden body leaves open whether it stops or starts. */
function deedOf({ method, path, body }: Request): Deed {
  if (instanceIn(path) === undefined) return "request";
  if (path.includes("/reboot/")) return method === "PUT" ? "reboot" : "request";
  if (path.includes("/bid_price/")) return method === "PUT" ? "bid" : "request";
  if (method === "DELETE") return "destroy";
  if (method !== "PUT" || body === undefined || Object.keys(body).length !== 1) return "request";
  return body["state"] === "stopped" ? "stop" : body["state"] === "running" ? "start" : "request";
}

type Made = { readonly body: ScheduleCreateRequest } | { readonly problem: string };

/** The body of the request that makes the job, or what is missing in a sentence. */
export function bodyOf(draft: Draft): Made {
  const request = requestOf(draft);
  if ("problem" in request) return request;
  const times = timesOf(draft);
  if ("problem" in times) return times;
  const { instance, keyId, frequency, until } = draft;
  return {
    body: {
      ...request,
      ...times,
      ...(frequency === "ONCE" || until === "" ? {} : { end_time: Date.parse(`${until}T23:59:59Z`) / 1000 }),
      ...(instance === undefined ? {} : { instance_id: instance }),
      ...(keyId === undefined ? {} : { api_key_id: keyId }),
    },
  };
}

type RequestFields = Pick<ScheduleCreateRequest, "api_endpoint" | "request_method" | "request_body">;

function requestOf({ deed, instance, price, method, path, json }: Draft): RequestFields | { readonly problem: string } {
  if (deed === "request") {
    const body = objectIn(json);
    if (path.trim() === "") return { problem: "Say the path of the request." };
    if (body === undefined) return { problem: "The body must be a JSON object, such as {}." };
    return { api_endpoint: path.trim(), request_method: method, request_body: body };
  }
  if (instance === undefined) return { problem: "Choose an instance." };
  const own = `/api/v0/instances/${instance}/`;
  switch (deed) {
    case "stop":
      return { api_endpoint: own, request_method: "PUT", request_body: { state: "stopped" } };
    case "start":
      return { api_endpoint: own, request_method: "PUT", request_body: { state: "running" } };
    case "destroy":
      return { api_endpoint: own, request_method: "DELETE", request_body: {} };
    case "reboot":
      return { api_endpoint: `/api/v0/instances/reboot/${instance}/`, request_method: "PUT", request_body: {} };
    case "bid":
      if (price === undefined) return { problem: "Say the bid in dollars an hour." };
      return {
        api_endpoint: `/api/v0/instances/bid_price/${instance}/`,
        request_method: "PUT",
        request_body: { client_id: "me", price },
      };
  }
}

function objectIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const read: unknown = JSON.parse(json);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}

type TimeFields = Pick<
  ScheduleCreateRequest,
  "frequency" | "day_of_the_week" | "hour_of_the_day" | "min_of_the_hour" | "start_time"
>;

function timesOf({ frequency, day, time, once }: Draft): TimeFields | { readonly problem: string } {
  if (frequency === "ONCE") {
    const at = Date.parse(`${once}Z`);
    return Number.isNaN(at) ? { problem: "Say when it runs." } : { frequency, start_time: at / 1000 };
  }
  const [, hour, minute] = /^(\d\d):(\d\d)/.exec(time) ?? [];
  if (hour === undefined || minute === undefined) return { problem: "Say the time of the day." };
  const min = { min_of_the_hour: Number(minute) };
  if (frequency === "HOURLY") return { frequency, ...min };
  const daily = { hour_of_the_day: Number(hour), ...min };
  return frequency === "DAILY" ? { frequency, ...daily } : { frequency, day_of_the_week: day, ...daily };
}

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Arguments of `./berth schedule` behind the verb; the times in UTC. */
export function commandOf({ deed: _, ...draft }: Draft, body: ScheduleCreateRequest): readonly string[] {
  const { frequency, time, day, once, until, instance, keyId } = draft;
  const when = {
    HOURLY: ["--hourly", String(Number(time.slice(3, 5)))],
    DAILY: ["--daily", time],
    WEEKLY: ["--weekly", `${DAYS[day] ?? "mon"} ${time}`],
    ONCE: ["--once", `${once}Z`],
  }[frequency];
  return [
    ...when,
    ...(frequency === "ONCE" || until === "" ? [] : ["--until", `${until}T23:59:59Z`]),
    ...["--body", JSON.stringify(body.request_body ?? {})],
    ...(instance === undefined ? [] : ["--instance", String(instance)]),
    ...(keyId === undefined ? [] : ["--act-with", String(keyId)]),
  ];
}
