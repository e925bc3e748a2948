import { Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { live } from "../api/live.ts";
import { useMe } from "../api/me.ts";
import { useRights, useSidebarCounts } from "./rights.ts";
import { AnnouncementBanner } from "./AnnouncementBanner.tsx";
import { HelpLinkContext } from "../ui/help-link.ts";
import { HelpLink } from "./HelpLink.tsx";
import { LostBar } from "./LostBar.tsx";
import { Palette } from "./Palette.tsx";
import { sectionsFor } from "./sections.ts";
import { SignInAgain } from "./SignInAgain.tsx";
import { ShortcutHelp } from "./ShortcutHelp.tsx";
import { Sidebar } from "./Sidebar.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { TopBar } from "./TopBar.tsx";
import { useTabName } from "./tab-name.ts";
import { ViewBar } from "./ViewBar.tsx";
import classes from "./frame.module.css";

const HELP_LINK = <HelpLink />;

/** Everything around the pages of a person who is signed in. */
export function Frame() {
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const sections = sectionsFor(useRights());
  const counts = useSidebarCounts();
  const main = useFocusOnNewPage();
  useTabName(useMe()?.id);
  useEffect(() => live.start(), []);
  useShortcuts({ sections, openPalette: palette.open, openHelp: help.open });
  return (
    <>
      <a href="#main" className={classes["skip"]}>
        Skip to the page
      </a>
      <TopBar onMenu={menu.open} onSearch={palette.open} onHelp={help.open} />
      <ViewBar />
      <LostBar />
      <AnnouncementBanner />
      <div className={classes["body"]}>
        <div className={classes["aside"]}>
          <Sidebar sections={sections} counts={counts} />
        </div>
        <main id="main" ref={main} tabIndex={-1} className={classes["main"]}>
          <HelpLinkContext value={HELP_LINK}>
            <Outlet />
          </HelpLinkContext>
        </main>
      </div>
      <Drawer
        opened={isMenuOpen}
        onClose={menu.close}
        title="Berth"
        size={260}
        padding="sm"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Sidebar sections={sections} counts={counts} onChoose={menu.close} />
      </Drawer>
      <SignInAgain />
      <Palette isOpen={isPaletteOpen} onClose={palette.close} sections={sections} />
      <ShortcutHelp isOpen={isHelpOpen} onClose={help.close} sections={sections} />
    </>
  );
}

/** Moves the focus to the page after a change of the path, so that a reader of the screen begins there. */
function useFocusOnNewPage() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current !== pathname) main.current?.focus({ preventScroll: true });
    last.current = pathname;
  }, [pathname]);
  return main;
}
