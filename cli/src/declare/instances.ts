import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseCount, parseId } from "../parse.ts";

export function declareInstanceCommands(program: Command): void {
  serverCommand(program, "instances", "list your instances").action(async (options) =>
    (await import("../commands/instance/list.ts")).listInstances(options),
  );
  instanceCommand(program, "show", "show one instance").action(async (id, options) =>
    (await import("../commands/instance/show.ts")).showInstance(id, options),
  );
  serverCommand(program, "events", "list events of an instance, or follow those of the account")
    .argument("[id]", "id of the instance", parseId)
    .option("--limit <count>", "number of newest events of the instance", parseCount, 50)
    .option("--follow", "show what changes in the account as it happens")
    .option("--kinds <kinds>", "kinds to follow, separated by commas, such as instance,balance")
    .option("--after <id>", "begin behind this change, which --json shows as last_event_id")
    .action(async (id, options) => (await import("../commands/instance/events.ts")).showEvents(id, options));
  instanceCommand(program, "measurements", "draw what an instance used")
    .option("--hours <count>", "how many hours back", parseCount, 1)
    .action(async (id, options) =>
      (await import("../commands/instance/measurements.ts")).showMeasurements(id, options),
    );
  instanceCommand(program, "bid", "change the bid of an interruptible instance")
    .argument("[dollars]", "dollars per hour without the disk; the lowest bid that runs now when left out", parseAmount)
    .action(async (id, price, options) => (await import("../commands/instance/bid.ts")).changeBid(id, price, options));
  instanceCommand(program, "stop", "stop an instance and keep its disk").action(async (id, options) =>
    (await import("../commands/instance/change-state.ts")).stopInstance(id, options),
  );
  instanceCommand(program, "start", "start a stopped instance").action(async (id, options) =>
    (await import("../commands/instance/change-state.ts")).startInstance(id, options),
  );
  instanceCommand(program, "reboot", "stop an instance and start it at once").action(async (id, options) =>
    (await import("../commands/instance/reboot.ts")).rebootInstance(id, options),
  );
  instanceCommand(program, "destroy", "end an instance and delete its disk").action(async (id, options) =>
    (await import("../commands/instance/destroy.ts")).destroyInstance(id, options),
  );
  instanceCommand(program, "traffic-limit", "limit the cost of all traffic of an instance")
    .argument(
      "<dollars>",
      "dollars in all, past traffic included; `default` for the limit of a new instance",
      parseTrafficLimit,
    )
    .action(async (id, dollars, options) =>
      (await import("../commands/instance/traffic-limit.ts")).setTrafficLimit(id, dollars, options),
    );
  instanceCommand(program, "label", "give an instance a label")
    .argument("<text>", "the new label")
    .action(async (id, text, options) =>
      (await import("../commands/instance/label.ts")).labelInstance(id, text, options),
    );
}

/** Reads a traffic limit in dollars; `default` removes the instance's own limit. */
function parseTrafficLimit(text: string): number | null {
  return text === "default" ? null : parseAmount(text);
}

function instanceCommand(program: Command, name: string, summary: string): Command {
  return serverCommand(program, name, summary).argument("<id>", "id of the instance", parseId);
}
