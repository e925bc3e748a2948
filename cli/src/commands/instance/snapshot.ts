import { instanceTakeSnapshot } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly repo: string;
  readonly registry: string;
  readonly loginUser?: string;
  readonly loginPassword?: string;
  readonly pause: boolean;
  readonly json?: boolean;
};

export async function takeSnapshot(id: number, options: Options): Promise<void> {
  const { repo, registry, loginUser, loginPassword, pause } = options;
  const body = given({
    container_registry: registry,
    personal_repo: repo,
    docker_login_user: loginUser,
    docker_login_pass: loginUser === undefined ? undefined : loginPassword,
    pause: String(pause),
  });
  const answer = await instanceTakeSnapshot(connect(options), { id, body });
  printAnswer(answer, options, ({ msg }) => msg ?? `A snapshot of instance ${id} is being taken.`);
}
