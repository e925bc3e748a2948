import { useQuery } from "@tanstack/react-query";
import { noticeList, userShow, userSpendRate } from "../../../sdk/src/index.ts";
import { ask, askPlain } from "./query.ts";

export const meQuery = askPlain("account.me", userShow);

/** The account for which the person acts: their own, or a team. Undefined until the server has said it. */
export function useMe() {
  return useQuery(meQuery).data;
}

/** Dollars an hour that everything costs, dollars left, and hours for which they last; undefined until both are known. */
export function useSpending() {
  const rate = useQuery(askPlain("balance.rate", userSpendRate)).data;
  const me = useMe();
  if (rate === undefined || me === undefined) return undefined;
  const {
    gpu_cost_per_hour: gpus,
    container_storage_cost_per_hour: disks,
    volume_storage_cost_per_hour: volumes,
  } = rate;
  const perHour = gpus + disks + volumes;
  return { gpus, disks, volumes, perHour, left: me.credit, hoursLeft: perHour > 0 ? me.credit / perHour : undefined };
}

export function useUnreadCount(): number {
  return (
    useQuery(ask("notification.unread", noticeList, { query: { limit: 1, unread: true } })).data?.unread_count ?? 0
  );
}
