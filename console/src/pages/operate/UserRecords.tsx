import type { AccountFile } from "../../../../sdk/src/index.ts";
import { count } from "../../text/size.ts";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { ClearFlag } from "./ClearFlag.tsx";
import { AccountLink, MachineLink, words } from "./links.tsx";
import { ReleaseHold } from "./ReleaseHold.tsx";
import classes from "./operate.module.css";

type Props = { readonly account: AccountFile };

/** Freezes of the account, open and lifted. */
export function UserFreezes({ account: { freezes } }: Props) {
  if (freezes.length === 0) return null;
  return (
    <Section title="Freezes">
      <ul className={classes["list"]}>
        {freezes.map((freeze) => (
          <li key={freeze.id} className={classes["entry"]}>
            <div>
              <p className={classes["entryTitle"]}>
                Freeze {freeze.id}
                <StateBadge
                  state={
                    freeze.lifted_at === null
                      ? { word: "frozen", tone: "red", icon: "off" }
                      : { word: "lifted", tone: "grey", icon: "check" }
                  }
                />
              </p>
              <p className={classes["entryText"]}>
                <HostileText text={freeze.reason} />
              </p>
              {freeze.lift_reason !== null && (
                <p className={classes["entryText"]}>
                  Lifted: <HostileText text={freeze.lift_reason} />
                </p>
              )}
            </div>
            <span className="dim">
              <Ago at={freeze.frozen_at} /> by <AccountLink id={freeze.frozen_by} />
              {freeze.lifted_at !== null && (
                <>
                  , lifted <Ago at={freeze.lifted_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Open flags of the host. */
export function UserFlags({ account: { flags } }: Props) {
  if (flags.length === 0) return null;
  return (
    <Section title="Open flags">
      <ul className={classes["list"]}>
        {flags.map((flag) => (
          <li key={flag.id} className={classes["entry"]}>
            <div>
              <p className={classes["entryTitle"]}>
                {words(flag.kind)} {flag.machine_id !== null && <MachineLink id={flag.machine_id} />}
              </p>
              <p className={classes["entryText"]}>
                <HostileText text={flag.msg} />
              </p>
              <p className={classes["entryText"]}>
                Seen {count(flag.seen_count, "time")}, first <Ago at={flag.since} />
              </p>
            </div>
            <ClearFlag id={flag.id} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Open holds on the payouts of the host. */
export function UserHolds({ account: { payout_holds: holds } }: Props) {
  if (holds.length === 0) return null;
  return (
    <Section title="Payouts are held">
      <ul className={classes["list"]}>
        {holds.map((hold) => (
          <li key={hold.id} className={classes["entry"]}>
            <div>
              <p className={classes["entryTitle"]}>
                Hold {hold.id}: {words(hold.kind)}
              </p>
              <p className={classes["entryText"]}>
                <HostileText text={hold.reason} /> · <Ago at={hold.placed_at} />
              </p>
            </div>
            <ReleaseHold id={hold.id} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
