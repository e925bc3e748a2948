import { Option, type Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseId, parseLineCount, parsePlace, parsePlaceId } from "../parse.ts";

/** Tasks of a host for an instance. */
export function declareHostTaskCommands(program: Command): void {
  instanceCommand(program, "logs", "print the last lines of an instance, or follow them")
    .option("--tail <lines>", "number of lines", parseLineCount, 1000)
    .option("--filter <text>", "only lines that contain this text")
    .option("-f, --follow", "go on with what it prints, until it stops")
    .option("--daemon", "lines of the host's agent about the instance instead")
    .action(async (id, options) => (await import("../commands/instance/logs.ts")).printLogs(id, options));

  instanceCommand(program, "execute", "run ls, rm or du in the files of an instance")
    .argument("<command>", "in quotes, such as 'ls -l /workspace'")
    .action(async (id, command, options) =>
      (await import("../commands/instance/execute.ts")).executeCommand(id, command, options),
    );

  instanceCommand(program, "recycle", "pull an instance's image and make a new container").action(async (id, options) =>
    (await import("../commands/instance/recycle.ts")).recycleInstance(id, options),
  );

  instanceCommand(program, "update-template", "give an instance other settings and a new container")
    .option("--template-id <id>", "number of a template to use", parseId)
    .option("--template <hash>", "hash of a template to use")
    .option("--image <image>", "container image")
    .option("--args <text>", "arguments of the image's entrypoint")
    .option("--env <flags>", "variables and ports to add or change, such as '-e NAME=value'")
    .option("--onstart <commands>", "shell commands to run at each start")
    .action(async (id, options) =>
      (await import("../commands/instance/update-template.ts")).updateTemplate(id, options),
    );

  instanceCommand(program, "snapshot", "make an image of an instance and push it to your registry")
    .requiredOption("--repo <repository>", "repository to push to, such as me/app or me/app:tag")
    .option("--registry <host>", "registry of the repository", "docker.io")
    .option("--login-user <name>", "user to push as")
    .addOption(new Option("--login-password <password>", "its password or token").env("BERTH_REGISTRY_PASSWORD"))
    .option("--no-pause", "do not pause the instance during the snapshot")
    .action(async (id, options) => (await import("../commands/instance/snapshot.ts")).takeSnapshot(id, options));

  serverCommand(program, "copy", "copy between instances, volumes, backups and this computer")
    .argument(
      "<source>",
      "such as local:data/, 12:/data/, V.7:/ or the backup vast.7:/upper/; a slash at the end copies the contents",
      parsePlace,
    )
    .argument("<destination>", "such as 13:/work or local:results", parsePlace)
    .option("-i, --identity <file>", "with local: the private key to log in with")
    .option("--limit <megabytes>", "with local: megabytes a second at most", parseAmount)
    .action(async (source, destination, options) =>
      (await import("../commands/instance/copy.ts")).startCopy(source, destination, options),
    );

  serverCommand(program, "cancel-copy", "end the copies to an instance or volume early")
    .argument("<destination>", "such as 13 or V.7", parsePlaceId)
    .action(async (destination, options) =>
      (await import("../commands/instance/cancel-copy.ts")).cancelCopy(destination, options),
    );
}

function instanceCommand(program: Command, name: string, summary: string): Command {
  return serverCommand(program, name, summary).argument("<id>", "id of the instance", parseId);
}
