import {
  adminAnnouncementCreate,
  adminAnnouncementDelete,
  adminAnnouncements,
  adminLoops,
  adminPauseBegin,
  adminPauseEnd,
  adminPauses,
  adminSettings,
  type AdminAnnouncementsAnswer,
  type AdminLoopsAnswer,
  type AdminPausesAnswer,
  type AdminSettingsAnswer,
} from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText, spanText, whenText } from "../../time-text.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

const PAUSE_COLUMNS: readonly Column<AdminPausesAnswer["pauses"][number]>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "FROM", cell: (pause) => dateText(pause.from) },
  { title: "UNTIL", cell: (pause) => dateText(pause.ended_at ?? pause.until) },
  { title: "BY", cell: (pause) => pause.started_by },
  { title: "WHY", cell: ({ message }) => message },
];

/** Pauses the service for some minutes, or until a time, from now or from a time. */
export async function pauseService(
  message: string,
  options: Options & { readonly minutes?: number; readonly from?: number; readonly until?: number },
): Promise<void> {
  const now = readClock();
  const { from } = options;
  const until = options.until ?? (from ?? now.getTime() / 1000) + (options.minutes ?? 30) * 60;
  const answer = await adminPauseBegin(connect(options), { body: { message, until, ...given({ from }) } });
  const span = `${from === undefined ? "" : `from ${whenText(from, now)} `}until ${whenText(until, now)}`;
  printAnswer(answer, options, () =>
    [
      `The service is paused ${span}: nothing is rented or changed, what runs goes on.`,
      "End it sooner: berth admin resume",
    ].join("\n"),
  );
}

export async function resumeService(options: Options): Promise<void> {
  const answer = await adminPauseEnd(connect(options));
  printAnswer(answer, options, ({ id }) => `Pause ${id} has ended: accounts may rent and change again.`);
}

export async function listPauses(options: Options): Promise<void> {
  const answer = await adminPauses(connect(options));
  printAnswer(answer, options, ({ is_paused: isPaused, pauses }) =>
    [
      isPaused ? "The service is paused." : "The service is not paused.",
      renderTable(pauses, PAUSE_COLUMNS, "It never was."),
    ].join("\n"),
  );
}

const ANNOUNCEMENT_COLUMNS: readonly Column<AdminAnnouncementsAnswer["announcements"][number]>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "SHOWN", cell: (one) => (one.is_shown ? "yes" : "no") },
  { title: "TO", cell: ({ audience }) => audience },
  { title: "LEVEL", cell: ({ level }) => level },
  { title: "FROM", cell: (one) => dateText(one.from) },
  { title: "UNTIL", cell: ({ until }) => (until === null ? "" : dateText(until)) },
  { title: "TITLE", cell: ({ title }) => title },
];

type Wish = Options & {
  readonly warning?: true;
  readonly to?: "everyone" | "hosts" | "renters";
  readonly from?: number;
  readonly until?: number;
};

export async function announce(title: string, message: string, options: Wish): Promise<void> {
  const { warning, to: audience, from, until } = options;
  const level = warning === true ? ("warning" as const) : undefined;
  const body = { title, message, ...given({ level, audience, from, until }) };
  const answer = await adminAnnouncementCreate(connect(options), { body });
  printAnswer(answer, options, ({ id }) => `Announcement ${id} is published. Take it back: berth admin withdraw ${id}`);
}

export async function withdraw(id: number, options: Options): Promise<void> {
  const answer = await adminAnnouncementDelete(connect(options), { id });
  printAnswer(answer, options, () => `Announcement ${id} is shown to nobody any more.`);
}

export async function listAnnouncements(options: Options): Promise<void> {
  const answer = await adminAnnouncements(connect(options));
  printAnswer(answer, options, ({ announcements }) =>
    renderTable(announcements, ANNOUNCEMENT_COLUMNS, "Nothing was announced yet."),
  );
}

const SETTING_COLUMNS: readonly Column<AdminSettingsAnswer["settings"][number]>[] = [
  { title: "SETTING", cell: ({ name }) => name },
  { title: "VALUE", cell: ({ value, is_secret: isSecret }) => (isSecret ? "(secret)" : value) },
  { title: "FROM", cell: (setting) => setting.set_by },
  { title: "SHARED", cell: (setting) => (setting.is_shared ? "yes" : "") },
  { title: "MEANING", cell: ({ meaning }) => meaning },
];

/** Settings in force, those whose name has the text when one is given. */
export async function listSettings(
  text: string | undefined,
  options: Options & { readonly set?: true },
): Promise<void> {
  const { settings, ...rest } = await adminSettings(connect(options));
  const isAsked = ({ name, set_by: from }: (typeof settings)[number]) =>
    name.toLowerCase().includes((text ?? "").toLowerCase()) && (options.set !== true || from !== "default");
  const answer = { ...rest, settings: settings.filter(isAsked) };
  printAnswer(answer, options, () => renderTable(answer.settings, SETTING_COLUMNS, "No setting matches."));
}

type Loop = AdminLoopsAnswer["loops"][number];

const LOOP_COLUMNS: readonly Column<Loop>[] = [
  { title: "LOOP", cell: ({ name }) => name },
  { title: "EVERY", cell: (loop) => spanText(loop.every_ms / 1000) },
  { title: "RUNS", cell: (loop) => loop.run_count },
  { title: "FAILED", cell: (loop) => loop.failure_count },
  { title: "STATE", cell: (loop) => (loop.is_late ? "late" : "ok") },
  { title: "LAST ERROR", cell: (loop) => loop.last_error },
];

/** Background loops of the server that answers, late ones first. */
export async function listLoops(options: Options): Promise<void> {
  const answer = await adminLoops(connect(options));
  printAnswer(answer, options, ({ loops }) =>
    renderTable(
      loops.toSorted((a, b) => Number(b.is_late) - Number(a.is_late) || a.name.localeCompare(b.name)),
      LOOP_COLUMNS,
      "This server has no loops.",
    ),
  );
}
