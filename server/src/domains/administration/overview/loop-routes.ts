import { Type } from "typebox";
import type { LoopReport } from "../../../base/loop-driver.ts";
import { model } from "../../../http/model.ts";
import type { HttpScope } from "../../../http/server.ts";
import type { OverviewPorts } from "./service.ts";

const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const textOrNull = (description: string, example: string | null) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });

const LoopsResponse = model("BackgroundLoops", {
  loops: Type.Array(
    model("BackgroundLoop", {
      name: text("Name of the loop", "settle-runs"),
      description: text("Task of the loop in a phrase", "charges what runs"),
      every_ms: Type.Number({ description: "Period in milliseconds", examples: [60_000] }),
      is_late: Type.Boolean({
        description: "True when it had no run without failure within its last three periods",
        examples: [false],
      }),
      run_count: count("Number of runs since the start of the server", 120),
      failure_count: count("Number of these runs that failed", 0),
      last_started_at: textOrNull(
        "Time at which the last run began, as ISO 8601; null before the first",
        "2026-01-01T00:00:00.000Z",
      ),
      last_status: Type.Union([Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()])), Type.Null()], {
        description: "Counts of the work of the last run without failure",
        examples: [{ settled: 4 }],
      }),
      last_error: textOrNull("Failure of the last run; null when it succeeded", null),
    }),
    { description: "Background loops of this process" },
  ),
});

/** The route for the background loops of the server that answers. */
export function loopRoutes({ app }: HttpScope, { loops }: Pick<OverviewPorts, "loops">): void {
  app.get(
    "/api/v0/admin/loops/",
    {
      config: { access: { operation: "api.admin.loops", permission: "admin" } },
      schema: { tags: ["Administration"], summary: "Show the background loops", response: { 200: LoopsResponse } },
    },
    async () => {
      const late = new Set(loops.lateNames());
      return { loops: loops.report().map((report) => viewLoop(report, late.has(report.name))) };
    },
  );
}

function viewLoop({ last_started_at: lastStartedAt, last_status: lastStatus, ...report }: LoopReport, isLate: boolean) {
  return {
    ...report,
    is_late: isLate,
    last_started_at: lastStartedAt === null ? null : lastStartedAt.toISOString(),
    last_status: lastStatus === null ? null : { ...lastStatus },
  };
}
