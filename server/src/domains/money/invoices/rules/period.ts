import { invalid } from "../../../../base/errors.ts";
import { parseMoment } from "../../../../base/moment.ts";

/** The time that a report covers; an open end is undefined. */
export type Period = { readonly from: Date | undefined; readonly to: Date | undefined };

/** Parses `sdate` and `edate`; throws `invalid` about the malformed one, or about `sdate` when it is after `edate`. */
export function parsePeriod({
  sdate,
  edate,
}: {
  readonly sdate: string | undefined;
  readonly edate: string | undefined;
}): Period {
  const from = parseBoundary("sdate", sdate);
  const to = parseBoundary("edate", edate);
  if (from !== undefined && to !== undefined && from > to) throw invalid("sdate", "sdate must not be after edate");
  return { from, to };
}

function parseBoundary(name: "sdate" | "edate", text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = parseMoment(text, { isEnd: name === "edate" });
  if (moment === undefined) {
    throw invalid(name, `${name} must be seconds since 1970, an ISO 8601 date or date-time, or MM/DD/YYYY`);
  }
  return moment;
}
