import { spawn, type ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { fail, succeed, type Program, type Result } from "../engine/engine.ts";
import { TOOLBOX_PATH } from "../machine/toolbox.ts";

/** The root of the program. */
export type SandboxRoot =
  /** The files of a container that does not run, and folders of the host shown in them where they exist. */
  | {
      readonly kind: "layer";
      readonly layerDirectory: string;
      readonly mounts: readonly { readonly source: string; readonly target: string }[];
    }
  /** An empty root with one folder of the host, at `FOLDER_PATH`. */
  | { readonly kind: "folder"; readonly directory: string; readonly isReadOnly: boolean }
  /** The files of a container that runs, as its own mount of them shows them, and folders of the host as for `layer`. */
  | {
      readonly kind: "merged";
      readonly layerDirectory: string;
      readonly mounts: readonly { readonly source: string; readonly target: string }[];
    }
  /** Files that a container has written, and nothing of its image: at `upper` in `FOLDER_PATH`, to be read only. */
  | { readonly kind: "upper"; readonly layerDirectory: string };

export const FOLDER_PATH = "/volume";
/** Exit code of a sandbox that could not be made; stderr has the reason. */
export const SANDBOX_PROBLEM = 125;
const KILLED = 137;

/**
 * Runs busybox on files that nobody trusts. The namespaces are new: no network, no other process, and no mount but
 * those below. The first root is a folder of our own in memory, without anything of a renter, and the host's files are
 * let go of before the renter's are entered by `chroot`; so no link in them leads anywhere, and leaving the chroot
 * leads nowhere. Rights are held as ambient capabilities alone (root has none by itself, `noroot`), and those that were
 * needed for mounting are given up before busybox sees its arguments.
 *
 * `sandbox.e2e.test.ts` tries links, devices and programs of a hostile tree.
 */
const SCRIPT = `
set -eu
trap 'exit ${SANDBOX_PROBLEM}' EXIT
base=$1 tools=$2 kind=$3 place=$4 mode=$5 mounts=$6
shift 6
mount -t tmpfs -o nosuid,nodev,mode=0755,size=1m tmpfs "$base"
mkdir "$base/root" "$base/old" "$base/tools"
mount --bind "$tools" "$base/tools"
mount -o remount,bind,ro,nosuid,nodev "$base/tools"
if [ "$WITH_SYSTEM" = yes ]; then
  # Two files that programs look for before they begin. A real /proc would let them set the host's kernel.
  mkdir -p "$base/proc/sys/fs" "$base/dev"
  echo 1048576 > "$base/proc/sys/fs/pipe-max-size"
  : > "$base/dev/null"
  mount --bind /dev/null "$base/dev/null"
fi
number=0
while [ "$number" -lt "$mounts" ]; do
  mkdir "$base/mount-$number"
  mount --bind "$1" "$base/mount-$number"
  mount -o remount,bind,nosuid,nodev,noexec "$base/mount-$number"
  printf '%s' "$2" > "$base/target-$number"
  number=$((number + 1))
  shift 2
done
if [ "$kind" = layer ]; then
  # Paths relative to the engine's folder, as it does it itself: the options of a mount have room for one page.
  cd "\${place%/*}"
  id=\${place##*/}
  read -r lower < "$id/lower" || [ -n "$lower" ]
  export LIBMOUNT_FORCE_MOUNT2=always
  mount -t overlay -o "nosuid,nodev,noexec,lowerdir=$lower,upperdir=$id/diff,workdir=$id/work" overlay "$base/root"
elif [ "$kind" = merged ]; then
  mount --bind "$place/merged" "$base/root"
  mount -o "remount,bind,nosuid,nodev,noexec" "$base/root"
else
  shown=${FOLDER_PATH}
  [ "$kind" = folder ] || shown=${FOLDER_PATH}/upper
  mkdir -p "$base/root$shown"
  mount --bind "$place" "$base/root$shown"
  mount -o "remount,bind,$mode,nosuid,nodev,noexec" "$base/root$shown"
fi
cd "$base"
pivot_root . old
cd /
/tools/busybox umount -l /old
is_plain() {
  rest=\${1#/} seen=/root
  while [ -n "$rest" ]; do
    seen=$seen/\${rest%%/*}
    [ -d "$seen" ] && [ ! -L "$seen" ] || return 1
    case "$rest" in */*) rest=\${rest#*/} ;; *) rest= ;; esac
  done
}
while [ "$number" -gt 0 ]; do
  number=$((number - 1))
  read -r target < "/target-$number" || [ -n "$target" ]
  ! is_plain "$target" || /tools/busybox mount -o bind "/mount-$number" "/root$target"
done
show() {
  [ -e "/root$2" ] || [ -L "/root$2" ] || /tools/busybox mkdir "/root$2"
  is_plain "$2" || { echo "$2 is not the folder that it should be" >&2; exit; }
  /tools/busybox mount -o rbind "$1" "/root$2"
}
show /tools ${TOOLBOX_PATH}
if [ "$WITH_SYSTEM" = yes ]; then
  show /proc /proc
  show /dev /dev
fi
# A folder with millions of files shall not cost the host its memory.
ulimit -v "$MEMORY_KIB"
exec /tools/busybox chroot /root ${TOOLBOX_PATH}/busybox setpriv --nnp \\
  --ambient-caps="$DROPPED" --inh-caps="$DROPPED" ${TOOLBOX_PATH}/busybox "$@"
`.trim();

/**
 * Capabilities to read, write and own any file; those dropped later are for mounts and the overlay's own marks.
 */
const KEPT = ["chown", "dac_override", "fowner", "fsetid"] as const;
const DROPPED = ["sys_admin", "sys_chroot", "mknod", "setfcap"] as const;

export type Sandbox = {
  /** Runs busybox with the arguments, the applet first. */
  open(root: SandboxRoot, argv: readonly string[]): Promise<Result<Program>>;
  /** Runs it with a loopback as its only network: a process that enters it by `networkPath` may serve busybox there. */
  openWithLoopback(root: SandboxRoot, argv: readonly string[]): Promise<Result<LoopbackProgram>>;
};

export type LoopbackProgram = { readonly program: Program; readonly networkPath: string };

const MEMORY_KIB = 1_048_576;
/** A Go program reserves more addresses than it uses; its own limit of memory is set beside this one. */
const LOOPBACK_MEMORY_KIB = 4_194_304;

/** Needs root. `stateDir` gets one empty folder; everything is mounted where no other process sees it. */
export function createSandbox(input: { readonly stateDir: string; readonly toolboxDirectory: string }): Sandbox {
  const base = join(input.stateDir, "sandbox");
  const { toolboxDirectory } = input;
  const start = async (words: readonly string[], { withSystem }: { readonly withSystem: boolean }) => {
    try {
      await mkdir(base, { recursive: true, mode: 0o700 });
      const child = spawn("unshare", [...words], {
        env: {
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
          DROPPED: DROPPED.map((one) => `-${one}`).join(","),
          WITH_SYSTEM: withSystem ? "yes" : "no",
          MEMORY_KIB: String(withSystem ? LOOPBACK_MEMORY_KIB : MEMORY_KIB),
        },
        stdio: ["pipe", "pipe", "pipe"],
        // Leads a group of processes, so that all of it is killed at once.
        detached: true,
      });
      return succeed(child);
    } catch (cause) {
      return fail("refused", `no sandbox can be made: ${String(cause)}`);
    }
  };
  return {
    open: async (root, argv) => {
      const made = await start([...isolation([]), ...command(base, toolboxDirectory, root), ...argv], {
        withSystem: false,
      });
      return made.ok ? succeed(programOf(made.value)) : made;
    },
    openWithLoopback: async (root, argv) => {
      const up = ["sh", "-c", `"$0" ip link set lo up && exec "$@"`, join(toolboxDirectory, "busybox")];
      const words = [...isolation(up), ...command(base, toolboxDirectory, root), ...argv];
      const made = await start(words, { withSystem: true });
      if (!made.ok) return made;
      return succeed({ program: programOf(made.value), networkPath: `/proc/${made.value.pid ?? 0}/ns/net` });
    },
  };
}

/** `before` is a program that runs in the new namespaces with all rights, and starts the rest. */
function isolation(before: readonly string[]): string[] {
  const namespaces = ["--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child"];
  const rights = `-all,${[...KEPT, ...DROPPED].map((one) => `+${one}`).join(",")}`;
  const held = [`--inh-caps=${rights}`, `--ambient-caps=${rights}`, `--bounding-set=${rights}`];
  return [
    ...namespaces,
    "--propagation",
    "private",
    "--",
    ...before,
    "setpriv",
    ...held,
    "--securebits=+noroot,+noroot_locked",
  ];
}

function command(base: string, tools: string, root: SandboxRoot): string[] {
  const shell = ["--", "/bin/sh", "-c", SCRIPT, "berth-sandbox", base, tools, root.kind];
  if (root.kind === "folder") return [...shell, root.directory, root.isReadOnly ? "ro" : "rw", "0"];
  if (root.kind === "upper") return [...shell, join(root.layerDirectory, "diff"), "ro", "0"];
  const mounts = root.mounts.flatMap(({ source, target }) => [source, target]);
  return [...shell, root.layerDirectory, "rw", String(root.mounts.length), ...mounts];
}

/**
 * The whole group: one killed alone in the moment in which it makes its child leaves that behind, before the child has
 * asked to be killed with it.
 */
function killGroup(leader: ChildProcess): void {
  if (leader.pid === undefined || leader.exitCode !== null || leader.signalCode !== null) return;
  try {
    process.kill(-leader.pid, "SIGKILL");
  } catch {
    // The program ended by itself in this moment.
  }
}

/**
 * A stream of a child process, read from now on: Node throws away the output of a child that has ended before anybody
 * reads it. When the reader gives the stream up, the pipe is closed, since a child has not ended while its pipe is full.
 */
function readAtOnce(stream: Readable): Readable {
  const output = stream.pipe(new PassThrough());
  output.once("close", () => stream.destroy());
  return output;
}

/** A process of this machine with its three streams as pipes. */
function programOf(child: ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable }): Program {
  let isKilled = false;
  const [stdout, stderr] = [readAtOnce(child.stdout), readAtOnce(child.stderr)];
  // A program that no longer reads breaks its pipe; its end has the reason.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<Result<number>>((resolve) => {
    child.once("error", (cause) => resolve(fail("refused", `no sandbox can be made: ${String(cause)}`)));
    child.once("close", (code) => resolve(succeed(isKilled ? KILLED : (code ?? KILLED))));
  });
  return {
    stdin: child.stdin,
    stdout,
    stderr,
    ended,
    kill: () => {
      isKilled = true;
      killGroup(child);
      // The rest of the output is of no use, and unread it would keep the end from coming.
      stdout.resume();
      stderr.resume();
    },
  };
}
