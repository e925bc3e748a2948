import { createContext, type ReactNode } from "react";

/** The link to the help of the page that is open, which the frame knows; heads of pages show it beside their title. */
export const HelpLinkContext = createContext<ReactNode>(null);
