import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { withScaling } from "./endpoints.ts";
import { parseAmount, parseId } from "../parse.ts";

export function declareDeploymentCommands(program: Command): void {
  const deployment = program.command("deployment").description("your code, run by workers that scale by themselves");
  const deploy = serverCommand(deployment, "deploy", "run a directory of code on workers, or update it")
    .argument("<dir>", "directory with the files as they lie below the root of each worker")
    .requiredOption("--image <image>", "container image; its entry point fetches and starts the code")
    .option("--name <text>", "name of the deployment; the directory's name when left out")
    .option("--tag <text>", "each tag has an endpoint of its own")
    .option("--env <options>", 'such as "-e A=b -p 8000:8000"')
    .option("--search <query>", "which offers to rent, such as 'gpu_name=RTX_4090 num_gpus=1'")
    .option("--disk <gb>", "disk of each worker in GB", parseAmount)
    .option("--ttl <seconds>", "delete the deployment after so many seconds without a client", parseAmount)
    .option("--label <text>", "label of this version");
  withScaling(deploy).action(async (directory, options) =>
    (await import("../commands/deployment/deploy.ts")).deployDirectory(directory, options),
  );
  serverCommand(deployment, "list", "show your deployments").action(async (options) =>
    (await import("../commands/deployment/list.ts")).listDeployments(options),
  );
  serverCommand(deployment, "show", "show a deployment")
    .argument("<id>", "id of the deployment", parseId)
    .action(async (id, options) => (await import("../commands/deployment/show.ts")).showDeployment(id, options));
  serverCommand(deployment, "versions", "show the versions of a deployment, newest first")
    .argument("<id>", "id of the deployment", parseId)
    .action(async (id, options) =>
      (await import("../commands/deployment/versions.ts")).listDeploymentVersions(id, options),
    );
  serverCommand(deployment, "start", "start the endpoint group of a deployment")
    .argument("<id>", "id of the deployment", parseId)
    .action(async (id, options) => (await import("../commands/deployment/state.ts")).startDeployment(id, options));
  serverCommand(deployment, "stop", "stop the endpoint group of a deployment, with its workers")
    .argument("<id>", "id of the deployment", parseId)
    .action(async (id, options) => (await import("../commands/deployment/state.ts")).stopDeployment(id, options));
  serverCommand(deployment, "delete", "delete a deployment with its code, its endpoint group and its workers")
    .argument("<id>", "id of the deployment", parseId)
    .action(async (id, options) => (await import("../commands/deployment/delete.ts")).deleteDeployment(id, options));
}
