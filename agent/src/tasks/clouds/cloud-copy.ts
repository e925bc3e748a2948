import type { Clock } from "../../base/clock.ts";
import { fail, succeed, type Result } from "../../engine/engine.ts";
import { TOOLBOX_PATH } from "../../machine/toolbox.ts";
import { openNamespace } from "../../ssh/namespace.ts";
import { pathIn, type CloudSite } from "../files.ts";
import type { LoopbackProgram } from "../sandbox.ts";
import { CloudLog, type CloudProgress } from "./progress.ts";
import { createCloudProxy, type CloudGate, type CloudProxy, type CloudTraffic } from "./proxy.ts";
import { environmentOf, hideKeys, REMOTE, type CloudCopyAction, type CloudSettings } from "./settings.ts";

export type CloudCopyInput = {
  readonly action: CloudCopyAction & { readonly settings: CloudSettings };
  readonly site: CloudSite;
  readonly gate: CloudGate;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CloudProgress) => void;
  readonly onTraffic: (traffic: Readonly<CloudTraffic>) => void;
};

const READY = "ready\n";

/**
 * Waits for its variables, which end with an empty line. Its first argument is the path of the source where that is here:
 * rclone would wait for the other end of a pipe, or for a device, without end.
 */
const SCRIPT = `
if [ "$1" != "" ] && [ ! -f "$1" ] && [ ! -d "$1" ]; then
  echo "there is no file and no folder at $1" >&2
  exit 1
fi
shift
echo ready
while IFS= read -r line && [ -n "$line" ]; do export "$line"; done
exec ${TOOLBOX_PATH}/bin/rclone "$@"`;

const OPTIONS = [
  "copy",
  // No file of configuration is read or written.
  "--config=",
  "--use-json-log",
  "--log-level=NOTICE",
  "--stats=1s",
  "--stats-log-level=NOTICE",
  "--transfers=4",
  "--checkers=4",
  "--buffer-size=4M",
  "--retries=2",
  "--low-level-retries=5",
  "--contimeout=30s",
] as const;

/** Runs rclone between files of this host and a storage; the result says what it has copied. */
export async function copyWithCloud(input: CloudCopyInput): Promise<Result<string>> {
  const { action, site, signal } = input;
  const here = pathIn(site, action.place.path);
  const there = `${REMOTE}:${action.cloudPath}`;
  const [from, to] = action.isUpload ? [here, there] : [there, here];
  const opened = await site.open([
    "sh",
    "-c",
    SCRIPT,
    "berth-cloud",
    action.isUpload ? here : "",
    ...OPTIONS,
    ...action.flags,
    "--",
    from,
    to,
  ]);
  if (!opened.ok) return opened;
  const { program } = opened.value;
  const kill = () => program.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const proxy = createCloudProxy(input.gate, kill);
  const namespace = { close: () => undefined as void };
  try {
    const log = new CloudLog((progress) => {
      input.onProgress(progress);
      input.onTraffic(proxy.traffic);
    });
    program.stderr.on("data", (data: Buffer) => log.push(data.toString("utf8")));
    const port = await serve(opened.value, proxy, { clock: input.clock, namespace });
    if (port !== undefined) program.stdin.end(`${environmentOf(action.settings, port).join("\n")}\n\n`);
    else kill();
    const ended = await program.ended;
    if (signal.aborted) return fail("cancelled", "the copy was called off");
    if (!ended.ok) return ended;
    return conclude(input, { exitCode: ended.value, log, refusal: proxy.refusal });
  } finally {
    signal.removeEventListener("abort", kill);
    input.onTraffic(proxy.traffic);
    proxy.close();
    namespace.close();
  }
}

/** Waits until the program is in its own network, and serves the proxy on its loopback; undefined when it ended before. */
async function serve(
  { program, networkPath }: LoopbackProgram,
  proxy: CloudProxy,
  means: { readonly clock: Clock; readonly namespace: { close: () => void } },
): Promise<number | undefined> {
  const isReady = await new Promise<boolean>((resolve) => {
    let said = "";
    program.stdout.on("data", (data: Buffer) => {
      said += data.toString("utf8");
      if (said.startsWith(READY)) resolve(true);
    });
    void program.ended.then(() => resolve(false));
  });
  if (!isReady) return undefined;
  const opened = openNamespace(networkPath, means.clock);
  means.namespace.close = () => opened.close();
  const listening = await opened.listen("127.0.0.1", 0, ({ socket }) => proxy.take(socket));
  return listening.port;
}

function conclude(
  { action }: CloudCopyInput,
  {
    exitCode,
    log,
    refusal,
  }: { readonly exitCode: number; readonly log: CloudLog; readonly refusal: string | undefined },
): Result<string> {
  const said = hideKeys(log.text, action.settings);
  const { bytes, files } = log.progress;
  const amount = `${(bytes / 1_000_000).toFixed(1)} MB in ${files} files`;
  if (exitCode === 0) {
    const done = action.flags.includes("--dry-run") ? "a dry run: nothing was copied" : `copied ${amount}`;
    return succeed(said === "" ? done : `${done}\n${said}`);
  }
  const reason = refusal ?? (said === "" ? `rclone ended with ${exitCode}` : said);
  return fail("refused", refusal === undefined || said === "" ? reason : `${reason}\n${said}`);
}
