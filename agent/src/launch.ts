import type { LaunchCommand } from "../../protocol/index.ts";

export type Launch = {
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly has_init: boolean;
};

/**
 * Runs in place of the image's entrypoint in the shell modes (`semantics.md` §6); `$1` is the content of `/.launch`,
 * `$2` the onstart text. It needs nothing but a POSIX shell. The onstart file is written once, so a renter's own edit
 * of it survives a restart; it runs at every start, in the background, so that the shell can answer a signal at once.
 */
const PLATFORM_SCRIPT = `
trap 'exit 143' TERM INT HUP
if [ ! -e /.launch ]; then
  mkdir -p /root
  printf '%s\\n' "$1" > /.launch
  if [ -n "$2" ]; then
    printf '%s\\n' "$2" > /root/onstart.sh
    chmod 755 /root/onstart.sh
  fi
fi
if [ -e /root/onstart.sh ]; then
  read -r first < /root/onstart.sh
  case "$first" in
    '#!'*) /root/onstart.sh & ;;
    *) if command -v bash > /dev/null 2>&1; then bash /root/onstart.sh & else /bin/sh /root/onstart.sh & fi ;;
  esac
  wait $!
  code=$?
  [ $code -eq 0 ] || echo "onstart.sh ended with code $code" >&2
fi
while :; do
  sleep 86400 &
  wait $!
done
`.trim();

/** How a container is launched. In entrypoint mode `/.launch` must not exist, so the image runs as its author meant. */
export function launchOf(command: LaunchCommand): Launch {
  if (command.mode === "shell") {
    const marker = command.has_jupyter ? "shell jupyter" : "shell";
    return {
      entrypoint: ["/bin/sh", "-c", PLATFORM_SCRIPT, "berth", marker, command.onstart ?? ""],
      command: [],
      has_init: true,
    };
  }
  if (command.entrypoint_shell === null) {
    // An image may bring its own init, which insists on being process 1; only the image's author can know.
    return { entrypoint: null, command: command.args, has_init: false };
  }
  const entrypoint = ["/bin/sh", "-c", command.entrypoint_shell, "onstart"];
  return { entrypoint, command: command.args, has_init: true };
}

/** The mode as clients read it behind the image in `success, running <image>/<mode>`. */
export function modeWord(command: LaunchCommand): string {
  if (command.mode === "entrypoint") return "args";
  return command.has_jupyter ? "jupyter" : "ssh";
}
