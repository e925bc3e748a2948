import type { OpenTunnel } from "../../../protocol/index.ts";
import { asId, type AgentCredentialId, type MachineId } from "../base/ids.ts";
import type { ChannelHandler } from "../db/listener.ts";
import { API_KEYS_CHANNEL } from "../domains/people/accounts/for-assembly.ts";
import {
  DELETED_CHANNEL,
  MARKET_CHANNEL,
  REVOKED_CHANNEL,
  SESSIONS_CHANNEL,
  TUNNELS_CHANNEL,
  type AgentGateway,
} from "../domains/supply/hosts/for-assembly.ts";
import { DESIRED_CHANNEL, PROXY_PORTS_CHANNEL } from "../domains/rental/instances/for-assembly.ts";
import type { OfferTable } from "../domains/supply/market/for-assembly.ts";
import { CERTIFICATES_CHANNEL, CERTIFICATES_LOOP } from "../domains/names/index.ts";
import { DELIVER_LOOP, NOTIFICATIONS_CHANNEL } from "../domains/notifications/index.ts";
import {
  AGREEMENT_CHANNEL,
  ENDPOINTS_CHANNEL,
  FINISHED_CHANNEL,
  type Agreement,
  type Autoscaler,
  type Routers,
} from "../domains/serverless/index.ts";
import { TASKS_CHANNEL } from "../domains/rental/tasks/index.ts";
import { VOLUMES_CHANNEL, type SpaceTable } from "../domains/supply/volumes/for-assembly.ts";
import { MATCH_LOOP, STANDING_REQUESTS_CHANNEL, type Matcher } from "../domains/rental/queue/index.ts";
import type { LoopDriver } from "../base/loop-driver.ts";
import { PAUSES_CHANNEL, type PauseWatch } from "../domains/administration/index.ts";
import { PROXY_LOOP } from "./loops/proxy.ts";

type Listening = {
  readonly identities: { readonly channelHandler: ChannelHandler };
  readonly offers: OfferTable;
  readonly space: SpaceTable;
  readonly gateway: AgentGateway;
  readonly loops: LoopDriver;
  readonly matcher: Matcher;
  readonly routers: Pick<Routers, "channel" | "finishedChannel">;
  readonly agreement: Pick<Agreement, "channel">;
  readonly autoscaler: Autoscaler;
  readonly pauses: PauseWatch;
};

/** The handler of each notification channel of the database. */
export function createChannels(listening: Listening): ReadonlyMap<string, ChannelHandler> {
  const { identities, offers, space, gateway, loops, matcher, routers, agreement, autoscaler, pauses } = listening;
  const pushes: ChannelHandler = {
    onMessage: (payload) => gateway.push(payload.split(",").map((id) => asId<MachineId>(Number(id)))),
    onGap: () => gateway.pushAll(),
  };
  return new Map([
    [API_KEYS_CHANNEL, identities.channelHandler],
    [MARKET_CHANNEL, both(offers.channel, space.channel)],
    [STANDING_REQUESTS_CHANNEL, matcher.channel(() => loops.wake(MATCH_LOOP))],
    [
      DESIRED_CHANNEL,
      both(pushes, {
        onMessage: (payload) => autoscaler.noteMachines(payload.split(",").map((id) => asId<MachineId>(Number(id)))),
        onGap: () => {},
      }),
    ],
    [PAUSES_CHANNEL, pauses.channel],
    [VOLUMES_CHANNEL, pushes],
    [
      REVOKED_CHANNEL,
      {
        onMessage: (payload) => gateway.revoke(asId<AgentCredentialId>(Number(payload))),
        onGap: () => void gateway.revokeMissed(),
      },
    ],
    // A server that misses this message refuses the machine at its next connection.
    [DELETED_CHANNEL, { onMessage: (payload) => gateway.dismiss(asId<MachineId>(Number(payload))), onGap: () => {} }],
    [
      SESSIONS_CHANNEL,
      {
        onMessage: (payload) => {
          const [machineId = 0, sessionNumber = 0] = payload.split(" ").map(Number);
          gateway.supersede({ machineId: asId<MachineId>(machineId), sessionNumber });
        },
        // A message on a connection that has ended is not stored, and ends the connection.
        onGap: () => {},
      },
    ],
    // A server that misses this message lets a client wait in vain; the client comes again.
    [TUNNELS_CHANNEL, { onMessage: (payload) => askForTunnel(gateway, payload), onGap: () => {} }],
    [
      TASKS_CHANNEL,
      {
        onMessage: (payload) => gateway.pushTasks(asId<MachineId>(Number(payload))),
        onGap: () => gateway.pushAllTasks(),
      },
    ],
    [NOTIFICATIONS_CHANNEL, { onMessage: () => loops.wake(DELIVER_LOOP), onGap: () => loops.wake(DELIVER_LOOP) }],
    [ENDPOINTS_CHANNEL, both(routers.channel, autoscaler.channel)],
    [FINISHED_CHANNEL, routers.finishedChannel],
    [AGREEMENT_CHANNEL, agreement.channel],
    // A server that keeps no certificates has no such loop.
    [
      CERTIFICATES_CHANNEL,
      { onMessage: () => loops.wake(CERTIFICATES_LOOP), onGap: () => loops.wake(CERTIFICATES_LOOP) },
    ],
    [PROXY_PORTS_CHANNEL, { onMessage: () => loops.wake(PROXY_LOOP), onGap: () => loops.wake(PROXY_LOOP) }],
  ]);
}

/** Reads what `announceTunnel` wrote. */
function askForTunnel(gateway: AgentGateway, payload: string): void {
  const { machine_id: machineId, ...request } = JSON.parse(payload) as OpenTunnel & { readonly machine_id: number };
  gateway.askForTunnel(asId<MachineId>(machineId), request);
}

function both(one: ChannelHandler, other: ChannelHandler): ChannelHandler {
  return {
    onMessage: (payload) => {
      one.onMessage(payload);
      other.onMessage(payload);
    },
    onGap: () => {
      one.onGap();
      other.onGap();
    },
  };
}
