import { standingRequestList, type StandingRequestListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { priceText, queryText } from "./describe.ts";

type Request = StandingRequestListAnswer["standing_requests"][number];

const COLUMNS: readonly Column<Request>[] = [
  { title: "ID", cell: (request) => request.id },
  { title: "STATUS", cell: (request) => request.status },
  { title: "PLACE", cell: (request) => request.position },
  { title: "LOOKS FOR", cell: queryText },
  { title: "$/HOUR", cell: priceText },
  { title: "IMAGE", cell: (request) => request.image },
  { title: "UNTIL (UTC)", cell: (request) => dateText(request.expires_at) },
  { title: "INSTANCE", cell: (request) => request.instance_id },
  { title: "NOTE", cell: (request) => request.reason },
];

export async function listRequests(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await standingRequestList(connect(options));
  const emptyText = "You have no requests in the queue. Add one with: berth queue add";
  printAnswer(answer, options, ({ standing_requests: requests }) => renderTable(requests, COLUMNS, emptyText));
}
