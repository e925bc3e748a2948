import type { LaunchCommand } from "../wire/messages.ts";
import { PLATFORM_SCRIPT } from "./platform-script.ts";

export type Launch = {
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly hasInit: boolean;
};

/** How a container is launched. In entrypoint mode `/.launch` must not exist, so the image runs as its author meant. */
export function launchOf(command: LaunchCommand): Launch {
  if (command.mode === "shell") {
    const { jupyter, onstart } = command;
    const marker = jupyter === null ? "shell" : "shell jupyter";
    const notebook =
      jupyter === null ? [] : [jupyter.token, jupyter.directory ?? "", jupyter.isLab ? "lab" : "notebook"];
    return {
      entrypoint: ["/bin/sh", "-c", PLATFORM_SCRIPT, "berth", marker, onstart ?? "", ...notebook],
      command: [],
      hasInit: true,
    };
  }
  if (command.entrypointShell === null) {
    // An image may bring its own init, which insists on being process 1; only the image's author can know.
    return { entrypoint: null, command: command.args, hasInit: false };
  }
  const entrypoint = ["/bin/sh", "-c", command.entrypointShell, "onstart"];
  return { entrypoint, command: command.args, hasInit: true };
}

/** The mode as clients read it behind the image in `success, running <image>/<mode>`. */
export function modeWord(command: LaunchCommand): string {
  if (command.mode === "entrypoint") return "args";
  return command.jupyter !== null ? "jupyter" : "ssh";
}
