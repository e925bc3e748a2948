import type { Command } from "commander";
import { serverCommand } from "../connection.ts";
import { parseId } from "../../parse.ts";

/** SSH keys of the account and of single instances, and variables of all own containers. */
export function declareKeyCommands(program: Command): void {
  declareSshKeys(program);
  declareEnvVars(program);
  declareInstanceKeys(program);
}

function declareSshKeys(program: Command): void {
  const sshKey = program.command("ssh-key").description("SSH keys that open what you rent");
  serverCommand(sshKey, "create", "add a public key; it opens every instance rented from then on")
    .argument("[key]", "a .pub file or its text; the key that ssh uses when left out")
    .action(async (key, options) => (await import("../../commands/ssh-key/create.ts")).createSshKey(key, options));
  serverCommand(sshKey, "list", "list your SSH keys").action(async (options) =>
    (await import("../../commands/ssh-key/list.ts")).listSshKeys(options),
  );
  serverCommand(sshKey, "update", "replace an SSH key")
    .argument("<id>", "id of the SSH key", parseId)
    .argument("<key>", "a .pub file or its text")
    .action(async (id, key, options) =>
      (await import("../../commands/ssh-key/update.ts")).updateSshKey(id, key, options),
    );
  serverCommand(sshKey, "delete", "delete an SSH key; instances keep what they were made with")
    .argument("<id>", "id of the SSH key", parseId)
    .action(async (id, options) => (await import("../../commands/ssh-key/delete.ts")).deleteSshKey(id, options));
}

function declareEnvVars(program: Command): void {
  const envVar = program.command("env-var").description("variables of every container that you start, such as tokens");
  serverCommand(envVar, "list", "list your variables; their values are never shown").action(async (options) =>
    (await import("../../commands/env-var/list.ts")).listEnvVars(options),
  );
  serverCommand(envVar, "create", "add a variable")
    .argument("<name>", "such as HF_TOKEN")
    .argument("[value]", "read from standard input when left out")
    .action(async (name, value, options) =>
      (await import("../../commands/env-var/create.ts")).createEnvVar(name, value, options),
    );
  serverCommand(envVar, "update", "give a variable another value")
    .argument("<name>", "name of the variable")
    .argument("[value]", "read from standard input when left out")
    .action(async (name, value, options) =>
      (await import("../../commands/env-var/update.ts")).updateEnvVar(name, value, options),
    );
  serverCommand(envVar, "delete", "delete a variable")
    .argument("<name>", "name of the variable")
    .action(async (name, options) => (await import("../../commands/env-var/delete.ts")).deleteEnvVar(name, options));
}

function declareInstanceKeys(program: Command): void {
  const command = (name: string, summary: string) =>
    serverCommand(program, name, summary).argument("<id>", "id of the instance", parseId);
  command("attach-ssh", "add an SSH key to an instance, at once")
    .argument("<key>", "id of one of your keys, a .pub file, or its text")
    .action(async (id, key, options) =>
      (await import("../../commands/instance/ssh/attach-ssh.ts")).attachSshKey(id, key, options),
    );
  command("detach-ssh", "remove an SSH key from an instance, at once")
    .argument("<key id>", "from `berth show-ssh`", parseId)
    .action(async (id, keyId, options) =>
      (await import("../../commands/instance/ssh/detach-ssh.ts")).detachSshKey(id, keyId, options),
    );
  command("show-ssh", "list the SSH keys that open an instance").action(async (id, options) =>
    (await import("../../commands/instance/ssh/show-ssh.ts")).showSshKeys(id, options),
  );
}
