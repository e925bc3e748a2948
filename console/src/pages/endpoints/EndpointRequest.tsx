import { Button, NumberInput, SegmentedControl, Textarea } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { endpointWorkers, routeRequest, type Endpoint, type Worker } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { complete, type Completion } from "../../api/complete.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { endpointQuery, figure, unitsText } from "./endpoint.ts";
import { routeReason } from "./route-reason.ts";
import classes from "./endpoints.module.css";

const route = getRouteApi("/frame/endpoints/$id");

export function EndpointRequest() {
  const id = Number(route.useParams().id);
  const endpoint = useQuery(endpointQuery(id));
  return (
    <Answer query={endpoint}>
      {({ result }) => (
        <>
          <Where endpoint={result} />
          <Ask endpoint={result} />
          <Address endpoint={result} />
        </>
      )}
    </Answer>
  );
}

type Props = { readonly endpoint: Endpoint };

/** The server gives up the place of such a request after this. */
const REPLAY_S = 1;

/** Asks the router as a client does, and explains its answer by what the workers had to do. */
function Where({ endpoint: { id, endpoint_name: name, api_key: key } }: Props) {
  const [cost, setCost] = useState(100);
  const ask = useMutation({
    async mutationFn(units: number) {
      const before = await endpointWorkers(client, { body: { id } });
      const body = { endpoint_id: id, api_key: key, cost: units, replay_timeout: REPLAY_S };
      return { answer: await routeRequest(client, { body }), workers: before };
    },
  });
  return (
    <Section title="Where a request would go">
      <form
        className={classes["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate(cost);
        }}
      >
        <p className={classes["note"]}>
          The router is asked for a worker, and nothing is sent to it. The place counts as its load for {REPLAY_S} s.
        </p>
        <div className={classes["end"]}>
          <NumberInput
            label="Cost of the request, units"
            min={0}
            value={cost}
            onChange={(value) => setCost(Number(value) || 0)}
          />
          <Button type="submit" variant="default" loading={ask.isPending} className={classes["beside"]}>
            Ask the router
          </Button>
        </div>
        <AsCommand
          command={[
            "endpoint",
            "request",
            String(id),
            "--cost",
            String(cost),
            "--route",
            "/v1/completions",
            "--data",
            "{}",
          ]}
          request={{ method: "POST", path: "/route/", body: { endpoint: name, api_key: "ENDPOINT_KEY", cost } }}
        />
        {ask.error !== null && <Failure error={ask.error} />}
        {ask.data !== undefined && !ask.isPending && (
          <Chosen url={ask.data.answer.url} status={ask.data.answer.status} workers={ask.data.workers} cost={cost} />
        )}
      </form>
    </Section>
  );
}

type ChosenProps = {
  readonly url: string | undefined;
  readonly status: string | undefined;
  readonly workers: readonly Worker[];
  readonly cost: number;
};

function Chosen({ url, status, workers, cost }: ChosenProps) {
  const { sentence, chosen } = routeReason({ url, status, workers, cost });
  return (
    <div className={classes["outcome"]} role="status">
      <p>
        <HostileText text={sentence} />{" "}
        {chosen !== undefined && (
          <Link to="/instances/$id" params={{ id: String(chosen) }}>
            Its instance
          </Link>
        )}
      </p>
      {workers.length > 0 && (
        <table aria-label="Workers when the router was asked">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col">Load, units</th>
              <th scope="col">Speed</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ id, status: state, cur_load: load, perf }) => (
              <tr key={id} data-differs={id === chosen || undefined}>
                <th scope="row">{id}</th>
                <td>
                  <StateBadge state={state} />
                </td>
                <td>{load === undefined ? "–" : figure(load)}</td>
                <td>{perf === undefined ? "–" : unitsText(perf)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

const KINDS = [
  { value: "chat/completions", label: "Chat" },
  { value: "completions", label: "Completion" },
];
const EXAMPLES: Readonly<Record<string, string>> = {
  "chat/completions": '{"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 50}',
  completions: '{"prompt": "Once", "max_tokens": 50}',
};

/** Sends a request to a worker through the server, as clients of OpenAI's API do. */
function Ask({ endpoint: { endpoint_name: name, api_key: key } }: Props) {
  const [kind, setKind] = useState("chat/completions");
  const [text, setText] = useState(EXAMPLES[kind] ?? "");
  const send = useMutation({ mutationFn: (body: string) => complete({ name, key, kind, body }) });
  return (
    <Section title="Send one">
      <form
        className={classes["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate(text);
        }}
      >
        <p className={classes["note"]}>
          It goes through the server to a worker that speaks OpenAI's API, with the key of the endpoint, and counts like
          any request. It waits up to a minute for a worker.
        </p>
        <SegmentedControl
          size="xs"
          aria-label="Kind of request"
          className={classes["fit"]}
          data={KINDS}
          value={kind}
          onChange={(value) => {
            setKind(value);
            setText(EXAMPLES[value] ?? "");
          }}
        />
        <Textarea
          label="Body, as JSON"
          autosize
          minRows={3}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          classNames={{ input: "mono" }}
        />
        <div className={classes["end"]}>
          <Button type="submit" variant="filled" loading={send.isPending}>
            Send
          </Button>
        </div>
        {send.error !== null && <Failure error={send.error} />}
        {send.data !== undefined && !send.isPending && <Said answer={send.data} />}
      </form>
    </Section>
  );
}

function Said({ answer: { status, text, seconds } }: { readonly answer: Completion }) {
  return (
    <div className={classes["outcome"]} role="status">
      <p>
        Status {status} after {figure(seconds)} s.
      </p>
      <pre tabIndex={0} role="group" aria-label="Answer">
        <HostileText text={text} />
      </pre>
    </div>
  );
}

/** The address and the key for clients. */
function Address({ endpoint: { endpoint_name: name, api_key: key } }: Props) {
  const address = `${globalThis.location.origin}/${encodeURIComponent(name)}/v1`;
  return (
    <Section title="For your program">
      <dl className={classes["facts"]}>
        <dt>Base URL for clients of OpenAI's API</dt>
        <dd>
          <span className="mono">{address}</span> <CopyButton text={address} what="the address" />
        </dd>
        <dt>Key that opens this endpoint alone</dt>
        <dd>
          <span className="mono">{key.slice(0, 8)}…</span> <CopyButton text={key} what="the key" />
        </dd>
      </dl>
    </Section>
  );
}
