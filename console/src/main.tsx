import "./mantine.css";
import "./theme.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
import { preloadPage, router } from "./start-router.ts";
import { theme, variables } from "./theme.ts";

/** The nonce that lets the page's policy accept style elements of libraries; browsers show it to scripts alone. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

// The scroll lock of dialogs makes a style element of its own, and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

const root = document.querySelector("#root");
if (root === null) throw new Error("the page has no place for the console");
preloadPage();
// The bar that the page shows until its frame is drawn for the first time.
const drawn = router.subscribe("onRendered", () => {
  document.querySelector("#shell")?.remove();
  drawn();
});
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={variables}
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
