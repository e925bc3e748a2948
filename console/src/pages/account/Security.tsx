import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { tfaStatus } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Factors } from "./Factors.tsx";
import { Passkeys } from "./Passkeys.tsx";

/** Second factors, backup codes and passkeys of the account. */
export function Security() {
  const status = useQuery(askPlain("account.tfa", tfaStatus));
  return (
    <>
      <PageHead
        title="Security"
        note={
          <>
            The password is on the page <Link to="/account">Profile</Link>; browsers that are signed in are on{" "}
            <Link to="/account/sessions">Sessions</Link>.
          </>
        }
      />
      <Answer query={status}>
        {(answer) => (
          <>
            <Factors status={answer} />
            <Passkeys status={answer} />
          </>
        )}
      </Answer>
    </>
  );
}
