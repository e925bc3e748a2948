import { useQuery } from "@tanstack/react-query";
import type { Account } from "../../../../sdk/src/index.ts";
import { meQuery } from "../../api/me.ts";
import { EmailProve } from "../../forms/email-prove.tsx";
import { PasswordChange } from "../../forms/password-change.tsx";
import { ProfileChange } from "../../forms/profile-change.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import classes from "./account.module.css";

/** The names, the address and the password of the account. */
export function Profile() {
  const me = useQuery(meQuery);
  return (
    <>
      <PageHead title="Profile" />
      <Answer query={me}>{(account) => <Facts me={account} />}</Answer>
    </>
  );
}

function Facts({ me }: { readonly me: Account }) {
  return (
    <>
      <ProfileChange key={`${me.id} ${me.username} ${me.fullname} ${me.email}`} me={me} />
      <Section title="E-mail address">
        <p className={classes["facts"]}>
          <HostileText text={me.email} />
          <StateBadge
            state={
              me.email_verified
                ? { word: "proven", tone: "green", icon: "check" }
                : { word: "not proven", tone: "amber", icon: "alert" }
            }
          />
        </p>
        {!me.email_verified && <EmailProve />}
      </Section>
      <Section title="Password">
        <PasswordChange hasTfa={me.tfa_status === "enabled"} />
      </Section>
      <Section title="Account">
        <p className={classes["facts"]}>
          <span>
            Id <code>{me.id}</code>
          </span>
          <span className="dim">
            made <Ago at={me.created_at} />
          </span>
        </p>
      </Section>
    </>
  );
}
