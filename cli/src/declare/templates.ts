import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseId, parseJsonObject } from "../parse.ts";

export function declareTemplateCommands(program: Command): void {
  const template = program.command("template").description("settings to create instances with");
  serverCommand(template, "search", "list your templates and public ones")
    .option("--filters <json>", 'conditions, such as {"name":{"eq":"mine"}}', parseJsonObject)
    .action(async (options) => (await import("../commands/template/search.ts")).searchTemplates(options));

  templateOptions(serverCommand(template, "create", "create a template"))
    .requiredOption("--name <text>", "name of the template")
    .requiredOption("--image <image>", "container image")
    .action(async (options) => (await import("../commands/template/create.ts")).createTemplate(options));

  templateOptions(serverCommand(template, "edit", "change a template; settings that are not given stay"))
    .argument("<hash>", "its present hash")
    .option("--name <text>", "name of the template")
    .option("--image <image>", "container image")
    .action(async (hash, options) => (await import("../commands/template/edit.ts")).editTemplate(hash, options));

  serverCommand(template, "delete", "delete a template")
    .argument("<id>", "its number, not its hash", parseId)
    .action(async (id, options) => (await import("../commands/template/delete.ts")).deleteTemplate(id, options));
}

function templateOptions(command: Command): Command {
  return command
    .option("--tag <tag>", "tag of the image")
    .option("--env <flags>", "variables and ports, such as '-e NAME=value -p 8080:8080'")
    .option("--onstart <commands>", "shell commands to run at each start")
    .option("--runtype <mode>", "ssh, jupyter or args")
    .option("--args <text>", "arguments of the image's entrypoint")
    .option("--disk <gb>", "recommended size of the disk in GB", parseAmount)
    .option("--private", "hide it from other users")
    .option("--description <text>", "description of its purpose");
}
