import { useQuery } from "@tanstack/react-query";
import { instanceCount } from "../../../sdk/src/index.ts";
import { useMe } from "../api/me.ts";
import { askPlain } from "../api/query.ts";
import type { Rights } from "./sections.ts";

/** The areas that the person may use. */
export function useRights(): Rights {
  const me = useMe();
  return { isOperator: me?.is_admin ?? false, isHostOnly: me?.host_only ?? false };
}

/** Counts beside entries of the sidebar. */
export function useSidebarCounts(): Readonly<Record<string, number | undefined>> {
  const instances = useQuery(askPlain("instance.count", instanceCount)).data;
  return { "/instances": instances?.count };
}
