import { getRouteApi, Outlet } from "@tanstack/react-router";
import { LinkTabs } from "../../parts/LinkTabs.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

const route = getRouteApi("/frame/instances/$id");

/** The head and the tabs of one instance; each tab is a page below it. */
export function Instance() {
  const { id } = route.useParams();
  return (
    <>
      <PageHead title={`Instance ${id}`} />
      <LinkTabs
        label="Instance"
        params={{ id }}
        tabs={[
          { label: "Overview", to: "/instances/$id" },
          { label: "Terminal", to: "/instances/$id/terminal" },
          { label: "Files", to: "/instances/$id/files" },
          { label: "Logs", to: "/instances/$id/logs" },
          { label: "Events", to: "/instances/$id/events" },
          { label: "Charges", to: "/instances/$id/charges" },
          { label: "Settings", to: "/instances/$id/settings" },
        ]}
      />
      <Outlet />
    </>
  );
}
