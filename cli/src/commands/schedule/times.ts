import { InvalidArgumentError } from "commander";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export type DayTime = { readonly hour: number; readonly minute: number };
export type WeekTime = DayTime & { readonly day: number };

/** Options that say when a job runs. All times are UTC. */
export type WhenOptions = {
  readonly once?: number;
  readonly hourly?: number;
  readonly daily?: DayTime;
  readonly weekly?: WeekTime;
  readonly from?: number;
  readonly until?: number;
  readonly body?: object;
  readonly instance?: number;
  /** The id of the key that the job acts with. */
  readonly actWith?: number;
};

export function parseMinute(text: string): number {
  const minute = /^\d{1,2}$/.test(text) ? Number(text) : 60;
  if (minute > 59) throw new InvalidArgumentError("It must be a minute from 0 to 59.");
  return minute;
}

/** Reads a time of the day in UTC, such as `03:00`. */
export function parseDayTime(text: string): DayTime {
  const [, hour = "", minute = ""] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hour === "" || Number(hour) > 23 || Number(minute) > 59) {
    throw new InvalidArgumentError("It must be a time of the day in UTC, such as 03:00.");
  }
  return { hour: Number(hour), minute: Number(minute) };
}

/** Reads a day of the week with a time in UTC, such as `mon 03:00`. */
export function parseDay(text: string): WeekTime {
  const [name = "", time = "", ...rest] = text.trim().split(/\s+/);
  const day = DAYS.findIndex((one) => name.length >= 3 && one.startsWith(name.toLowerCase()));
  if (day < 0 || rest.length > 0) {
    throw new InvalidArgumentError("It must be a day and a time in UTC, such as 'mon 03:00'.");
  }
  return { day, ...parseDayTime(time) };
}

/** The fields of a job that the options name. Throws when they contradict each other. */
export function fieldsOf({ once, hourly, daily, weekly, from, until, body, instance, actWith }: WhenOptions) {
  const rhythms = [
    once === undefined ? undefined : ({ frequency: "ONCE", start_time: once } as const),
    hourly === undefined ? undefined : ({ frequency: "HOURLY", min_of_the_hour: hourly } as const),
    daily && ({ frequency: "DAILY", hour_of_the_day: daily.hour, min_of_the_hour: daily.minute } as const),
    weekly &&
      ({
        frequency: "WEEKLY",
        day_of_the_week: weekly.day,
        hour_of_the_day: weekly.hour,
        min_of_the_hour: weekly.minute,
      } as const),
  ].filter((one) => one !== undefined);
  if (rhythms.length > 1)
    throw new UserError("The job has several rhythms.", "Give one of --once, --hourly, --daily and --weekly.", 2);
  if (once !== undefined && (from ?? until) !== undefined) {
    throw new UserError("A job that runs once has no span.", "Leave out --from and --until.", 2);
  }
  return {
    rhythm: rhythms[0],
    others: given({
      start_time: from,
      end_time: until,
      request_body: body && { ...body },
      instance_id: instance,
      api_key_id: actWith,
    }),
  };
}

type Times = {
  readonly frequency: string;
  readonly day_of_the_week: number | null;
  readonly hour_of_the_day: number | null;
  readonly min_of_the_hour: number | null;
};

/** The rhythm of a job in words, such as `mon 03:00`. */
export function rhythmText(job: Times): string {
  const minute = String(job.min_of_the_hour ?? 0).padStart(2, "0");
  const time = `${String(job.hour_of_the_day ?? 0).padStart(2, "0")}:${minute}`;
  switch (job.frequency) {
    case "HOURLY":
      return `hourly at :${minute}`;
    case "DAILY":
      return `daily ${time}`;
    case "WEEKLY":
      return `${DAYS[job.day_of_the_week ?? 0] ?? ""} ${time}`;
    default:
      return "once";
  }
}
