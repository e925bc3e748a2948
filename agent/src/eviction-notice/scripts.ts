import { TOOLBOX_PATH } from "../machine/toolbox.ts";

/** Port inside a container at which its programs read the eviction notice; closed while there is none. */
const ADDRESS_PORT = 7411;
/** Name of the scripts among the processes of a container. */
export const SCRIPT_NAME = "berth-notice";
/** Word that a checkpoint script prints once the command runs. */
export const BEGUN = "begun";
const BUSYBOX = `${TOOLBOX_PATH}/busybox`;
/** More of what a checkpoint command prints is dropped. The shell counts in blocks of 512 bytes. */
const LOG_LIMIT_BLOCKS = 2_048;

/** Beginning of all three scripts. The second folder is used when the first cannot be written, as on a full disk. */
const PLACES = `
b=${BUSYBOX}
umask 022
places='/run/berth /dev/shm/berth'
quiet() { "$@" 2> /dev/null; }
`;

/**
 * Writes the eviction notice inside: `$1` is the text, `$2` names the generation. It prints `first`, or
 * `again` when an earlier agent has written it for this generation. Run as the container's root, so an obstacle in its
 * way there is removed or makes it fail, and nothing of the host is in reach. Folders belong to root before anything is
 * written, so that no other user of the container can lead the writing elsewhere.
 */
const TELL = `${PLACES}
write() {
  if [ -L "$1" ] || { [ -e "$1" ] && [ ! -d "$1" ]; }; then $b rm -f "$1"; fi
  $b mkdir -p "$1/.address" && $b chown 0:0 "$1" "$1/.address" && $b chmod 755 "$1" "$1/.address" || return 1
  $b rm -rf "$1/.new" || return 1
  printf '%s\\n' "$text" > "$1/.new" || return 1
  [ -f "$1/interruption.json" ] || $b rm -rf "$1/interruption.json"
  $b mv -f "$1/.new" "$1/interruption.json" || return 1
  for name in interruption interruption.json; do
    $b rm -rf "$1/.address/$name"
    $b ln -s ../interruption.json "$1/.address/$name" || return 1
  done
  $b rm -rf "$1/.types"
  echo .json:application/json > "$1/.types"
}
text=$1
for place in $places; do
  quiet write "$place" && break
  place=
done
[ -n "$place" ] || { echo first; exit 1; }
if [ -d "$place/.told-$2" ]; then
  word=again
else
  word=first
  quiet $b mkdir "$place/.told-$2"
  $b rm -rf "$place/checkpoint.log" "$place/.done"
  { : > "$place/checkpoint.log" && : > "$place/.done"; } 2> /dev/null
  quiet $b chmod 666 "$place/checkpoint.log" "$place/.done"
fi
# Where one answers already, this one ends at once.
$b setsid $b httpd -f -p 127.0.0.1:${ADDRESS_PORT} -h "$place/.address" -c "$place/.types" < /dev/null > /dev/null 2>&1 &
echo $word
`;

/** Removes the notice's files and ends its address; the output of the renter's checkpoint command stays. */
const HUSH = `${PLACES}
$b ps -o pid,args | while read -r pid args; do
  case "$args" in "$b httpd -f -p 127.0.0.1:${ADDRESS_PORT} "*) quiet kill "$pid" ;; esac
done
for place in $places; do
  quiet $b rm -rf "$place/interruption.json" "$place/.address" "$place/.types" "$place/.done" "$place"/.told-*
done
`;

/**
 * The renter's own command, `$1`, as the container's own user. It is over when it has ended and nobody holds its output
 * any more, so what it leaves in the background is waited for as well.
 */
const CHECKPOINT = `
b=${BUSYBOX}
set -o pipefail
place=/run/berth
[ -w $place/checkpoint.log ] || place=/dev/shm/berth
log=$place/checkpoint.log
[ -w $log ] || log=/dev/null
{
  $b sh -c "$1" < /dev/null 2>&1 3>&- | {
    echo ${BEGUN} >&3
    exec 3>&-
    (ulimit -f ${LOG_LIMIT_BLOCKS}; exec $b cat > $log) 2> /dev/null
    $b cat > /dev/null
  }
} 3>&1
code=$?
[ ! -w $place/.done ] || echo $code > $place/.done
exit $code
`;

/** Waits for a checkpoint command that an earlier agent has begun, and ends with 1 when there is none to wait for. */
const WAIT = `${PLACES}
for place in $places; do [ ! -f "$place/.done" ] || break; done
[ -f "$place/.done" ] || exit 1
until [ -s "$place/.done" ]; do $b sleep 0.2; done
`;

const run = (script: string, ...args: readonly string[]): readonly string[] => [
  BUSYBOX,
  "sh",
  "-c",
  script.trim(),
  SCRIPT_NAME,
  ...args,
];

export const tellScript = (text: string, generation: number) => run(TELL, text, String(generation));
export const hushScript = () => run(HUSH);
export const checkpointScript = (command: string) => run(CHECKPOINT, command);
export const waitScript = () => run(WAIT);
