// The log of an instance as it is written; from a host with an older agent, asked again and again.
import { useEffect, useRef, useState } from "react";
import { ApiError, followLogs, instanceRequestLogs } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { later, sleep } from "../../clock.ts";
import { LogLines, type LogLine } from "./log-lines.ts";

export const TAIL = 1_000;
/** A host with an older agent is asked again this long after an answer. */
const POLL_MS = 3_000;
/** An older agent takes some moments to send a log: the result is looked for this often, this many times. */
const LOOK_MS = 500;
const LOOKS_MAX = 40;
/** Pieces within this time make one change of the page. */
const GATHER_MS = 150;

export type FollowedLog = {
  /** The lines so far; undefined until something is known. */
  readonly lines: readonly LogLine[] | undefined;
  readonly error: Error | null;
  /** True for a host that has to be asked again and again. */
  readonly isPolled: boolean;
};

type Wish = {
  readonly id: number;
  readonly isFollowing: boolean;
  /** Grows when the log may go on, or is to be tried again. */
  readonly round: string;
};

export function useFollowedLog({ id, isFollowing, round }: Wish): FollowedLog {
  const [state, setState] = useState<FollowedLog>({ lines: undefined, error: null, isPolled: false });
  const kept = useRef<{ lines: LogLines; place: string | undefined }>({ lines: new LogLines(), place: undefined });
  useEffect(() => {
    if (!isFollowing) return undefined;
    const abort = new AbortController();
    let stopWaiting: (() => void) | undefined;
    const show = (change: Partial<FollowedLog>) => {
      stopWaiting?.();
      stopWaiting = undefined;
      if (!abort.signal.aborted) setState((before) => ({ ...before, ...change, lines: kept.current.lines.all() }));
    };
    const showSoon = () => {
      stopWaiting ??= later(GATHER_MS, () => show({ error: null, isPolled: false }));
    };
    const follow = async () => {
      const { place } = kept.current;
      // Lines that came just before the connection of the last round was given up are kept, and not shown yet.
      if (place !== undefined) showSoon();
      const resumed = place === undefined ? {} : { lastEventId: place };
      for await (const event of followLogs(client, id, { tail: TAIL, signal: abort.signal, ...resumed })) {
        if (event.event === "gap") kept.current.lines.addNote(event.reason);
        else {
          kept.current.lines.add(event.stream, event.text);
          kept.current.place = event.lastEventId;
        }
        showSoon();
      }
      show({ error: null, isPolled: false });
    };
    const poll = async () => {
      while (!abort.signal.aborted) {
        const text = await readLog(id, abort.signal);
        kept.current.lines = new LogLines();
        kept.current.lines.add("", text);
        show({ error: null, isPolled: true });
        await sleep(POLL_MS);
      }
    };
    const isOlder = (error: unknown) => error instanceof ApiError && error.code === "cannot_follow_logs";
    void follow()
      .catch((error: unknown) => {
        if (isOlder(error)) return poll();
        throw error;
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: errorOf(error) }));
      });
    return () => {
      abort.abort();
      stopWaiting?.();
    };
  }, [id, isFollowing, round]);
  return state;
}

/** Asks the host for the newest lines, and reads them when the host has sent them. */
async function readLog(id: number, signal: AbortSignal): Promise<string> {
  const { result_url: place } = await instanceRequestLogs(client, { id, body: { tail: TAIL } }, { signal });
  const { pathname } = new URL(place, globalThis.location.origin);
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const answer = await fetch(pathname, { signal });
    if (answer.ok) return answer.text();
    await sleep(LOOK_MS);
  }
  throw new Error("the host has not sent its log yet");
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
