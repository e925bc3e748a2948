import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import { toSearch } from "../../text/conditions.ts";
import { PageHead } from "../../ui/PageHead.tsx";
import { gpuNamesQuery } from "./first-search.ts";
import { Filters } from "./Filters.tsx";
import { OfferList } from "./OfferList.tsx";
import { SavedSearches } from "./SavedSearches.tsx";
import { useTyped } from "./use-typed.ts";

const route = getRouteApi("/frame/market");

export function Market() {
  const kept = route.useSearch({ select: ({ q = "" }) => q });
  const type = route.useSearch({ select: ({ type: chosen = "ondemand" }) => chosen });
  const navigate = route.useNavigate();
  const names = useQuery(gpuNamesQuery).data?.gpu_names ?? [];
  const keep = useCallback(
    (next: string) =>
      void navigate({ search: (before) => ({ ...before, q: next === "" ? undefined : next }), replace: true }),
    [navigate],
  );
  const { text, ...field } = useTyped(kept, keep);
  const { q, unread } = toSearch(text, names);
  const chooseType = (next: typeof type) =>
    void navigate({ search: (before) => ({ ...before, type: next }), replace: true });
  return (
    <>
      <PageHead title="Market" actions={<SavedSearches q={text} onChoose={field.choose} />} />
      <Filters
        q={text}
        type={type}
        gpuNames={names}
        onType={field.type}
        onText={field.choose}
        onChooseType={chooseType}
      />
      <OfferList q={useDeferredValue(q)} unread={useDeferredValue(unread)} type={type} onText={field.choose} />
    </>
  );
}
