import type { TransferSide } from "../../../protocol/index.ts";
import type { Place, TaskAction } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type ExecOutput, type LogRequest, type Result } from "../engine/engine.ts";
import { LineTail } from "../base/line-tail.ts";
import { collectOutput } from "../engine/program.ts";
import { describeCopy } from "../images/pull-progress.ts";
import type { Dialled } from "../streams/transfer-connection.ts";
import { copyWithCloud } from "./clouds/cloud-copy.ts";
import type { CloudGate, CloudTraffic } from "./clouds/proxy.ts";
import type { CloudCopyAction } from "./clouds/settings.ts";
import { copyFiles } from "./copy.ts";
import {
  notPresent,
  siteOf,
  siteOfBackup,
  siteOfCloudCopy,
  siteOfInstance,
  type FilesContext,
  type Site,
} from "./files.ts";
import type { FileTurns } from "./file-turns.ts";
import { inBytes, inKibibytes } from "./measure.ts";
import { SANDBOX_PROBLEM } from "./sandbox.ts";
import { receiveFiles, sendBackup, sendFiles } from "./transfer.ts";
import { forgetInterrupted, takeSnapshot, type SnapshotContext } from "./snapshot.ts";

export type ActionContext = FilesContext &
  SnapshotContext & {
    readonly clock: Clock;
    readonly random: () => number;
    readonly turns: FileTurns;
    /** Resolves when a volume is there, or is not going to be; at once for an instance. */
    awaitPlace(place: Place, signal: AbortSignal): Promise<void>;
    /** Opens a connection to the other host of a transfer. */
    dialTransfer(transferId: string, side: TransferSide): Promise<Dialled>;
    agentLines(instanceId: number): readonly string[];
    readonly cloudGate: CloudGate;
    /** Counts bytes that passed for an instance beside those of its container. */
    addTraffic(instanceId: number, traffic: Readonly<CloudTraffic>): void;
  };

export type ActionInput = {
  readonly taskId: string;
  readonly signal: AbortSignal;
  readonly show: (text: string, copiedBytes?: number) => void;
  /** Called before files of an instance that does not run are opened, so that its start can end the task. */
  readonly occupies: (instanceIds: readonly number[]) => void;
};

/** The server takes messages of 4 MiB, and a byte may become six characters of JSON. */
const OUTPUT_LIMIT_BYTES = 512 * 1024;
const PROGRAMS: ReadonlySet<string> = new Set(["ls", "rm", "du"]);
/** The engine's exit codes for a program that the container does not have. */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);
const NOTHING_SIMULATED = "simulated: there was nothing to copy";
const CUT_OFF = "\n(there was more output, it is cut off)";

export async function performAction(
  context: ActionContext,
  action: TaskAction,
  input: ActionInput,
): Promise<Result<string>> {
  switch (action.type) {
    case "logs":
      return readLogs(context, action);
    case "execute":
      return execute(context, action, input);
    case "copy":
      return copy(context, action, input);
    case "send":
    case "receive":
      return transfer(context, action, input);
    case "back_up":
      return backUp(context, action, input);
    case "cloud_copy":
      return cloudCopy(context, action, input);
    case "snapshot": {
      await forgetInterrupted(context, action, input.taskId);
      const found = await context.findInstance(action.instanceId);
      if (found.kind !== "present") return notPresent(found.kind);
      return takeSnapshot(context, action, { ...input, containerId: found.container.id });
    }
  }
}

async function readLogs(
  context: ActionContext,
  action: Extract<TaskAction, { type: "logs" }>,
): Promise<Result<string>> {
  const { tailLines, filter, instanceId } = action;
  const request: LogRequest = { tailLines, filter, limitBytes: OUTPUT_LIMIT_BYTES };
  if (action.isAgentLog) {
    const lines = new LineTail(request);
    for (const line of context.agentLines(instanceId)) lines.push("agent", Buffer.from(`${line}\n`));
    return succeed(lines.text());
  }
  const found = await context.findInstance(instanceId);
  if (found.kind === "present") return context.engine.logs(found.container.id, request);
  return notPresent(found.kind);
}

