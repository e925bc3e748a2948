import { InvalidArgumentError, Option, type Command } from "commander";
import { parseDay, parseDayTime, parseMinute } from "../commands/schedule/times.ts";
import { parseCount, parseId, parseJsonObject, parseTime } from "../parse.ts";
import { serverCommand } from "./connection.ts";

/** Requests that the server sends to itself at chosen times. */
export function declareScheduleCommands(program: Command): void {
  const schedule = program
    .command("schedule")
    .description("requests at chosen times: create, list, runs, update, delete");
  whenOptions(
    serverCommand(schedule, "create", "send a request of the API at chosen times, with the rights of your key"),
  )
    .argument("<method>", "GET, POST, PUT or DELETE", parseMethod)
    .argument("<path>", "such as /api/v0/instances/reboot/7/")
    .action(async (method, path, options) =>
      (await import("../commands/schedule/create.ts")).createJob({ method, path }, options),
    );
  serverCommand(schedule, "list", "list your scheduled jobs with their last runs").action(async (options) =>
    (await import("../commands/schedule/list.ts")).listJobs(options),
  );
  serverCommand(schedule, "runs", "list the runs of a scheduled job, the newest first")
    .argument("<id>", "id of the job", parseId)
    .option("--limit <count>", "number to show, 1000 at most", parseCount, 20)
    .action(async (id, options) => (await import("../commands/schedule/runs.ts")).listRuns(id, options));
  whenOptions(serverCommand(schedule, "update", "change a scheduled job; what is not given stays"))
    .argument("<id>", "id of the job", parseId)
    .action(async (id, options) => (await import("../commands/schedule/update.ts")).updateJob(id, options));
  serverCommand(schedule, "delete", "delete a scheduled job with its history")
    .argument("<id>", "id of the job", parseId)
    .action(async (id, options) => (await import("../commands/schedule/delete.ts")).deleteJob(id, options));
}

function whenOptions(command: Command): Command {
  return command
    .addOption(new Option("--once <time>", "run once, at a time such as 2026-01-31T12:30").argParser(parseTime))
    .addOption(new Option("--hourly <minute>", "run each hour at this minute").argParser(parseMinute))
    .addOption(new Option("--daily <time>", "run each day at a time such as 03:00").argParser(parseDayTime))
    .addOption(new Option("--weekly <day and time>", "run each week, such as 'mon 03:00'").argParser(parseDay))
    .option("--from <time>", "no run before this time; now when left out", parseTime)
    .option("--until <time>", "no run after this time; a year later when left out", parseTime)
    .option("--body <json>", "body of the request", parseJsonObject)
    .option("--instance <id>", "instance that the job is about, for the list", parseId)
    .option("--act-with <key>", "id of a key of yours that the job acts with; the calling key when left out", parseId);
}

function parseMethod(text: string): "GET" | "POST" | "PUT" | "DELETE" {
  const method = (["GET", "POST", "PUT", "DELETE"] as const).find((one) => one === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError("It must be GET, POST, PUT or DELETE.");
  return method;
}
