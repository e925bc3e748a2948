// Times of a scheduled job in words. All are UTC, as the server keeps them.

type Times = {
  readonly frequency: string;
  readonly start_time: number;
  readonly day_of_the_week: number | null;
  readonly hour_of_the_day: number | null;
  readonly min_of_the_hour: number | null;
};

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** `daily at 03:00 UTC`, `Fridays at 20:00 UTC`, `each hour at minute 5`, `once`. */
export function scheduleText(job: Times): string {
  const minute = two(job.min_of_the_hour ?? 0);
  const time = `${two(job.hour_of_the_day ?? 0)}:${minute} UTC`;
  if (job.frequency === "HOURLY") return `each hour at minute ${Number(minute)}`;
  if (job.frequency === "DAILY") return `daily at ${time}`;
  if (job.frequency === "WEEKLY") return `${DAYS[job.day_of_the_week ?? 0] ?? ""}s at ${time}`;
  return "once";
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
