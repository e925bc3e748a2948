// Search parameters of the pages for operators.
import { oneOf, searchOf, text, whole, yesOrNo } from "../../search.ts";

/** Phases of instances, by which the list is narrowed down. */
export const phase = oneOf("scheduled", "starting", "running", "yielding", "stopping", "stopped", "ending", "ended");

export const searches = {
  search: searchOf({ q: text }),
  users: searchOf({ q: text, frozen: yesOrNo, admin: yesOrNo, team: yesOrNo, after: text }),
  machines: searchOf({
    q: text,
    host: whole,
    connected: yesOrNo,
    listed: yesOrNo,
    broken: yesOrNo,
    flagged: yesOrNo,
    verification: oneOf("verified", "unverified", "deverified"),
    after: text,
    open: whole,
  }),
  instances: searchOf({
    q: text,
    renter: whole,
    machine: whole,
    phase,
    bid: yesOrNo,
    over: yesOrNo,
    after: text,
  }),
  reports: searchOf({ cleared: oneOf("true") }),
  announcements: searchOf({ open: text }),
  settings: searchOf({ q: text, source: oneOf("environment", "default") }),
};
