import { Button, Checkbox, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { memo, useLayoutEffect, useRef, useState } from "react";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import type { Piece } from "../../text/ansi.ts";
import { visibleText } from "../../text/hostile.ts";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { instanceQuery } from "./instance.ts";
import classes from "./instances.module.css";
import { LINES_MAX, type LogLine } from "./log-lines.ts";
import { TAIL, useFollowedLog } from "./use-followed-log.ts";

const route = getRouteApi("/frame/instances/$id/logs");
/** Pixels above the end at which a reader still counts as being there. */
const NEAR_END = 40;

/** The newest lines of an instance's log, which follow while the box is ticked. */
export function InstanceLogs() {
  const { id } = route.useParams();
  // The lines that are kept belong to one instance.
  return <LogsOf key={id} id={id} />;
}

function LogsOf({ id }: { readonly id: string }) {
  const instance = useQuery(instanceQuery(id)).data;
  const [isFollowing, setFollowing] = useState(true);
  const [tries, setTries] = useState(0);
  const { q: wanted = "" } = route.useSearch();
  const navigate = route.useNavigate();
  // The next run writes on in the same log.
  const round = `${instance?.actual_status ?? ""} ${tries}`;
  const { lines: all, error, isPolled } = useFollowedLog({ id: Number(id), isFollowing, round });
  const lines = all?.filter(({ text }) => text.toLowerCase().includes(wanted.toLowerCase())) ?? [];
  return (
    <Section title="Logs" actions={<Download id={id} lines={all ?? []} />}>
      <div className={classes["many"]}>
        <TextInput
          size="xs"
          aria-label="Lines that contain"
          placeholder="Lines that contain…"
          value={wanted}
          onChange={(event) => {
            const q = event.currentTarget.value;
            void navigate({ search: q === "" ? {} : { q }, replace: true });
          }}
          data-page-search
        />
        <Checkbox
          size="xs"
          label="Follow"
          checked={isFollowing}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
        <span className="dim">{all !== undefined && countText(lines.length, all.length)}</span>
        <AsCommand
          command={["logs", id, "--tail", String(TAIL), "--follow"]}
          request={{ method: "GET", path: `/api/v0/instances/${id}/logs/?tail=${TAIL}` }}
        />
      </div>
      {isPolled && <p className="dim">The host’s agent is older than following: it is asked every 3 s.</p>}
      {error !== null && <Failure error={error} onRetry={() => setTries(tries + 1)} />}
      {all === undefined && error === null && <Waiting rows={12} />}
      {all?.length === 0 && <EmptyState title="The log is empty">What its program prints stands here.</EmptyState>}
      {lines.length > 0 && <Lines lines={lines} />}
    </Section>
  );
}

function countText(shown: number, all: number): string {
  return all < LINES_MAX ? count(shown, "line") : `${count(shown, "line")} of the newest ${count(LINES_MAX, "line")}`;
}

/** The lines, with the end in sight as long as the reader has not scrolled away from it. */
function Lines({ lines }: { readonly lines: readonly LogLine[] }) {
  const place = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const shown = place.current;
    if (shown !== null && isAtEnd.current) shown.scrollTop = shown.scrollHeight;
  }, [lines]);
  return (
    <pre
      ref={place}
      className={classes["log"]}
      tabIndex={0}
      aria-label="Log"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {lines.map((line) => (
        <Line key={line.key} line={line} />
      ))}
    </pre>
  );
}

/** A finished line never changes, so that a new one costs nothing for those before it. */
const Line = memo(function Line({ line }: { readonly line: LogLine }) {
  return (
    <span className={line.isNote === true ? classes["logNote"] : undefined}>
      {line.pieces.map((piece, index) => (
        <span key={index} className={lookOf(piece)}>
          {visibleText(piece.text)}
        </span>
      ))}
      {"\n"}
    </span>
  );
});

function lookOf({ color, isBold, isDim }: Piece): string | undefined {
  const names = [color, ...(isBold ? ["bold"] : []), ...(isDim ? ["grey"] : [])].filter((name) => name !== undefined);
  return names.length === 0 ? undefined : names.map((name) => classes[`ansi-${name}`]).join(" ");
}

function Download({ id, lines }: { readonly id: string; readonly lines: readonly LogLine[] }) {
  const save = () => {
    const link = document.createElement("a");
    const text = lines.filter(({ isNote }) => isNote !== true).map(({ raw }) => `${raw}\n`);
    link.href = URL.createObjectURL(new Blob(text, { type: "text/plain" }));
    link.download = `instance-${id}.log`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Button variant="default" onClick={save} disabled={lines.length === 0}>
      Download
    </Button>
  );
}