async function execute(
  context: ActionContext,
  action: Extract<TaskAction, { type: "execute" }>,
  input: ActionInput,
): Promise<Result<string>> {
  const { argv } = action;
  if (!PROGRAMS.has(argv[0] ?? "")) return fail("refused", "only ls, rm and du can be run");
  if (argv.some((word) => word.includes("\0"))) return fail("refused", "an argument holds a zero character");
  const find = async () => {
    const site = await siteOfInstance(context, action.instanceId);
    return site.ok ? succeed([site.value] as const) : site;
  };
  return withSites(context, input, find, async ([site]) => {
    const ended = await runToEnd(site, argv, input.signal);
    if (!ended.ok) return ended;
    const { stdout, stderr, exitCode } = ended.value;
    if (site.stoppedInstanceId !== undefined && exitCode === SANDBOX_PROBLEM) {
      return fail("refused", `the instance's files cannot be reached: ${stderr.toString("utf8").trim()}`);
    }
    if (site.stoppedInstanceId === undefined && CANNOT_RUN.has(exitCode)) {
      return fail("refused", "the platform's own programs are missing in the instance; restart it");
    }
    const isCut = stdout.length + stderr.length >= OUTPUT_LIMIT_BYTES;
    return succeed(`${stdout.toString("utf8")}${stderr.toString("utf8")}${isCut ? CUT_OFF : ""}`);
  });
}

async function runToEnd(site: Site, argv: readonly string[], signal: AbortSignal): Promise<Result<ExecOutput>> {
  const run = async (words: readonly string[]): Promise<Result<ExecOutput>> => {
    const opened = await site.open(words);
    if (!opened.ok) return opened;
    return collectOutput(opened.value, { signal, outputLimitBytes: OUTPUT_LIMIT_BYTES });
  };
  const ended = await run(argv);
  const instead = ended.ok ? inKibibytes(argv, ended.value) : undefined;
  if (instead === undefined) return ended;
  const counted = await run(instead);
  return counted.ok ? succeed(inBytes(counted.value)) : counted;
}

async function copy(
  context: ActionContext,
  action: Extract<TaskAction, { type: "copy" }>,
  input: ActionInput,
): Promise<Result<string>> {
  const { source, destination } = action;
  if (`${source.path}${destination.path}`.includes("\0")) return fail("refused", "a path holds a zero character");
  if (action.isFresh && context.engine.kind === "simulated") return succeed(NOTHING_SIMULATED);
  for (const place of [source, destination]) await context.awaitPlace(place, input.signal);
  const find = async () => {
    const from = await siteOf(context, source, source.id !== destination.id || source.kind !== destination.kind);
    if (!from.ok) return from;
    const to = await siteOf(context, destination, false);
    return to.ok ? succeed([from.value, to.value] as const) : to;
  };
  return withSites(context, input, find, async ([from, to]) => {
    const startedMs = context.clock.monotonicMs();
    input.show("copying");
    const copied = await copyFiles({
      source: from,
      sourcePath: source.path,
      destination: to,
      destinationPath: destination.path,
      isFresh: action.isFresh === true,
      signal: input.signal,
      onProgress: (bytes) => input.show(describeCopy(bytes, context.clock.monotonicMs() - startedMs), bytes),
    });
    if (!copied.ok) return copied;
    const { copiedBytes } = copied.value;
    return succeed(copiedBytes === 0 ? "copied" : describeCopy(copiedBytes, context.clock.monotonicMs() - startedMs));
  });
}

type TransferAction = Extract<TaskAction, { readonly type: "send" | "receive" }>;

/** One half of a copy from one host to another. */
async function transfer(context: ActionContext, action: TransferAction, input: ActionInput): Promise<Result<string>> {
  const { clock, random } = context;
  const { transferId, isCompressed } = action;
  const place = action.type === "send" ? action.source : action.destination;
  if (place.path.includes("\0")) return fail("refused", "a path holds a zero character");
  if (context.engine.kind === "simulated") return succeed(NOTHING_SIMULATED);
  await context.awaitPlace(place, input.signal);
  const find = async () => {
    const site = await siteOf(context, place, action.type === "send");
    return site.ok ? succeed([site.value] as const) : site;
  };
  return withSites(context, input, find, async ([site]) => {
    let beganMs = clock.monotonicMs();
    const common = {
      ...{ clock, random, site, isCompressed, signal: input.signal },
      path: place.path,
      dial: () => context.dialTransfer(transferId, action.type),
      onWait: () => {
        beganMs = clock.monotonicMs();
        input.show("waiting for the other host");
      },
      onProgress: (bytes: number) => input.show(describeCopy(bytes, clock.monotonicMs() - beganMs), bytes),
    };
    const { isFresh } = { isFresh: false, ...action };
    const copied = await (action.type === "send" ? sendFiles(common) : receiveFiles({ ...common, isFresh }));
    return copied.ok ? succeed(describeCopy(copied.value.copiedBytes, clock.monotonicMs() - beganMs)) : copied;
  });
}

