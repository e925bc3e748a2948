import type { ServerChannel, Session } from "ssh2";
import { signalProgram } from "./hang-up.ts";
import { sessionArgv, type SessionProgram } from "./login-script.ts";
import { runProgram, type ProgramPlace } from "./program.ts";
import type { WindowSize } from "./docker-exec.ts";
import { attempt, deliver, follow } from "./transport.ts";

export type SessionPlace = ProgramPlace & {
  readonly instanceId: number;
  /** True for the user of copies, who gets rsync's daemon and nothing else. */
  readonly isForCopies: boolean;
  /** `SSH_CONNECTION` as programs inside see it: both ends' address and port. */
  readonly sshConnection: readonly [string, number, string, number];
  /** Lets the connection know of a channel that it opens. */
  keep(channel: ServerChannel): ServerChannel;
};

const MAX_VARIABLES = 32;
const MAX_VALUE_LENGTH = 256;
const MAX_WINDOW_SIDE = 10_000;
/** Signals not yet delivered; more are dropped. */
const MAX_SIGNALS_WAITING = 16;
/** The command that rsync's client sends for a path such as `host::7/data`. */
const RSYNC_DAEMON = /^(?:\S*\/)?rsync --server --daemon \.$/;
const RESIZE_ATTEMPTS = 20;
const RESIZE_WAIT_MS = 50;
const SIGNALS: ReadonlyMap<string, NodeJS.Signals> = new Map(
  (
    [
      ...["SIGABRT", "SIGALRM", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSEGV"],
      ...["SIGTERM", "SIGUSR1", "SIGUSR2"],
    ] as const
  ).map((name) => [name.slice("SIG".length), name]),
);

/** Answers the requests of one session channel, of which one at last starts its program. */
export function serveSession(place: SessionPlace, session: Session, onEnd: () => void): void {
  const ended = follow(place.transport.gone);
  const variables = new Map<string, string>();
  let terminal: { readonly term: string; size: WindowSize } | undefined;
  let execId: string | undefined;

  session.once("close", () => ended.abort());
  ended.signal.addEventListener(
    "abort",
    () => {
      ended.release();
      onEnd();
    },
    { once: true },
  );
  serveVariables(session, variables);
  session.on("pty", (accept, _reject, info) => {
    terminal = { term: /^[\w.+-]{1,64}$/.test(info.term) ? info.term : "xterm", size: sizeOf(info) };
    accept?.();
  });
  const resize = latestOnly(() => applySize(place, execId, terminal?.size, ended.signal));
  session.on("window-change", (accept, _reject, info) => {
    if (terminal !== undefined) {
      terminal.size = sizeOf(info);
      if (execId !== undefined) resize();
    }
    accept?.();
  });
  serveSignals(place, session, () => execId);

  const run = async (opened: ServerChannel, program: SessionProgram) => {
    const channel = place.keep(opened);
    // The library reports a failed write by this event alone.
    channel.on("error", () => undefined);
    channel.stderr.on("error", () => undefined);
    const hasTty = terminal !== undefined && program.kind !== "sftp";
    const first = terminal?.size;
    const argv = sessionArgv(program, hasTty ? first : undefined);
    const env = [...environment(place, hasTty ? terminal?.term : undefined), ...[...variables].map(joined)];
    const code = await runProgram(
      place,
      channel,
      { argv, env, hasTty },
      {
        over: ended.signal,
        onStart: (id) => {
          execId = id;
          if (terminal !== undefined && terminal.size !== first) resize();
        },
        onFailure: (reason) => tell(place, channel, reason, ended.signal),
      },
    );
    if (code === undefined || ended.signal.aborted) return;
    attempt(() => {
      channel.exit(code);
      channel.end();
    });
  };
  if (place.isForCopies) serveCopies(place, session, run, ended.signal);
  else servePrograms(session, run);
}

type Run = (opened: ServerChannel, program: SessionProgram) => Promise<void>;

function servePrograms(session: Session, run: Run): void {
  session.once("shell", (accept) => void run(accept(), { kind: "login" }));
  session.once("exec", (accept, _reject, { command }) => void run(accept(), { kind: "command", command }));
  session.on("subsystem", (accept, reject, { name }) => {
    if (name !== "sftp") return reject?.();
    void run(accept(), { kind: "sftp" });
  });
}

/** Starts rsync's daemon and nothing else. A subsystem that nobody serves is refused by the library. */
function serveCopies(place: SessionPlace, session: Session, run: Run, over: AbortSignal): void {
  session.once("shell", (accept) => void refuseAll(place, accept(), over));
  session.once("exec", (accept, _reject, { command }) => {
    if (RSYNC_DAEMON.test(command)) void run(accept(), { kind: "copies", instanceId: place.instanceId });
    else void refuseAll(place, accept(), over);
  });
}

/** Ends a session of the user of copies that asks for anything else. */
async function refuseAll(place: SessionPlace, channel: ServerChannel, over: AbortSignal): Promise<void> {
  place.keep(channel).on("error", () => undefined);
  channel.stderr.on("error", () => undefined);
  await tell(place, channel, "this user is for rsync alone; log in as root", over);
  attempt(() => {
    channel.exit(1);
    channel.end();
  });
}

/** Variables of the client's language; no others, so that programs behave alike for every client. */
function serveVariables(session: Session, variables: Map<string, string>): void {
  session.on("env", (accept, reject, { key, val }) => {
    const isWanted = /^(LANG|LC_[A-Z_]{1,32})$/.test(key) && /^[\w.@:=-]*$/.test(val) && val.length <= MAX_VALUE_LENGTH;
    if (!isWanted || variables.size >= MAX_VARIABLES) return reject?.();
    variables.set(key, val);
    accept?.();
  });
}

function serveSignals(place: SessionPlace, session: Session, execIdOf: () => string | undefined): void {
  let waiting = 0;
  session.on("signal", (accept, reject, { name }) => {
    const signal = SIGNALS.get(name);
    const execId = execIdOf();
    if (signal === undefined || execId === undefined || waiting >= MAX_SIGNALS_WAITING) return reject?.();
    waiting += 1;
    void signalProgram({ ...place, execId }, signal)
      .catch(() => undefined)
      .then(() => (waiting -= 1));
    accept?.();
  });
}

function tell(place: SessionPlace, channel: ServerChannel, text: string, over: AbortSignal): Promise<boolean> {
  return deliver(place.transport, channel, { isStderr: true, data: Buffer.from(`berth: ${text}\r\n`) }, over);
}

function environment({ sshConnection }: SessionPlace, term: string | undefined): readonly string[] {
  const [address, port, , ownPort] = sshConnection;
  return [
    `SSH_CONNECTION=${sshConnection.join(" ")}`,
    `SSH_CLIENT=${address} ${port} ${ownPort}`,
    ...(term === undefined ? [] : [`TERM=${term}`]),
  ];
}

function joined([key, value]: readonly [string, string]): string {
  return `${key}=${value}`;
}

/** Terminals of no size at all exist: a client whose own output is a pipe has one. */
function sizeOf(info: { readonly rows: number; readonly cols: number }): WindowSize {
  const side = (cells: number) => Math.min(cells, MAX_WINDOW_SIDE);
  return { rows: side(info.rows), columns: side(info.cols) };
}

/** The engine takes no size for a process that it is still starting. */
async function applySize(
  { docker, clock }: SessionPlace,
  execId: string | undefined,
  size: WindowSize | undefined,
  over: AbortSignal,
): Promise<void> {
  if (execId === undefined || size === undefined) return;
  for (let attempt = 0; attempt < RESIZE_ATTEMPTS && !over.aborted; attempt += 1) {
    const isDone = await docker.resize(execId, size).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await clock.sleep(RESIZE_WAIT_MS, over);
  }
}

/** Runs calls one after the other; calls that come during one become a single further call. */
function latestOnly(work: () => Promise<void>): () => void {
  let isBusy = false;
  let isStale = false;
  return () => {
    isStale = true;
    if (isBusy) return;
    isBusy = true;
    void (async () => {
      while (isStale) {
        isStale = false;
        await work();
      }
      isBusy = false;
    })();
  };
}
