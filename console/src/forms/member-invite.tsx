import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { teamInvite, type TeamRole } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { ShownOnce } from "../parts/ShownOnce.tsx";

/** Invites the holder of an e-mail address to the team. */
export function MemberInvite({ roles }: { readonly roles: readonly TeamRole[] }) {
  const given = roles.filter(({ identifier }) => identifier !== "owner").map(({ name }) => name);
  const usual = roles.find(({ identifier }) => identifier === "member")?.name;
  const [email, setEmail] = useState("");
  const [chosen, setChosen] = useState<string>();
  const [token, setToken] = useState<string>();
  const invite = useAction(teamInvite, {
    changes: ["team"],
    onDone: (answer) => {
      setEmail("");
      setToken(answer.token);
    },
  });
  const role = chosen ?? usual;
  const body = { email: email.trim(), ...(role === undefined ? {} : { role }) };
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate({ body });
      }}
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
      />
      <NativeSelect
        label="Role"
        data={given}
        value={role ?? ""}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      {invite.error !== null && <Failure error={invite.error} onRetry={() => invite.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="default" loading={invite.isPending}>
          Invite
        </Button>
        <AsCommand
          command={["team", "invite", body.email || "EMAIL"]}
          request={{ method: "POST", path: "/api/v0/team/invite/", body }}
        />
      </div>
      <ShownOnce
        title="The invitation"
        note={`${invite.data?.msg ?? ""} The token works once, within four hours, for the account with that address.`}
        what="the token"
        text={token}
        onClose={() => setToken(undefined)}
      />
    </form>
  );
}
