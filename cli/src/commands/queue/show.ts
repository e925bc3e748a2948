import { standingRequestShow, type StandingRequestShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";
import { dateText, whenText } from "../../time-text.ts";
import { priceText, queryText } from "./describe.ts";

type Request = StandingRequestShowAnswer["standing_request"];

export async function showRequest(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const { standing_request: request } = await standingRequestShow(connect(options), { id });
  if (options.json === true) printJson(request);
  else printLine(renderFields(fieldsOf(request, readClock())));
}

function fieldsOf(request: Request, now: Date): Readonly<Record<string, string | number | null | undefined>> {
  const { status, closed_at: closedAt, instance_id: instance } = request;
  const isOpen = status === "open";
  return {
    id: request.id,
    status,
    place: request.position === null ? undefined : `${request.position} in the queue`,
    "looks for": queryText(request),
    price: `${priceText(request)} per hour`,
    image: request.image,
    disk: `${request.disk} GB`,
    label: request.label,
    offers: isOpen ? offersText(request) : undefined,
    "last try": request.attempted_at === null ? undefined : `${dateText(request.attempted_at)} UTC`,
    reason: request.reason,
    until: isOpen ? whenText(request.expires_at, now) : undefined,
    closed: closedAt === null ? undefined : whenText(closedAt, now),
    instance: instance === null ? undefined : `${instance}; see: berth show ${instance}`,
  };
}

function offersText({ offers_matching: fits, offers_at_any_price: all, cheapest_dph: cheapest }: Request): string {
  if (all === 0) return "none now, at any price";
  return `${fits} now within the price, ${all} at any; the cheapest costs ${dollars(cheapest)} per hour`;
}
