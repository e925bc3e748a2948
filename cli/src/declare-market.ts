import type { Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseCount, parseId } from "./parse.ts";

const QUERY = "conditions, such as 'num_gpus>=2' gpu_name=RTX_4090";

/** Search, and renting at once or from the queue. */
export function declareMarketCommands(program: Command): void {
  serverCommand(program, "search", "find offers to rent")
    .argument("[query...]", QUERY)
    .option("--interruptible", "what bids must reach, in place of prices on demand")
    .option("--reserved", "prices on demand with the discount for prepaying")
    .option("--storage <gb>", "size of the disk that prices count in", parseAmount)
    .option("--order <fields>", "what to sort by; with - at the end, the highest first", "dph_total")
    .option("--limit <count>", "how many to show", parseCount, 20)
    .option("--all", "each offer in a line of its own, equal ones too")
    .action(async (words, options) => (await import("./commands/offer/search.ts")).search(words, options));

  serverCommand(program, "gpus", "what the market has, by GPU, and what it costs")
    .option("--supply", "for hosts: how many there are, and how much of them is rented")
    .action(async (options) => (await import("./commands/offer/gpus.ts")).listGpus(options));

  atOnce(whatToRun(serverCommand(program, "rent", "rent an offer: create an instance")))
    .argument("<offer id>", "from `berth search`", parseId)
    .option("--dry-run", "only say what it would cost, and whether it would start")
    .action(async (id, options) => (await import("./commands/instance/create.ts")).createInstance(id, options));

  atOnce(whatToRun(serverCommand(program, "launch", "search and rent the best offer at once")))
    .argument("[query...]", QUERY)
    .option("--order <fields>", "what makes an offer the best; with - at the end, the highest", "dph_total")
    .action(async (words, options) => (await import("./commands/instance/launch.ts")).launchInstance(words, options));

  declareQueue(program);
}

function declareQueue(program: Command): void {
  const queue = program.command("queue").description("wait in line for an offer: add, list, show, cancel");
  whatToRun(serverCommand(queue, "add", "rent as soon as an offer matches"))
    .argument("[query...]", QUERY)
    .option("--max-price <dollars>", "what it may cost per hour, with its disk", parseAmount)
    .option("--hours <count>", "how long to wait; 24 when left out, 720 at most", parseAmount)
    .action(async (words, options) => (await import("./commands/queue/add.ts")).addToQueue(words, options));
  serverCommand(queue, "list", "list what you wait for, and what came of it").action(async (options) =>
    (await import("./commands/queue/list.ts")).listRequests(options),
  );
  serverCommand(queue, "show", "show one request, its place, and what there is for it")
    .argument("<id>", "id of the request", parseId)
    .action(async (id, options) => (await import("./commands/queue/show.ts")).showRequest(id, options));
  serverCommand(queue, "cancel", "wait no longer")
    .argument("<id>", "id of the request", parseId)
    .action(async (id, options) => (await import("./commands/queue/cancel.ts")).cancelRequest(id, options));
}

function whatToRun(command: Command): Command {
  return command
    .option("--image <image>", "container image")
    .option("--template <hash>", "template to begin with")
    .option("--env <flags>", "variables and ports, such as '-e NAME=value -p 8080:8080'")
    .option("--args <text>", "arguments of the image's entrypoint")
    .option("--disk <gb>", "size of its disk", parseAmount)
    .option("--price <dollars>", "bid per hour; makes the rental interruptible", parseAmount)
    .option("--traffic-limit <dollars>", "what all its traffic may cost", parseAmount)
    .option("--label <text>", "what to call it")
    .option("--runtype <mode>", "ssh, jupyter or args; ssh_direct and jupyter_direct map ports of the host as well")
    .option("--onstart <commands>", "shell commands to run at each start");
}

/** Adds options that only rentals at once have; a standing request cannot use them. */
function atOnce(command: Command): Command {
  return command
    .option("--max-price <dollars>", "refuse when it costs more per hour, with its disk", parseAmount)
    .option("--stopped", "make it, and do not start it yet")
    .option("--cancel-unavailable", "refuse rather than make an instance that has to wait");
}
