import { AddSchedule, ScheduleList } from "../../parts/schedules.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

/** Requests that the server sends for the account at chosen times. */
export function Schedules() {
  return (
    <>
      <PageHead
        title="Schedules"
        note="Requests that are sent at chosen times, with the rights of a key of yours."
        actions={<AddSchedule />}
      />
      <ScheduleList />
    </>
  );
}