/** Sends the control plane all that is to be kept of an instance or a volume. */
async function backUp(
  context: ActionContext,
  { source, transferId }: Extract<TaskAction, { readonly type: "back_up" }>,
  input: ActionInput,
): Promise<Result<string>> {
  const { clock, random } = context;
  const { signal } = input;
  const means = {
    ...{ clock, random, signal, isCompressed: true },
    dial: () => context.dialTransfer(transferId, "send"),
    onWait: () => input.show("waiting for the server"),
    onProgress: (bytes: number) => input.show(describeSent(bytes), bytes),
  };
  await context.awaitPlace(source, signal);
  const find = async () => {
    const site = await siteOfBackup(context, source);
    return site.ok ? succeed(site.value === undefined ? [] : [site.value]) : site;
  };
  return withSites(context, input, find, async ([site]) => {
    const sent = await sendBackup({ ...means, site });
    return sent.ok ? succeed(describeSent(sent.value.copiedBytes)) : sent;
  });
}

/** Copies between a place of this host and a cloud storage. */
async function cloudCopy(context: ActionContext, action: CloudCopyAction, input: ActionInput): Promise<Result<string>> {
  const { clock, cloudGate: gate } = context;
  const { place, settings } = action;
  const { signal } = input;
  if (`${place.path}${action.cloudPath}`.includes("\0")) return fail("refused", "a path holds a zero character");
  if (settings === null) return fail("refused", "the keys of the connection came without their values");
  await context.awaitPlace(place, signal);
  const find = async () => {
    const site = await siteOfCloudCopy(context, place, action.isUpload);
    return site.ok ? succeed(site.value === undefined ? [] : [site.value]) : site;
  };
  const counted = { receivedBytes: 0, sentBytes: 0 };
  return withSites(context, input, find, async ([site]) => {
    if (site === undefined) return succeed(NOTHING_SIMULATED);
    input.show("connecting");
    return copyWithCloud({
      ...{ action: { ...action, settings }, site, gate, clock, signal },
      onProgress: ({ bytes, totalBytes }) =>
        input.show(`${inMegabytes(bytes)} of ${inMegabytes(totalBytes)} MB`, bytes),
      onTraffic: ({ receivedBytes, sentBytes }) => {
        if (place.kind === "volume") return;
        context.addTraffic(place.id, {
          receivedBytes: receivedBytes - counted.receivedBytes,
          sentBytes: sentBytes - counted.sentBytes,
        });
        Object.assign(counted, { receivedBytes, sentBytes });
      },
    });
  });
}

function inMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function describeSent(bytes: number): string {
  return `${inMegabytes(bytes)} MB of files`;
}

/** Looks at the instance again when the turn has come, since it may have been started meanwhile. */
async function withSites<S extends readonly Pick<Site, "stoppedInstanceId">[], T>(
  context: ActionContext,
  input: ActionInput,
  find: () => Promise<Result<S>>,
  work: (sites: S) => Promise<Result<T>>,
): Promise<Result<T>> {
  const first = await find();
  if (!first.ok) return first;
  const stopped = stoppedIn(first.value);
  input.occupies(stopped);
  return context.turns.take(stopped, async () => {
    if (input.signal.aborted) return fail("cancelled", "called off");
    const sites = await find();
    if (!sites.ok) return sites;
    if (stoppedIn(sites.value).some((instanceId) => !stopped.includes(instanceId))) {
      return fail("conflict", "the instance was just stopped; ask again");
    }
    return work(sites.value);
  });
}

function stoppedIn(sites: readonly Pick<Site, "stoppedInstanceId">[]): number[] {
  return [...new Set(sites.flatMap((site) => site.stoppedInstanceId ?? []))];
}
