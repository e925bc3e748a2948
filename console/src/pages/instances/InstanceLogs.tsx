import { Button, Checkbox, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { instanceRequestLogs, type CallOptions, type Client } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { sleep } from "../../clock.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { visibleText } from "../../text/hostile.ts";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id/logs");
const LINES = 1_000;
/** Following asks again this long after an answer. */
const FOLLOW_MS = 3_000;
/** A host takes some moments to send its log: the result is looked for this often, this many times. */
const LOOK_MS = 500;
const LOOKS_MAX = 40;

/** The newest lines of an instance's log, which follow while the box is ticked. */
export function InstanceLogs() {
  const { id } = route.useParams();
  const [isFollowing, setFollowing] = useState(true);
  const { q: wanted = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const logs = useQuery({
    ...ask("instance.logs", readLogs, { id: Number(id) }),
    refetchInterval: isFollowing ? FOLLOW_MS : false,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const lines = logs.data?.split("\n").filter((line) => line.toLowerCase().includes(wanted.toLowerCase())) ?? [];
  return (
    <Section title="Logs" actions={<Download id={id} text={logs.data ?? ""} />}>
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
        <span className="dim">{logs.data !== undefined && count(lines.length, "line")}</span>
        <AsCommand
          command={["logs", id, "--tail", String(LINES)]}
          request={{ method: "PUT", path: `/api/v0/instances/request_logs/${id}/`, body: { tail: LINES } }}
        />
      </div>
      {logs.error !== null && <Failure error={logs.error} onRetry={() => void logs.refetch()} />}
      {logs.data === undefined && logs.error === null && <Waiting rows={12} />}
      {logs.data === "" && <EmptyState title="The log is empty">What its program prints stands here.</EmptyState>}
      {lines.length > 0 && (
        <pre className={classes["log"]} tabIndex={0} aria-label="Log">
          {visibleText(lines.join("\n"))}
        </pre>
      )}
    </Section>
  );
}

/** Asks the host for the log, and reads it when the host has sent it. */
async function readLogs(client: Client, { id }: { readonly id: number }, options: CallOptions = {}): Promise<string> {
  const { result_url: place } = await instanceRequestLogs(client, { id, body: { tail: LINES } }, options);
  const { pathname } = new URL(place, globalThis.location.origin);
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const answer = await fetch(pathname, { signal: options.signal ?? null });
    if (answer.ok) return (await answer.text()).trimEnd();
    await sleep(LOOK_MS);
  }
  throw new Error("the host has not sent its log yet");
}

function Download({ id, text }: { readonly id: string; readonly text: string }) {
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = `instance-${id}.log`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Button variant="default" onClick={save} disabled={text === ""}>
      Download
    </Button>
  );
}
