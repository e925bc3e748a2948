import { Option, type Command } from "commander";
import { clientCommand, serverCommand } from "./connection.ts";
import { parseCount, parseId, parseJsonObject, parseNumber, parsePastHours, parseSigned } from "../parse.ts";

const STATES = ["active", "suspended", "stopped"] as const;

export function declareEndpointCommands(program: Command): void {
  const endpoint = program.command("endpoint").description("endpoint groups: workers that scale by themselves");
  withParameters(serverCommand(endpoint, "create", "create an endpoint group")).action(async (options) =>
    (await import("../commands/endpoint/create.ts")).createEndpoint(options),
  );
  serverCommand(endpoint, "list", "show your endpoint groups").action(async (options) =>
    (await import("../commands/endpoint/list.ts")).listEndpoints(options),
  );
  serverCommand(endpoint, "show", "show an endpoint group, its key and its worker groups")
    .argument("<id>", "id of the endpoint group", parseId)
    .action(async (id, options) => (await import("../commands/endpoint/show.ts")).showEndpoint(id, options));
  withParameters(serverCommand(endpoint, "update", "change an endpoint group; parameters that are not given stay"))
    .argument("<id>", "id of the endpoint group", parseId)
    .addOption(
      new Option(
        "--state <state>",
        "active scales; suspended leaves its workers as they are; stopped stops them",
      ).choices(STATES),
    )
    .action(async (id, options) => (await import("../commands/endpoint/update.ts")).updateEndpoint(id, options));
  serverCommand(endpoint, "delete", "delete an endpoint group with its workers")
    .argument("<id>", "id of the endpoint group", parseId)
    .action(async (id, options) => (await import("../commands/endpoint/delete.ts")).deleteEndpoint(id, options));
  serverCommand(endpoint, "explain", "show events and decisions of an endpoint group, oldest first")
    .argument("<id>", "id of the endpoint group", parseId)
    .addOption(
      new Option("--level <level>", "detail from 0 (least) to 3 (all)").choices(["0", "1", "2", "3"]).default("1"),
    )
    .option("--last <count>", "number of newest events", parseCount, 50)
    .action(async (id, options) => (await import("../commands/endpoint/explain.ts")).explainEndpoint(id, options));
  serverCommand(endpoint, "workers", "show the workers of an endpoint group: state, load, speed and price")
    .argument("<id>", "id of the endpoint group", parseId)
    .action(async (id, options) => (await import("../commands/endpoint/workers.ts")).listEndpointWorkers(id, options));
  clientCommand(endpoint, "request", "send one request to a worker of an endpoint group, and print the answer")
    .argument("<id>", "id of the endpoint group", parseId)
    .requiredOption("--route <path>", "path at the worker, such as /v1/completions")
    .option("--cost <number>", "work of the request in units of load", parseNumber, 100)
    .requiredOption("--data <json>", "JSON payload for the worker", parseJsonObject)
    .option("--timeout <seconds>", "seconds for the whole request", parseCount, 600)
    .action(async (id, options) => (await import("../commands/endpoint/request.ts")).requestEndpoint(id, options));
  withScaling(serverCommand(endpoint, "simulate", "compare other parameters with the present ones on past traffic"))
    .argument("<id>", "id of the endpoint group", parseId)
    .addOption(new Option("--state <state>", "state to compare with").choices(STATES))
    .addOption(new Option("--hours <count>", "hours of past traffic to replay").argParser(parsePastHours).default(24))
    .addOption(new Option("--trace <file>", "CSV of seconds,cost of each request to replay instead").conflicts("hours"))
    .option("--worker <json>", 'assumed worker, such as {"perf":100}; measured ones when left out', parseJsonObject)
    .action(async (id, options) => (await import("../commands/endpoint/simulate.ts")).simulateEndpoint(id, options));
  declareWorkerGroupCommands(program);
}

function withParameters(command: Command): Command {
  return withScaling(command.option("--name <text>", "name of the endpoint group"));
}

/** Adds the options that decide the number of workers of an endpoint. */
export function withScaling(command: Command): Command {
  return command
    .option("--min-load <number>", "load in units a second to be ready for at any time", parseNumber)
    .option(
      "--min-cold-load <number>",
      "units a second that running and stopped workers can serve together",
      parseNumber,
    )
    .option("--target-util <fraction>", "share of its running workers' capacity to use", parseNumber)
    .option(
      "--cold-mult <number>",
      "capacity of all workers, stopped ones included, as a multiple of the expected load",
      parseNumber,
    )
    .option("--cold-workers <count>", "workers that are always kept, running or stopped", parseNumber)
    .option("--max-workers <count>", "largest number of workers", parseNumber)
    .option("--max-queue-time <seconds>", "seconds of work at which a worker gets no further request", parseNumber)
    .option("--target-queue-time <seconds>", "seconds within which waiting requests are to be worked off", parseNumber)
    .option(
      "--inactivity-timeout <seconds>",
      "seconds without requests after which the last worker stops; below 0: never",
      parseSigned,
    );
}

function declareWorkerGroupCommands(program: Command): void {
  const group = program.command("workergroup").description("worker groups: settings of an endpoint's workers");
  withRecipe(serverCommand(group, "create", "create a worker group for an endpoint"))
    .requiredOption("--endpoint <id>", "id of the endpoint group", parseId)
    .action(async (options) => (await import("../commands/workergroup/create.ts")).createWorkerGroup(options));
  serverCommand(group, "list", "show your worker groups").action(async (options) =>
    (await import("../commands/workergroup/list.ts")).listWorkerGroups(options),
  );
  withRecipe(
    serverCommand(
      group,
      "update",
      "change a worker group; another template or launch arguments update its workers one by one",
    ),
  )
    .argument("<id>", "id of the worker group", parseId)
    .action(async (id, options) => (await import("../commands/workergroup/update.ts")).updateWorkerGroup(id, options));
  serverCommand(group, "roll", "update workers that have an earlier template or launch arguments")
    .argument("<id>", "id of the worker group", parseId)
    .option("--cancel", "cancel the updates that are not done yet")
    .action(async (id, options) => (await import("../commands/workergroup/roll.ts")).rollWorkerGroup(id, options));
  serverCommand(group, "delete", "delete a worker group with its workers")
    .argument("<id>", "id of the worker group", parseId)
    .action(async (id, options) => (await import("../commands/workergroup/delete.ts")).deleteWorkerGroup(id, options));
}

function withRecipe(command: Command): Command {
  return command
    .option("--template <hash>", "hash of the template of its workers")
    .option("--search <query>", "which offers to rent, such as 'gpu_name=RTX_4090 num_gpus=1'")
    .option("--launch-args <text>", "options of `berth rent` for each worker, such as \"--image i --env '-e A=b'\"")
    .option("--gpu-ram <gb>", "GB of GPU memory that the model needs", parseNumber)
    .option("--test-workers <count>", "workers that are rented first, to measure performance", parseNumber)
    .option("--cold-workers <count>", "its share of the workers that are always kept", parseNumber)
    .option("--max-workers <count>", "largest number of workers of this group", parseNumber)
    .option(
      "--max-price <dollars>",
      "highest price of a worker in dollars per hour, disk included; 0 for the default",
      parseNumber,
    );
}
