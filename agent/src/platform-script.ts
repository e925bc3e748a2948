/**
 * Runs in place of the image's entrypoint in the shell modes (`semantics.md` §6); `$1` is the content of `/.launch`, `$2`
 * the onstart text, and `$3` to `$5` are token, directory and kind of the notebook server when there is to be one. It
 * needs nothing but a POSIX shell; what an image lacks beyond that it takes from the platform's toolbox.
 *
 * The onstart file is written once, so a renter's own edit of it survives a restart; it runs at every start. All else runs
 * in the background, so that the shell can answer a signal at once: with it everything in the container ends.
 */
export const PLATFORM_SCRIPT = `
trap 'exit 143' TERM INT HUP

if [ -x /.berth/busybox ]; then
  for tool in mkdir chmod sleep; do
    command -v "$tool" > /dev/null 2>&1 || eval "$tool() { /.berth/busybox $tool \\"\\$@\\"; }"
  done
fi

prepare() {
  [ -d /root ] || mkdir -p /root
  [ -e /etc ] || mkdir -p /etc
  [ -e /etc/passwd ] || printf 'root:x:0:0:root:/root:/bin/sh\\n' > /etc/passwd
  [ -e /etc/group ] || printf 'root:x:0:\\n' > /etc/group
  if [ -n "\${DATA_DIRECTORY:-}" ] && [ ! -d "$DATA_DIRECTORY" ]; then mkdir -p "$DATA_DIRECTORY"; fi
  if [ ! -e /.launch ]; then
    printf '%s\\n' "$1" > /.launch
    if [ -n "$2" ]; then
      printf '%s\\n' "$2" > /root/onstart.sh
      chmod 755 /root/onstart.sh
    fi
  fi
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
