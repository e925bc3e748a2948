import type { Command } from "commander";

/** `berth billing …`, to which several files add their commands; made by whoever comes first. */
export function billingGroup(program: Command): Command {
  return groupOf(program, "billing", "what you pay: charges, invoices, cards and automatic payments");
}

/** A group of commands that is there already, or is made with this description. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(description);
}
