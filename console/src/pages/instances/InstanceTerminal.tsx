import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../../code.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { instanceQuery } from "./instance.ts";

const route = getRouteApi("/frame/instances/$id");
const Terminal = lazyPart(() => import("./TerminalScreen.tsx"), "TerminalScreen");

/** A terminal in the instance; while none can be opened, the server's reason. */
export function InstanceTerminal() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id)).data;
  if (instance === undefined || instance === null) return <Waiting rows={12} />;
  const reason = reasonOf(instance.allowed_actions.terminal);
  if (reason !== undefined) {
    return (
      <EmptyState title="No terminal can be opened now">{reason} It opens here by itself when that changes.</EmptyState>
    );
  }
  return (
    <Suspense fallback={<Waiting rows={12} />}>
      <Terminal id={instance.id} />
    </Suspense>
  );
}
