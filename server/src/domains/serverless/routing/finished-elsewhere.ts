import { asId, type EndpointGroupId, type InstanceId } from "../../../base/ids.ts";

/** Requests that a worker has finished or, without a worker, that the sender has taken over from another server. */
export type Finished = {
  readonly endpointId: EndpointGroupId;
  readonly workerId: InstanceId | undefined;
  readonly requestIdxs: readonly number[];
};

/** PostgreSQL accepts less than 8,000 bytes per notification. */
const PAYLOAD_LENGTH_MAX = 7_000;
/** Request numbers per part: this many of the longest numbers fit. */
const IDXS_PER_PART = 300;

/** The messages of one server to the others: its name, then `endpoint:worker:request,request` for each entry. */
export function finishedPayloads(sender: string, finished: readonly Finished[]): readonly string[] {
  const payloads: string[] = [];
  let payload = sender;
  for (const { endpointId, workerId, requestIdxs } of finished) {
    for (let start = 0; start < requestIdxs.length; start += IDXS_PER_PART) {
      const part = `;${endpointId}:${workerId ?? ""}:${requestIdxs.slice(start, start + IDXS_PER_PART).join(",")}`;
      if (payload !== sender && payload.length + part.length > PAYLOAD_LENGTH_MAX) {
        payloads.push(payload);
        payload = sender;
      }
      payload += part;
    }
  }
  return payload === sender ? payloads : [...payloads, payload];
}

/** The finished requests in another server's message; empty for a message of the reader itself. */
export function readFinished(payload: string, reader: string): readonly Finished[] {
  const [sender, ...parts] = payload.split(";");
  if (sender === reader) return [];
  return parts.map((part) => {
    const [endpointId, workerId = "", idxs = ""] = part.split(":");
    return {
      endpointId: asId<EndpointGroupId>(Number(endpointId)),
      workerId: workerId === "" ? undefined : asId<InstanceId>(Number(workerId)),
      requestIdxs: idxs.split(",").map(Number),
    };
  });
}
