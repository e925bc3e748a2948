import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseCount, parseId } from "../parse.ts";

const QUERY = "conditions, such as 'num_gpus>=2' gpu_name=RTX_4090";

/** Search, and renting at once or from the queue. */
export function declareMarketCommands(program: Command): void {
  serverCommand(program, "search", "find offers to rent")
    .argument("[query...]", QUERY)
    .option("--interruptible", "show the bids that run now instead of on-demand prices")
    .option("--reserved", "show on-demand prices with the discount for prepaying a month")
    .option("--storage <gb>", "GB of disk that the prices include", parseAmount)
    .option("--order <fields>", "field to sort by; with - at the end the highest first", "dph_total")
    .option("--limit <count>", "number of rows", parseCount, 20)
    .option("--all", "show equal offers one by one")
    .action(async (words, options) => (await import("../commands/offer/search.ts")).search(words, options));

  serverCommand(program, "gpus", "list the GPUs on the market, with numbers and prices")
    .option("--supply", "for hosts: show how many there are, and how much of them is rented")
    .action(async (options) => (await import("../commands/offer/gpus.ts")).listGpus(options));

  atOnce(whatToRun(serverCommand(program, "rent", "rent an offer: create an instance")))
    .argument("<offer id>", "from `berth search`", parseId)
    .option("--dry-run", "show the cost and whether it would start; create nothing")
    .action(async (id, options) => (await import("../commands/instance/create.ts")).createInstance(id, options));

  atOnce(whatToRun(serverCommand(program, "launch", "search and rent the best offer at once")))
    .argument("[query...]", QUERY)
    .option(
      "--order <fields>",
      "field that makes an offer the best: its lowest value; with - at the end its highest",
      "dph_total",
    )
    .action(async (words, options) => (await import("../commands/instance/launch.ts")).launchInstance(words, options));

  declareQueue(program);
}

function declareQueue(program: Command): void {
  const queue = program.command("queue").description("wait in the queue for an offer: add, list, show, cancel");
  whatToRun(serverCommand(queue, "add", "rent as soon as an offer matches"))
    .argument("[query...]", QUERY)
    .option("--max-price <dollars>", "highest price in dollars per hour, disk included", parseAmount)
    .option("--hours <count>", "hours to wait; 24 when left out, 720 at most", parseAmount)
    .action(async (words, options) => (await import("../commands/queue/add.ts")).addToQueue(words, options));
  serverCommand(queue, "list", "list your requests and their outcomes").action(async (options) =>
    (await import("../commands/queue/list.ts")).listRequests(options),
  );
  serverCommand(queue, "show", "show one request, its place in the queue, and matching offers")
    .argument("<id>", "id of the request", parseId)
    .action(async (id, options) => (await import("../commands/queue/show.ts")).showRequest(id, options));
  serverCommand(queue, "cancel", "cancel a request")
    .argument("<id>", "id of the request", parseId)
    .action(async (id, options) => (await import("../commands/queue/cancel.ts")).cancelRequest(id, options));
}

function whatToRun(command: Command): Command {
  return command
    .option("--image <image>", "container image")
    .option("--template <hash>", "hash of a template to begin with")
    .option("--env <flags>", "variables and ports, such as '-e NAME=value -p 8080:8080'")
    .option("--args <text>", "arguments of the image's entrypoint")
    .option("--disk <gb>", "size of its disk in GB", parseAmount)
    .option("--price <dollars>", "bid in dollars per hour; makes the rental interruptible", parseAmount)
    .option("--traffic-limit <dollars>", "limit in dollars on the cost of all its traffic", parseAmount)
    .option("--label <text>", "label of the instance")
    .option("--runtype <mode>", "ssh, jupyter or args; ssh_direct and jupyter_direct map ports of the host as well")
    .option("--onstart <commands>", "shell commands to run at each start");
}

/** Adds options that only rentals at once have; a standing request cannot use them. */
function atOnce(command: Command): Command {
  return command
    .option("--max-price <dollars>", "refuse a higher price in dollars per hour, disk included", parseAmount)
    .option("--stopped", "create it without starting it")
    .option("--cancel-unavailable", "refuse instead of creating an instance that has to wait");
}
