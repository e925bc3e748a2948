// Standing requests: the server rents by itself what somebody waits for.
import {
  dollars,
  NOTHING,
  numberOf,
  outcomeOf,
  personOf,
  payingPeople,
  someOf,
  textOf,
  type DeedRules,
} from "./deeds.ts";
import { nanosIn } from "./case.ts";

const HOUR_MS = 3_600_000;
const DISK_GB = 10;

export const queueDeeds: DeedRules = {
  wait: {
    weight: 2,
    draw: (play, pick) => {
      const host = someOf(pick, [...play.machines.keys()]);
      const who = someOf(pick, payingPeople(play));
      if (host === undefined || who === undefined) return undefined;
      return {
        who: who.name,
        host,
        size: pick.one([1, 2]),
        max: pick.one([0.5, 2, 4, 30]),
        hours: pick.one([1, 24]),
      };
    },
    tell: ({ who, host, size, max, hours }) =>
      `${who} waits for ${size} GPU of ${host} at up to ${dollars(max)} an hour, for ${hours} hours`,
    act: async (world, play, { args, label }) => {
      const renter = await personOf(world, play, textOf(args, "who"));
      const hostName = textOf(args, "host");
      const machine = play.machines.get(hostName);
      if (machine === undefined) return NOTHING;
      const [gpuCount, max] = [numberOf(args, "size"), numberOf(args, "max")];
      const q = { machine_id: { eq: machine.host.machineId }, num_gpus: { eq: gpuCount } };
      const wish = { max_dph: max, expires_in_hours: numberOf(args, "hours"), image: "busybox", disk: DISK_GB };
      const answer = await world.ask(renter.secret, "POST", "/standing_requests/", { q, ...wish });
      if (answer.status !== 200) return outcomeOf(answer);
      const untilMs = world.nowMs() + numberOf(args, "hours") * HOUR_MS;
      const of = { label, id: Number(answer.body.id), renter, machine, hostName, gpuCount, untilMs };
      play.waiting.set(label, { ...of, maxNanos: nanosIn(max), cancelledMs: undefined });
      return "";
    },
  },
  giveUp: {
    weight: 1,
    draw: (play, pick) => {
      const found = someOf(
        pick,
        [...play.waiting.values()].filter(({ cancelledMs }) => cancelledMs === undefined),
      );
      return found && { request: found.label };
    },
    tell: ({ request }) => `The renter cancels ${request}`,
    act: async (world, play, { args }) => {
      const found = play.waiting.get(textOf(args, "request"));
      if (found === undefined || found.cancelledMs !== undefined) return NOTHING;
      const answer = await world.ask(found.renter.secret, "DELETE", `/standing_requests/${found.id}/`, {});
      if (answer.status === 200) found.cancelledMs = world.nowMs();
      return outcomeOf(answer);
    },
  },
};
