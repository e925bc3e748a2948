import "@xterm/xterm/css/xterm.css";
import { Button } from "@mantine/core";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./instances.module.css";

/** Lines that can be scrolled back to. */
const SCROLLBACK = 5_000;

/** A terminal over a WebSocket to the same shell as SSH; it ends with the page. */
export function TerminalScreen({ id }: { readonly id: number }) {
  const place = useRef<HTMLDivElement>(null);
  const [round, setRound] = useState(0);
  const [ending, setEnding] = useState<string | undefined>();
  useEffect(() => {
    if (place.current === null) return undefined;
    return openTerminal(place.current, id, setEnding);
  }, [id, round]);
  return (
    <>
      <div ref={place} className={classes["terminal"]} data-ended={ending !== undefined} />
      <p className="dim">Escape and then Tab leaves the terminal.</p>
      {ending !== undefined && (
        <div className={classes["undo"]} role="status">
          <HostileText text={ending === "" ? "The terminal was closed." : ending} />
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => {
              setEnding(undefined);
              setRound(round + 1);
            }}
          >
            Open another
          </Button>
        </div>
      )}
    </>
  );
}

/** Opens a terminal in this place, and returns what closes it. */
function openTerminal(place: HTMLElement, id: number, onEnd: (reason: string) => void): () => void {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: 13,
    scrollback: SCROLLBACK,
    screenReaderMode: true,
    theme: { background: "#0e1212", foreground: "#dfe5e5", cursor: "#39c3ae" },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withNonce(() => terminal.open(place));
  fit.fit();
  const socket = new WebSocket(addressOf(id, terminal));
  socket.binaryType = "arraybuffer";
  const encoder = new TextEncoder();
  socket.addEventListener("open", () => terminal.focus());
  socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) terminal.write(new Uint8Array(data));
  });
  socket.addEventListener("close", ({ reason }) => onEnd(reason));
  terminal.attachCustomKeyEventHandler(leaveByEscape());
  const send = (data: string | Uint8Array<ArrayBuffer>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
  };
  terminal.onData((text) => send(encoder.encode(text)));
  terminal.onBinary((text) => send(Uint8Array.from(text, (character) => character.codePointAt(0) ?? 0)));
  terminal.onResize(({ cols, rows }) => send(JSON.stringify({ type: "resize", cols, rows })));
  const watcher = new ResizeObserver(() => fit.fit());
  watcher.observe(place);
  return () => {
    watcher.disconnect();
    socket.close();
    terminal.dispose();
  };
}

/** Tab belongs to the shell; right after Escape it moves the focus on, so that the keyboard alone can leave. */
function leaveByEscape(): (event: KeyboardEvent) => boolean {
  let isLeaving = false;
  return ({ type, key }) => {
    if (type !== "keydown" || key === "Shift") return true;
    const leaves = isLeaving && key === "Tab";
    isLeaving = key === "Escape";
    return !leaves;
  };
}

function addressOf(id: number, { cols, rows }: Terminal): string {
  const { protocol, host } = globalThis.location;
  const scheme = protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${host}/api/v0/instances/${id}/terminal/?cols=${cols}&rows=${rows}`;
}

/** Runs `work`; style elements that it makes carry the nonce without which the page's policy refuses them. */
function withNonce(work: () => void): void {
  const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
  const plain = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const element = plain(name, options);
    if (name === "style") element.nonce = nonce;
    return element;
  };
  try {
    work();
  } finally {
    document.createElement = plain;
  }
}
