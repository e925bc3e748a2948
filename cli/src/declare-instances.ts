import type { Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseCount, parseId } from "./parse.ts";

export function declareInstanceCommands(program: Command): void {
  serverCommand(program, "instances", "list what you rent").action(async (options) =>
    (await import("./commands/instance/list.ts")).listInstances(options),
  );
  instanceCommand(program, "show", "show one instance").action(async (id, options) =>
    (await import("./commands/instance/show.ts")).showInstance(id, options),
  );
  instanceCommand(program, "events", "list what has happened to an instance, and why")
    .option("--limit <count>", "how many of the newest", parseCount, 50)
    .action(async (id, options) => (await import("./commands/instance/events.ts")).listEvents(id, options));
  instanceCommand(program, "bid", "change the bid of an interruptible instance")
    .argument("[dollars]", "per hour, without its disk; what makes it run now when left out", parseAmount)
    .action(async (id, price, options) => (await import("./commands/instance/bid.ts")).changeBid(id, price, options));
  instanceCommand(program, "stop", "stop an instance and keep its disk").action(async (id, options) =>
    (await import("./commands/instance/change-state.ts")).stopInstance(id, options),
  );
  instanceCommand(program, "start", "start a stopped instance").action(async (id, options) =>
    (await import("./commands/instance/change-state.ts")).startInstance(id, options),
  );
  instanceCommand(program, "reboot", "stop an instance and start it at once").action(async (id, options) =>
    (await import("./commands/instance/reboot.ts")).rebootInstance(id, options),
  );
  instanceCommand(program, "destroy", "end an instance and delete its disk").action(async (id, options) =>
    (await import("./commands/instance/destroy.ts")).destroyInstance(id, options),
  );
  instanceCommand(program, "traffic-limit", "set what all traffic of an instance may cost")
    .argument(
      "<dollars>",
      "in all, with what it has cost so far; default for the limit of a new instance",
      parseTrafficLimit,
    )
    .action(async (id, dollars, options) =>
      (await import("./commands/instance/traffic-limit.ts")).setTrafficLimit(id, dollars, options),
    );
  instanceCommand(program, "label", "name an instance")
    .argument("<text>", "what to call it")
    .action(async (id, text, options) =>
      (await import("./commands/instance/label.ts")).labelInstance(id, text, options),
    );
}

/** Reads a traffic limit in dollars; `default` removes the instance's own limit. */
function parseTrafficLimit(text: string): number | null {
  return text === "default" ? null : parseAmount(text);
}

function instanceCommand(program: Command, name: string, summary: string): Command {
  return serverCommand(program, name, summary).argument("<id>", "id of the instance", parseId);
}
