import type { Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseCount, parseId } from "./parse.ts";

export function declareInstanceCommands(program: Command): void {
  serverCommand(program, "search", "find offers to rent")
    .argument("[query...]", "conditions, such as 'num_gpus>=2' gpu_name=RTX_4090")
    .option("--limit <count>", "how many to show", parseCount, 20)
    .option("--order <field>", "what to sort by; with - at the end, the highest first", "dph_total")
    .option("--interruptible", "prices of interruptible rentals")
    .action(async (words, options) => (await import("./commands/offer/search.ts")).search(words, options));

  serverCommand(program, "rent", "rent an offer: create an instance")
    .argument("<offer id>", "from `berth search`", parseId)
    .option("--image <image>", "container image")
    .option("--template <hash>", "template to begin with")
    .option("--env <flags>", "variables and ports, such as '-e NAME=value -p 8080:8080'")
    .option("--disk <gb>", "size of its disk", parseAmount)
    .option("--price <dollars>", "bid per hour; makes the rental interruptible", parseAmount)
    .option("--label <text>", "what to call it")
    .option("--runtype <mode>", "ssh, jupyter or args; ssh_direct and jupyter_direct map ports of the host as well")
    .option("--onstart <commands>", "shell commands to run at each start")
    .action(async (id, options) => (await import("./commands/instance/create.ts")).createInstance(id, options));

  serverCommand(program, "instances", "list what you rent").action(async (options) =>
    (await import("./commands/instance/list.ts")).listInstances(options),
  );
  instanceCommand(program, "show", "show one instance").action(async (id, options) =>
    (await import("./commands/instance/show.ts")).showInstance(id, options),
  );
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
  instanceCommand(program, "label", "name an instance")
    .argument("<text>", "what to call it")
    .action(async (id, text, options) =>
      (await import("./commands/instance/label.ts")).labelInstance(id, text, options),
    );
}

function instanceCommand(program: Command, name: string, summary: string): Command {
  return serverCommand(program, name, summary).argument("<id>", "id of the instance", parseId);
}
