import { unreachable } from "../../../../../base/invariant.ts";

/** The next step about kinds of findings that no rule repairs. */
const OF_ALARMS: ReadonlyMap<string, string> = new Map([
  ["shared_hold", "Several instances name one hold. Run a full audit to see whose it is, before you change anything."],
  ["missing_hold", "An instance runs with nothing set aside. Stop it, or give its account credit; then it is settled."],
  [
    "wrong_lease",
    "An instance has other devices than it should. Ask its host to reconnect: only a receipt frees hardware.",
  ],
  ["stuck_phase", "An instance waits past its deadline. Look at its machine: its agent may be away or hang."],
  ["late_settlement", "A rental or volume is not settled. Look at the loops and at the log for the reason."],
  ["uncounted_time", "A host counts more time than the server accepted. Compare the machine's clock and its flags."],
  [
    "unbilled_time",
    "A host counts a run that nobody has counted. Look at the machine's connection and its agent's version.",
  ],
  [
    "audit_difference",
    "The daily audit found rows that differ. Run a full audit and keep its report before you change anything.",
  ],
]);

const OTHER_ALARM = "No rule repairs this. Run a full audit, and look at the log around the time of the finding.";

/** The next step of an administrator about a finding, in a sentence or two. */
export function adviceFor({
  kind,
  outcome,
}: {
  readonly kind: string;
  readonly outcome: "repaired" | "told" | "alarmed";
}): string {
  switch (outcome) {
    case "repaired":
      return "Nothing: a rule has repaired it. A kind that comes again and again points at a fault behind it.";
    case "told":
      return "Nothing now: the host was told and has to carry it out. It comes again if the host does not.";
    case "alarmed":
      return OF_ALARMS.get(kind) ?? OTHER_ALARM;
    default:
      return unreachable(outcome);
  }
}
