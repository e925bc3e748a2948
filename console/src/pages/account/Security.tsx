import { useQuery } from "@tanstack/react-query";
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
        note="Second factors and passkeys. The password is on the page Profile, and browsers that are signed in on Sessions."
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
