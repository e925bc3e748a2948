import { Type } from "typebox";
import { notFound } from "../../base/errors.ts";
import type { HttpScope } from "../../http/server.ts";
import type { AgentReleases } from "./release.ts";

const Params = Type.Object({ sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }) });

/** Registers the download of the agent, which is no secret: agents find it by the digest that was signed. */
export function registerAgentRelease({ app }: HttpScope, releases: Pick<AgentReleases, "find">): void {
  app.get(
    "/agent/releases/:sha256",
    {
      config: { access: { operation: "agent.release", permission: "public" } },
      schema: { hide: true, params: Params },
    },
    async (request, reply) => {
      const { sha256 } = request.params;
      const archive = await releases.find(sha256);
      if (archive === undefined) throw notFound("not_found", "This server offers no such version of the agent.");
      return reply.type("application/gzip").send(archive);
    },
  );
}
