import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { becomeRoot } from "./become-root.ts";

const argv = ["/opt/node", "main.ts", "--server", "http://a"];

describe("becoming root", () => {
  it("root asks nobody", async () => {
    const run = () => assert.fail("nothing is to be run");
    assert.deepEqual(await becomeRoot({ isRoot: true, env: {}, argv, run }), { kind: "root" });
  });

  it("a user with sudo becomes root with the same command and the agent's variables, and no other", async () => {
    const asked: string[] = [];
    const run = (program: string, args: readonly string[]) => {
      asked.push([program, ...args].join(" "));
      return Promise.resolve(0);
    };
    const env = { BERTH_AGENT_TOKEN: "secret", BERTH_LOG_LEVEL: "info", LD_PRELOAD: "evil.so", PATH: "/bin" };
    const keep = "--preserve-env=BERTH_AGENT_TOKEN,BERTH_LOG_LEVEL";
    assert.deepEqual(await becomeRoot({ isRoot: false, env, argv, run }), {
      kind: "through",
      program: "sudo",
      args: ["-n", keep, "--", ...argv],
    });
    assert.deepEqual(asked, [`sudo -n ${keep} -- true`], "what is tried is what will be done");
  });

  it("a user without is told in one sentence what is missing", async () => {
    const ascent = await becomeRoot({ isRoot: false, env: {}, argv, run: () => Promise.resolve(1) });
    assert.ok(ascent.kind === "impossible" && /root/.test(ascent.problem) && !ascent.problem.includes("\n"));
  });
});
