import { TOOLBOX_PATH } from "../machine/toolbox.ts";

const BUSYBOX = `${TOOLBOX_PATH}/busybox`;

/** The program of a session: the renter's shell, one command in it, or a program of the toolbox behind it. */
export type SessionProgram =
  | { readonly kind: "login" }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "sftp" }
  /** rsync's daemon for copies of this instance, over this channel. */
  | { readonly kind: "copies"; readonly instanceId: number };

/**
 * Prepares a session as a login does and becomes the program: home, shell and name from the image's own user table,
 * variables of /etc/environment, the size of the terminal. It runs in the toolbox's shell and asks nothing of the
 * image. `$1` is the kind, `$2` the command, `$3` and `$4` are the terminal's rows and columns.
 *
 * For copies `$2` is the settings of rsync's daemon, which reads them from a pipe: no file of the image counts, and none
 * is written.
 */
const LOGIN_SCRIPT = `
berth_kind=$1 berth_command=$2 berth_rows=$3 berth_columns=$4
berth_box=${BUSYBOX}
berth_shell= berth_home=
if [ -f /etc/passwd ]; then
  while IFS=: read -r berth_name _ _ _ _ berth_h berth_s; do
    [ "$berth_name" = root ] && berth_home=$berth_h berth_shell=$berth_s && break
  done < /etc/passwd
fi
case $berth_shell in */nologin | */false) berth_shell= ;; esac
for berth_s in "$berth_shell" /bin/bash /usr/bin/bash /usr/local/bin/bash /bin/sh /usr/bin/sh; do
  [ -n "$berth_s" ] && [ -f "$berth_s" ] && [ -x "$berth_s" ] && break
  berth_s=
done
berth_shell=$berth_s
[ -n "$berth_home" ] || berth_home=/root
export USER=root LOGNAME=root HOME="$berth_home" SHELL="\${berth_shell:-$berth_box}"
export PATH="\${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
if [ -f /etc/environment ]; then
  while IFS= read -r berth_line || [ -n "$berth_line" ]; do
    berth_line=\${berth_line#"\${berth_line%%[![:space:]]*}"}
    berth_line=\${berth_line#export }
    case $berth_line in '#'* | '='*) continue ;; *=*) ;; *) continue ;; esac
    berth_key=\${berth_line%%=*} berth_value=\${berth_line#*=}
    case $berth_key in [0-9]* | *[!A-Za-z0-9_]* | PPID) continue ;; esac
    case $berth_value in
      '"'*'"' | "'"*"'") berth_value=\${berth_value#?} berth_value=\${berth_value%?} ;;
    esac
    export "$berth_key=$berth_value"
  done < /etc/environment
fi
unset berth_name berth_h berth_s berth_line berth_key berth_value
cd "$HOME" 2> /dev/null || cd /
if [ -n "$berth_rows" ]; then
  $berth_box stty rows "$berth_rows" cols "$berth_columns" 2> /dev/null
  SSH_TTY=$($berth_box tty) && export SSH_TTY
fi
case $berth_kind in
  sftp) exec ${TOOLBOX_PATH}/bin/sftp-server ;;
  copies)
    berth_rsync=${TOOLBOX_PATH}/bin/rsync
    [ -x "$berth_rsync" ] || berth_rsync=$(command -v rsync) ||
      { echo 'berth: neither this host nor the image has rsync' >&2; exit 127; }
    exec "$berth_rsync" --server --daemon --config=/proc/self/fd/3 . 3<<END
$berth_command
END
    ;;
  command)
    export PATH="$PATH:${TOOLBOX_PATH}/bin"
    [ -n "$berth_shell" ] && exec "$berth_shell" -c "$berth_command"
    exec $berth_box sh -c "$berth_command"
    ;;
esac
if [ -n "$berth_rows" ] && [ -z "$TMUX" ] && [ ! -e "$HOME/.no_auto_tmux" ]; then
  berth_tmux=$(command -v tmux)
  case \${LC_ALL:-\${LC_CTYPE:-$LANG}} in *[Uu][Tt][Ff]*) berth_utf8=-u ;; *) berth_utf8= ;; esac
  [ -n "$berth_tmux" ] && "$berth_tmux" $berth_utf8 new-session -A -s ssh_tmux && exit 0
fi
[ -n "$berth_shell" ] || exec $berth_box sh -l
if (exec -a true $berth_box) 2> /dev/null; then exec -a "-\${berth_shell##*/}" "$berth_shell"; fi
exec "$berth_shell" -l
`.trim();

/** The first words of every session's program; no other program of a container begins with them. */
export const SESSION_ARGV_START: readonly string[] = [BUSYBOX, "sh", "-c", LOGIN_SCRIPT, "berth-ssh"];

export function sessionArgv(
  program: SessionProgram,
  window: { readonly rows: number; readonly columns: number } | undefined,
): readonly string[] {
  const command = commandOf(program);
  const size = window === undefined ? ["", ""] : [String(window.rows), String(window.columns)];
  return [...SESSION_ARGV_START, program.kind, command, ...size];
}

function commandOf(program: SessionProgram): string {
  switch (program.kind) {
    case "command":
      return program.command;
    case "copies":
      return rsyncSettings(program.instanceId);
    case "login":
    case "sftp":
      return "";
  }
}

/**
 * Two modules of one name each, as published clients write the instance: its number, and `C.` before it. Their root is
 * the container's, entered by `chroot`, since rsync would otherwise rewrite links that begin with a slash.
 */
function rsyncSettings(instanceId: number): string {
  const common = ["use chroot = yes", "uid = 0", "gid = 0", "read only = no", "munge symlinks = no"];
  const modules = [`${instanceId}`, `C.${instanceId}`].flatMap((name) => [`[${name}]`, "path = /"]);
  return [...common, "log file = /dev/null", "reverse lookup = no", ...modules].join("\n");
}

/** A connection to a name, looked up and made from inside; input and output are the connection. */
export function connectArgv(host: string, port: number): readonly string[] {
  return [BUSYBOX, "sh", "-c", `exec ${BUSYBOX} nc "$1" "$2" 2> /dev/null`, "berth-connect", host, String(port)];
}
