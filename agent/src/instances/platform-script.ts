/**
 * Runs in place of the image's entrypoint in the shell modes; `$1` is the content of `/.launch`, `$2`
 * the onstart text, and `$3` to `$5` are token, directory and kind of the notebook server when there is to be one. It
 * needs nothing but a POSIX shell; what an image lacks beyond that it takes from the platform's toolbox.
 *
 * The onstart file is written once, so a renter's own edit of it survives a restart; it runs at every start. All else runs
 * in the background, so that the shell can answer a signal at once: SIGTERM goes on to what onstart began, and when that
 * has ended, with the shell everything in the container ends. SIGUSR1 only hands SIGTERM on.
 */
export const PLATFORM_SCRIPT = `
onstart=
# To all that onstart began, by the group of processes that it leads.
tell_onstart() {
  [ -z "$onstart" ] || kill -TERM "-$onstart" 2> /dev/null || kill -TERM "$onstart" 2> /dev/null
}
finish() {
  trap '' TERM INT HUP USR1
  tell_onstart
  if [ -n "$onstart" ]; then
    wait "$onstart" 2> /dev/null
    while kill -0 "-$onstart" 2> /dev/null; do sleep 0.1 || sleep 1; done
  fi
  exit 143
}
trap finish TERM INT HUP
trap tell_onstart USR1

if [ -x /.berth/busybox ]; then
  for tool in mkdir chmod sleep rm; do
    command -v "$tool" > /dev/null 2>&1 || eval "$tool() { /.berth/busybox $tool \\"\\$@\\"; }"
  done
fi

prepare() {
  [ -d /root ] || mkdir -p /root
  [ -e /etc ] || mkdir -p /etc
  [ -e /etc/passwd ] || printf 'root:x:0:0:root:/root:/bin/sh\\n' > /etc/passwd
  [ -e /etc/group ] || printf 'root:x:0:\\n' > /etc/group
  if [ -n "\${DATA_DIRECTORY:-}" ] && [ ! -d "$DATA_DIRECTORY" ]; then mkdir -p "$DATA_DIRECTORY"; fi
  # Of an earlier run, which had to leave.
  rm -f /run/berth/interruption.json 2> /dev/null
  if [ ! -e /.launch ]; then
    printf '%s\\n' "$1" > /.launch
    if [ -n "$2" ]; then
      printf '%s\\n' "$2" > /root/onstart.sh
      chmod 755 /root/onstart.sh
    fi
  fi
}

# Leads a group of processes of its own, where that can be had.
apart() {
  [ ! -x /.berth/busybox ] || exec /.berth/busybox setsid "$@"
  exec "$@"
}

find_jupyter() {
  for place in "" /opt/conda/bin/ /usr/local/bin/ /root/.local/bin/ /venv/main/bin/ /opt/venv/bin/ /opt/jupyter/bin/; do
    jupyter=$(command -v "$place"jupyter 2> /dev/null) && return 0
  done
  return 1
}

run_jupyter() {
  [ -z "$1" ] || export JUPYTER_TOKEN="$1"
  if [ -n "$2" ] && ! cd "$2" 2> /dev/null; then
    mkdir -p "$2" && cd "$2" || echo "jupyter: the directory $2 cannot be made; using $PWD" >&2
  fi
  kind=$3
  if ! find_jupyter; then
    echo "jupyter: this image has no Jupyter. Install jupyterlab or notebook in it; it starts by itself then." >&2
    until find_jupyter; do sleep 10; done
  fi
  while :; do
    set -- --allow-root --no-browser --ip=0.0.0.0 --port=8080 --port-retries=0
    if [ -r /etc/instance.crt ] && [ -r /etc/instance.key ]; then
      set -- "$@" --certfile=/etc/instance.crt --keyfile=/etc/instance.key
    fi
    # Terminals begin with the shell that the image has, as a login does.
    SHELL=\${SHELL:-$(command -v bash || echo /bin/sh)} "$jupyter" "$kind" "$@"
    echo "jupyter: it ended with code $?; it starts again in 5 s" >&2
    sleep 5
  done
}

prepare "$1" "$2"
if [ $# -ge 5 ]; then
  export JUPYTER_SERVER_ROOT="\${JUPYTER_SERVER_ROOT:-$PWD}"
  run_jupyter "$3" "$4" "$5" &
fi
if [ -e /root/onstart.sh ]; then
  first=
  read -r first < /root/onstart.sh
  case "$first" in
    '#!'*) apart /root/onstart.sh & ;;
    *) apart "$(command -v bash || echo /bin/sh)" /root/onstart.sh & ;;
  esac
  onstart=$!
  # A signal for this shell ends the wait, not what is waited for.
  while :; do
    wait "$onstart"
    code=$?
    kill -0 "$onstart" 2> /dev/null || break
  done
  [ $code -eq 0 ] || echo "onstart.sh ended with code $code" >&2
fi
while :; do
  sleep 86400 &
  wait $!
done
`.trim();
