// Runs before the code of the console has come: begins the requests that every page waits for. `src/api/early.ts` takes up
// the answers. build.ts puts the files of pages in the place of BERTH_PAGES.
{
  const pages = "BERTH_PAGES";
  const [, area = ""] = location.pathname.split("/");
  if (!["sign-in", "sign-up", "reset-password"].includes(area)) {
    for (const href of pages[area] ?? []) {
      const kind = href.endsWith(".css") ? { rel: "preload", as: "style" } : { rel: "modulepreload" };
      document.head.append(Object.assign(document.createElement("link"), { ...kind, crossOrigin: "", href }));
    }
    const me = "/api/v0/users/current/";
    const headers = { "x-berth-console": "1" };
    globalThis.berthEarly = new Map([[me, fetch(me, { headers, credentials: "same-origin", cache: "no-store" })]]);
    // The console handles the failure when it takes the answer up.
    for (const answer of globalThis.berthEarly.values()) answer.catch(() => {});
  }
}
